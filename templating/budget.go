package templating

import (
	"errors"
	"fmt"
)

// budget counts what a render uses up. Its errors end the render.
type budget struct {
	steps int
	bytes int
}

var (
	errSteps = errors.New("the chart takes too long to render: it executes more than 5 million steps; look for an endless loop")
	errBytes = fmt.Errorf("the chart makes too much text: more than %d MiB in all", maxBytes>>20)
	errItems = fmt.Errorf("the list would be too long: more than %d items", maxItems)
)

func (b *budget) step(n int) error {
	b.steps += n
	if b.steps > maxSteps {
		return errSteps
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
