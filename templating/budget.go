package templating

import (
	"errors"
	"fmt"
	"time"
)

// budget counts what a render uses up. Its errors end the render.
type budget struct {
	steps int
	bytes int
	// keys is the time for making keys.
	keys time.Duration
}

var (
	errSteps = errors.New("the chart takes too long to render: it executes more than 5 million steps; look for an endless loop")
	errBytes = fmt.Errorf("the chart makes too much text: more than %d MiB in all", maxBytes>>20)
	errKeys  = fmt.Errorf("the chart makes too many keys: they would take more than %d seconds of a processor; make keys outside of the chart, or smaller ones", maxKeySeconds)
	errItems = fmt.Errorf("the list would be too long: more than %d items", maxItems)
)

func (b *budget) step(n int) error {
	b.steps += n
	if b.steps > maxSteps {
		return errSteps
	}
	return nil
}

// key counts a key that takes so long to make.
func (b *budget) key(takes time.Duration) error {
	b.keys += takes
	if b.keys > maxKeySeconds*time.Second {
		return errKeys
	}
	return nil
}

// made counts text, and memory that a function fills.
func (b *budget) made(n int) error {
	b.bytes += n
	if b.bytes > maxBytes {
		return errBytes
	}
	return nil
}

// room says whether n more bytes may be made, without counting them yet.
func (b *budget) room(n int) error {
	if n < 0 || n > maxBytes-b.bytes {
		return errBytes
	}
	return nil
}

// product is a*b for room, safe from overflow.
func product(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > maxBytes || b > maxBytes {
		return maxBytes + 1
	}
	return a * b
}
