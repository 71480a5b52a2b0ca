package reconcile

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a mistake of this program's that has ended a pass. That the others go on is
// the caller's to see to; of this one the status stays as it was written last.
type PanicError struct {
	// What is said without secrets. Stack is where it happened, which holds no values.
	What  string
	Stack string
}

func (e *PanicError) Error() string { return "panic: " + e.What }

// Panicked is the error of a panic over which nothing is known that could mask it: of a
// value that is none of the runtime's own errors only the type is said.
func Panicked(v any) *PanicError {
	what := fmt.Sprintf("%T", v)
	if own, ok := v.(interface {
		error
		RuntimeError()
	}); ok {
		what = own.Error()
	}
	return &PanicError{What: what, Stack: string(debug.Stack())}
}

// panicked is the error of a panic of the pass.
func (p *pass) panicked(v any) error {
	return &PanicError{What: p.masked(fmt.Sprint(v)), Stack: string(debug.Stack())}
}
