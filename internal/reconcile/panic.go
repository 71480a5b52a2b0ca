package reconcile

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a bug in this program that has ended a pass. The caller sees to it that
// other passes go on; the status of this one stays as it was last written.
type PanicError struct {
	// What is the text of the panic, without secrets. Stack is where it happened, which has no values
	// in it.
	What  string
	Stack string
}

func (e *PanicError) Error() string { return "panic: " + e.What }

// Panicked returns the error of a panic when nothing is known that could mask its text:
// of a value that is not one of the runtime's own errors, it gives only the type.
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

// panicked returns the error of a panic in the pass.
func (p *pass) panicked(v any) error {
	return &PanicError{What: p.masked(fmt.Sprint(v)), Stack: string(debug.Stack())}
}
