package releasestore

import (
	"context"
	"time"
)

// Clock tells the time and waits. A machine has two clocks, and each has
// its weakness: the wall clock may be wrong, and may be set at any moment; the
// monotonic clock can't be set, but on Linux it stands still while the machine is
// suspended (https://go.dev/issue/24595).
type Clock interface {
	// Now returns the time by the wall clock.
	Now() time.Time
	// Since returns how long ago t was by the monotonic clock; t comes from Now.
	Since(t time.Time) time.Duration
	// After sends the time once d has passed.
	After(d time.Duration) <-chan time.Time
}

// sleep waits for d. If ctx ends before that, it returns the cause.
func sleep(ctx context.Context, clock Clock, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-clock.After(d):
		return nil
	}
}
