package retry

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Concurrency is how many requests of one kind may be in flight at the same time: the reads and dry
// runs of a client, or the writes of a run. With a round-trip time of 40 ms, half as many make a
// plan of 200 changes a fifth slower, and twice as many hardly faster.
const Concurrency = 32

// Flow bounds how many requests of one kind are in flight at the same time. When the server answers
// 429 (too many requests), it lets fewer through, down to one, and then more again with each
// success: requests that all wait as long as they were told, and then come back together, would be
// refused together until the last attempt. It is safe for concurrent use.
type Flow struct {
	mu sync.Mutex
	// most is the bound, allowed how many may be in flight now, refusals how often allowed was
	// lowered.
	most, allowed float64
	refusals      int
	underWay      int
	waiting       []chan struct{}
}

// shrink is what the number of requests is divided by after a refusal. It shrinks fast enough that a
// request refused each time gets through before its last attempt.
const shrink = 4

// NewFlow returns a Flow that lets at most that many requests through at the same time.
func NewFlow(most int) *Flow { return &Flow{most: float64(most), allowed: float64(most)} }

// Do sends a request when there is room for it. Errors: send's, or the cause of ctx if it ended
// before there was room.
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

// leave records how a request ended; refusals is the count when it was sent. Requests in flight
// together are refused together, which counts once.
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
