package retry

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Concurrency is how many requests of one sort are under way at once: reads and dry runs of a
// client, writes of a run. With 40 ms of round-trip time, half as many make a plan of 200 changes
// a fifth slower, and twice as many hardly faster.
const Concurrency = 32

// Flow bounds how many requests of one sort are under way at once. When the server says that
// there are too many of them (429), it lets fewer through, down to one, and more again with
// each that ends well: requests that all wait as long as they were told, and then come back
// together, would be refused together until the last attempt. It is safe for concurrent use.
type Flow struct {
	mu sync.Mutex
	// most is the bound, allowed how many may be under way by now, refusals how often that
	// was lowered.
	most, allowed float64
	refusals      int
	underWay      int
	waiting       []chan struct{}
}

// shrink is by what the number of requests is divided when one is too many, which is soon
// enough for a request that is refused each time to be taken before its last attempt.
const shrink = 4

// NewFlow lets at most so many requests through at once.
func NewFlow(most int) *Flow { return &Flow{most: float64(most), allowed: float64(most)} }

// Do sends a request when there is room for it. Errors: send's, or why ctx has
// ended while there was none.
func (f *Flow) Do(ctx context.Context, send func(context.Context) error) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	refusals := f.refusals
	f.mu.Unlock()
	err := send(ctx)
	f.leave(err, refusals)
	return err
}

func (f *Flow) enter(ctx context.Context) error {
	f.mu.Lock()
	if len(f.waiting) == 0 && f.room() {
		f.underWay++
		f.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	f.waiting = append(f.waiting, turn)
	f.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, other := range f.waiting {
		if other == turn {
			f.waiting = append(f.waiting[:i:i], f.waiting[i+1:]...)
			return context.Cause(ctx)
		}
	}
	f.underWay-- // its turn had come
	f.admit()
	return context.Cause(ctx)
}

// leave counts how a request has ended that was sent after so many refusals. Those that were
// under way together are refused together, which counts once.
func (f *Flow) leave(err error, refusals int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.allowed = min(f.most, f.allowed+1/f.allowed)
	case apierrors.IsTooManyRequests(err) && refusals == f.refusals:
		f.allowed = max(1, f.allowed/shrink)
		f.refusals++
	}
	f.underWay--
	f.admit()
}

func (f *Flow) room() bool { return f.underWay < int(f.allowed) }

func (f *Flow) admit() {
	for len(f.waiting) > 0 && f.room() {
		f.underWay++
		close(f.waiting[0])
		f.waiting = f.waiting[1:]
	}
}
