package retry

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestFlow: of many requests to a server with three seats, most are accepted right away:
// refused ones don't come back together. No more are in flight than the limit.
func TestFlow(t *testing.T) {
	const most, seats, requests = 32, 3, 300
	var sitting, underWay, highest, refused atomic.Int64
	var group sync.WaitGroup
	f := NewFlow(most)
	inside := make(chan struct{}, requests)
	for range requests {
		group.Go(func() {
			for {
				err := f.Do(t.Context(), func(context.Context) error {
					now := underWay.Add(1)
					defer underWay.Add(-1)
					for h := highest.Load(); now > h && !highest.CompareAndSwap(h, now); h = highest.Load() {
					}
					defer sitting.Add(-1)
					if sitting.Add(1) > seats {
						refused.Add(1)
						return apierrors.NewTooManyRequests("busy", 1)
					}
					inside <- struct{}{}
					return nil
				})
				if err == nil {
					return
				}
			}
		})
	}
	group.Wait()
	if len(inside) != requests {
		t.Errorf("%d requests were taken, want %d", len(inside), requests)
	}
	if highest.Load() > most {
		t.Errorf("%d were under way at once, want %d", highest.Load(), most)
	}
	t.Logf("%d requests were refused on the way", refused.Load())
}

// TestFlowShrinksAndGrows: being too many lowers the limit once for all that were in flight
// together, never below one; success raises it again.
func TestFlowShrinksAndGrows(t *testing.T) {
	f := NewFlow(32)
	busy := apierrors.NewTooManyRequests("busy", 1)
	for range 3 {
		f.leave(busy, 0) // they began before the first refusal
		f.underWay++
	}
	if f.allowed != 8 {
		t.Errorf("%v are allowed, want 8", f.allowed)
	}
	for range 5 {
		_ = f.Do(t.Context(), func(context.Context) error { return busy })
	}
	if f.allowed != 1 {
		t.Errorf("%v are allowed, want 1", f.allowed)
	}
	for range 1000 {
		_ = f.Do(t.Context(), func(context.Context) error { return nil })
	}
	if f.allowed != 32 {
		t.Errorf("%v are allowed, want 32 again", f.allowed)
	}
}

// TestFlowGivesUp: a request that waits for room leaves when its context ends, and takes up
// no room.
func TestFlowGivesUp(t *testing.T) {
	f, why := NewFlow(1), errors.New("stop")
	err := f.Do(t.Context(), func(context.Context) error {
		ctx, stop := context.WithCancelCause(t.Context())
		ended := make(chan error)
		go func() { ended <- f.Do(ctx, func(context.Context) error { return nil }) }()
		for waiting := 0; waiting == 0; {
			f.mu.Lock()
			waiting = len(f.waiting)
			f.mu.Unlock()
		}
		stop(why)
		return <-ended
	})
	if !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	if err := f.Do(t.Context(), func(context.Context) error { return nil }); err != nil || f.underWay != 0 {
		t.Errorf("%v, and %d under way", err, f.underWay)
	}
}
