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
	// running is the function that is being called, costliest the one whose calls have taken the most steps.
	running, costliest *Function
	// Steps counts executed nodes, and calls by weight; at most MaxSteps.
	Steps int
	// Bytes counts text and memory made and not known to be freed, at most MaxBytes.
	Bytes int
	// Tables is the memory of the maps and lists that functions have copied or decoded, at most MaxTableBytes.
	Tables int
	// Keys is the processor time for making keys, at most MaxKeySeconds.
	Keys time.Duration
}

var (
	errBytes  = fmt.Errorf("rendering produces too much text, or lists and maps that are too large: more than %d MiB in total", MaxBytes>>20)
	errTables = fmt.Errorf("rendering copies or decodes too many lists and maps: they take more than %d MiB in total", MaxTableBytes>>20)
	errKeys   = fmt.Errorf("rendering generates too many keys or password hashes: they would take more than %d seconds of CPU time; generate them outside the chart, or smaller keys", MaxKeySeconds)
	errItems  = fmt.Errorf("the list would be too long: more than %d items", maxItems)
)

// Step counts n steps.
func (b *Budget) Step(n int) error {
	b.Steps += n
	if b.Steps > MaxSteps {
		return b.tooLong()
	}
	return nil
}

// tooLong names the function whose calls have taken most of the steps, if there is one.
func (b *Budget) tooLong() error {
	says := fmt.Sprintf("rendering takes too long: it executes more than %d million steps", MaxSteps/1_000_000)
	for _, f := range []*Function{b.running, b.costliest} {
		if f != nil && f.spentOf(b) > MaxSteps/2 {
			return errors.New(says + ", most of them in calls of " + f.name)
		}
	}
	return errors.New(says + "; look for an endless loop")
}

// key counts a key that takes that long to make.
func (b *Budget) key(takes time.Duration) error {
	b.Keys += takes
	if b.Keys > MaxKeySeconds*time.Second {
		return errKeys
	}
	return nil
}

// Made counts text, and memory that a function fills, and the steps that filling it takes.
func (b *Budget) Made(n int) error {
	b.Bytes += n
	if b.Bytes > MaxBytes {
		return errBytes
	}
	return b.Read(n)
}

// Read counts the steps of reading text as it is.
func (b *Budget) Read(n int) error { return b.Step(n / copiedBytes) }

// madeTables counts the memory of all lists and maps in a value.
func (b *Budget) madeTables(v any) error {
	b.Tables += memoryOf(v)
	if b.Tables > MaxTableBytes {
		return errTables
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
