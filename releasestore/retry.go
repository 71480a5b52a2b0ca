package releasestore

import (
	"context"
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

// retryRead calls read, which must be safe to repeat, again after transient errors.
func retryRead(ctx context.Context, clock Clock, read func(context.Context) error) error {
	wait := func(ctx context.Context, d time.Duration) error { return sleep(ctx, clock, d) }
	again := func(err error, stalled int) bool { return retry.Passes(err) && stalled < retry.Stalls }
	return retry.Read(ctx, wait, again, func(ctx context.Context) error {
		return retry.Attempt(ctx, read)
	})
}
