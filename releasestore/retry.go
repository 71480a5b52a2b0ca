package releasestore

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// retryingReads is a backend that retries reads after transient errors: a rollback must not fail
// because one read of the history failed. Writes are not retried here; package apply retries them.
type retryingReads struct {
	backend
	clock Clock
}

func (b retryingReads) get(ctx context.Context, at location) (found object, err error) {
	err = retryRead(ctx, b.clock, func(ctx context.Context) error {
		found, err = b.backend.get(ctx, at)
		return err
	})
	return found, err
}

func (b retryingReads) list(ctx context.Context, namespace string, o listOptions) (found []object, next string, err error) {
	err = retryRead(ctx, b.clock, func(ctx context.Context) error {
		found, next, err = b.backend.list(ctx, namespace, o)
		return err
	})
	return found, next, err
}

// stalls is how many attempts of a read may time out before it is given up, as for reads of objects
// (internal/cluster, stallsOfKnown): each takes a minute, in which nobody sees anything.
const stalls = 3

// retryRead calls read, which must be safe to repeat, again after transient errors.
func retryRead(ctx context.Context, clock Clock, read func(context.Context) error) error {
	wait := func(ctx context.Context, d time.Duration) error { return sleep(ctx, clock, d) }
	stalled := 0
	again := func(err error) bool {
		if errors.Is(err, context.DeadlineExceeded) {
			stalled++
		}
		return retry.Passes(err) && stalled < stalls
	}
	return retry.Read(ctx, wait, again, func(ctx context.Context) error {
		return retry.Attempt(ctx, read)
	})
}
