package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// History reads a release's records. Without any, it is a *NoReleaseError.
func (e *Engine) History(ctx context.Context, key release.Key) (release.History, error) {
	h, err := e.history(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(h) == 0 {
		return nil, &NoReleaseError{Key: key}
	}
	return h, nil
}

// history reads the records that can be read. A corrupt record is an error
// when it is the newest: nobody knows then what the release is. An older one
// is passed over.
func (e *Engine) history(ctx context.Context, key release.Key) (release.History, error) {
	h, err := e.Store.History(ctx, key)
	if err == nil {
		return h, nil
	}
	corrupt, only := releasestore.Corrupt(err)
	if !only {
		return nil, err
	}
	last := h.Last()
	if last == nil || corrupt[0].Version > last.Version {
		return nil, fmt.Errorf("the newest record of %s is corrupt: %w", key, corrupt[0])
	}
	return h, nil
}

// Unlock frees the lock that owner holds, by taking it over in that name and
// letting go of it.
func (e *Engine) Unlock(ctx context.Context, key release.Key, owner string) error {
	held, err := e.Locker.Lock(ctx, key, owner, releasestore.LockOptions{})
	if err != nil {
		return err
	}
	return held.Release(ctx)
}
