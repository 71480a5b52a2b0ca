package budget

import (
	"fmt"
	"reflect"
)

// Function is a template function: what its calls cost, and what they have cost so far. Before and After
// surround each call.
type Function struct {
	name   string
	weight weight
	// guard refuses calls that would use too much; nil for most functions.
	guard guard
	// makes says that the result takes memory of its own.
	makes bool
	// nests says that all lists and maps within the result are new, too.
	nests bool
	// began is the number of steps when the call began that is running, spent is what calls have taken.
	began, spent int
}

// FunctionOf returns the template function with that name, whose result has that type.
func FunctionOf(name string, result reflect.Type) *Function {
	return &Function{name: name, weight: weightOf(name), guard: guardOf(name), makes: makesMemory(name, result), nests: nestsMemory(name)}
}

// MethodOf returns a method, which costs as much as most functions.
func MethodOf(name string) *Function { return &Function{name: name, weight: ordinary()} }

// Before counts a call that is about to be made, and refuses it if it would use more than the budget has left.
func (f *Function) Before(b *Budget, args []any) error {
	b.running, f.began = f, b.Steps
	size := 0
	for _, a := range args {
		if text, ok := a.(string); ok {
			size += len(text)
		}
	}
	err := b.Step(f.weight.Call + size/f.weight.Bytes)
	if err == nil {
		err = b.Room(size)
	}
	if err == nil && f.guard != nil {
		err = f.guard(b, args)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// After counts what the call has made.
func (f *Function) After(b *Budget, result any) error {
	var err error
	if f.makes {
		err = b.Made(SizeOf(result))
	}
	if err == nil && f.nests {
		err = b.madeTables(result)
	}
	f.spent, b.running = f.spentOf(b), nil
	if b.costliest == nil || f.spent > b.costliest.spent {
		b.costliest = f
	}
	return err
}

// spentOf returns the steps that calls have taken, the running one's included.
func (f *Function) spentOf(b *Budget) int {
	if b.running == f {
		return f.spent + b.Steps - f.began
	}
	return f.spent
}
