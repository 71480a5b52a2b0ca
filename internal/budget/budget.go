// Package budget counts what a render uses up and refuses what would be too much:
// steps, text and memory, time for keys, and the size of values. Template functions
// are sprig's or Go's and know no limits; each call is counted by its weight and,
// where that is not enough, checked by a guard before it runs.
//
// It calls no template functions and knows nothing of template syntax.
package budget

import (
	"errors"
	"fmt"
	"time"
)

// Budget is what one render has used up. Errors of its methods end the render. The
// zero Budget has used nothing. It is not safe for concurrent use.
type Budget struct {
	// Steps counts executed nodes, and calls by weight; at most MaxSteps.
	Steps int
	// Bytes counts text and memory made and not known to be freed, at most MaxBytes.
	Bytes int
	// Keys is the processor time for making keys, at most MaxKeySeconds.
	Keys time.Duration
}

var (
	errSteps = errors.New("rendering takes too long: it executes more than 5 million steps; look for an endless loop")
	errBytes = fmt.Errorf("rendering produces too much text, or lists and maps that are too large: more than %d MiB in total", MaxBytes>>20)
	errKeys  = fmt.Errorf("rendering generates too many keys: they would take more than %d seconds of CPU time; generate keys outside the chart, or smaller ones", MaxKeySeconds)
	errItems = fmt.Errorf("the list would be too long: more than %d items", maxItems)
)

// Step counts n steps.
func (b *Budget) Step(n int) error {
	b.Steps += n
	if b.Steps > MaxSteps {
		return errSteps
	}
	return nil
}

// key counts a key that takes that long to make.
func (b *Budget) key(takes time.Duration) error {
	b.Keys += takes
	if b.Keys > MaxKeySeconds*time.Second {
		return errKeys
	}
	return nil
}

// Made counts text, and memory that a function fills.
func (b *Budget) Made(n int) error {
	b.Bytes += n
	if b.Bytes > MaxBytes {
		return errBytes
	}
	return nil
}

// Freed takes back what Made has counted for memory that nothing holds any more.
func (b *Budget) Freed(n int) { b.Bytes -= n }

// Room returns an error if n more bytes are too many; it does not count them yet.
func (b *Budget) Room(n int) error {
	if n < 0 || n > MaxBytes-b.Bytes {
		return errBytes
	}
	return nil
}

// product returns a*b for Room, without overflow.
func product(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > MaxBytes || b > MaxBytes {
		return MaxBytes + 1
	}
	return a * b
}
