package templating

import (
	"errors"
	"fmt"
	"reflect"
	"text/template/parse"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// param is one parameter of a function.
type param struct {
	kind paramKind
	typ  reflect.Type
	// copied says that the function does not keep what it is given.
	copied bool
}

type paramKind int

const (
	paramAny  paramKind = iota
	paramSame           // anything, unchanged: a struct field keeps its methods
	paramString
	paramInt
	paramTable
	paramOther
)

func anyParam() param  { return param{kind: paramAny} }
func sameParam() param { return param{kind: paramSame} }

func newParam(t reflect.Type) param {
	switch t {
	case reflect.TypeFor[any]():
		return param{kind: paramAny, typ: t}
	case reflect.TypeFor[string]():
		return param{kind: paramString, typ: t}
	case reflect.TypeFor[int]():
		return param{kind: paramInt, typ: t}
	case reflect.TypeFor[map[string]any]():
		return param{kind: paramTable, typ: t}
	}
	return param{kind: paramOther, typ: t}
}

// function is a template function or a bound method.
type function struct {
	name     string
	params   []param
	variadic bool
	// cost counts the calls.
	cost *budget.Function
	// gathers says that what the function makes may be given back, see gathers.
	gathers bool
	// varies says that results are taken from Options.Recall.
	varies bool
	// invoke calls the function. The arguments have been checked against params.
	invoke func(args []any) (any, error)
	// special calls the function with the state; nil for most functions.
	special func(s *state, args []any) any
}

// newFunction wraps a Go function that returns one result, or a result and an error.
func newFunction(name string, fn reflect.Value) *function {
	t := fn.Type()
	f := &function{name: name, cost: budget.MethodOf(name), variadic: t.IsVariadic(), params: make([]param, t.NumIn())}
	for i := range f.params {
		in := t.In(i)
		if f.variadic && i == len(f.params)-1 {
			in = in.Elem()
		}
		f.params[i] = newParam(in)
	}
	if f.invoke = adapt(fn); f.invoke == nil {
		f.invoke = f.reflected(fn)
	}
	return f
}

// reflected calls fn by reflection, for signatures that adapt does not know.
func (f *function) reflected(fn reflect.Value) func([]any) (any, error) {
	return func(args []any) (any, error) {
		in := make([]reflect.Value, len(args))
		for i, a := range args {
			if in[i] = reflect.ValueOf(a); !in[i].IsValid() {
				in[i] = reflect.Zero(f.param(i).typ)
			}
		}
		out := fn.Call(in)
		if len(out) == 2 && !out[1].IsNil() {
			return nil, out[1].Interface().(error)
		}
		return unwrapNil(fromReflect(out[0])), nil
	}
}

// param returns the parameter that takes argument i.
func (f *function) param(i int) param { return f.params[min(i, len(f.params)-1)] }

// function calls a function by name.
func (s *state) function(dot any, n *parse.IdentifierNode, c site) any {
	switch n.Ident {
	case "and", "or":
		return s.logic(dot, n.Ident == "or", c)
	}
	f := s.functions.get(n.Ident)
	if f == nil {
		s.fail("there is no function %s", n.Ident)
	}
	return s.call(dot, f, c)
}

// logic evaluates a call of "and" or "or": it evaluates arguments until the result is known.
func (s *state) logic(dot any, isOr bool, c site) any {
	if len(c.args) < 2 && !c.final.given() {
		s.fail("and, or need at least one argument")
	}
	var value any
	for i := 1; i < len(c.args); i++ {
		value = s.arg(dot, c.args[i], sameParam())
		if isTrue(value) == isOr {
			return value
		}
	}
	if c.final.given() {
		value = c.final.value
	}
	return value
}

// call evaluates the arguments and calls the function.
func (s *state) call(dot any, f *function, c site) any {
	var given []parse.Node
	if len(c.args) > 1 {
		given = c.args[1:]
	}
	n := len(given)
	if c.final.given() {
		n++
	}
	s.count(f, n)
	args := make([]any, 0, n)
	for i, node := range given {
		args = append(args, s.arg(dot, node, f.param(i)))
	}
	if c.final.given() {
		s.node = c.final.by
		args = append(args, s.valid(c.final.value, f.param(n-1)))
	}
	s.node = c.node
	if f.special != nil {
		return f.special(s, args)
	}
	return s.run(f, args)
}

// count checks the number of arguments.
func (s *state) count(f *function, n int) {
	want := len(f.params)
	switch {
	case f.variadic && n < want-1:
		s.fail("wrong number of arguments for %s: want at least %d, got %d", f.name, want-1, n)
	case !f.variadic && n != want:
		s.fail("wrong number of arguments for %s: want %d, got %d", f.name, want, n)
	}
}

// run calls an ordinary function within the budget.
func (s *state) run(f *function, args []any) any {
	if err := f.cost.Before(&s.Budget, args); err != nil {
		s.check(err)
	}
	if s.reads != nil {
		s.reads.Call(f.name, args)
	}
	var result any
	var err error
	if f.varies {
		result, err = s.recalled(f, args)
	} else {
		result, err = safely(f, args)
	}
	if err != nil {
		s.functionError(f, err)
	}
	if s.reads != nil {
		s.reads.Copied(f.name, args, result)
	}
	s.wrote(f.name, args, result)
	s.check(f.cost.After(&s.Budget, result))
	return result
}

// safely calls a function and turns a panic into an error.
func safely(f *function, args []any) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); ok {
				err = e
				return
			}
			err = fmt.Errorf("%v", r)
		}
	}()
	return f.invoke(args)
}

// functionError ends the render with the error of a function.
func (s *state) functionError(f *function, err error) {
	if errors.Is(err, errUnset) {
		if e := s.unset(err); e != nil {
			panic(e)
		}
	}
	panic(s.failure(f.name+": "+typeNames.Replace(err.Error()), err))
}
