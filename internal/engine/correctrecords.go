package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// FailPending records the newest revision as failed where it is pending and nobody is at
// work on the release any more. It gives the revision as it is then, nil when it is not
// pending. Errors: a *releasestore.LockedError while somebody is at work.
func (e *Engine) FailPending(ctx context.Context, key release.Key, lock releasestore.LockOptions, describe func(release.Status) string) (failed *release.Revision, err error) {
	err = e.Locked(ctx, key, lock, func(ctx context.Context, held apply.Lock) error {
		last, err := e.Newest(ctx, key)
		if err != nil || !last.Info.Status.Pending() {
			return err
		}
		if held != nil {
			if err := held.Check(); err != nil {
				return err
			}
		}
		next := last.WithStatus(release.StatusFailed, describe(last.Info.Status))
		if err := e.Store.Update(ctx, next); err != nil {
			return fmt.Errorf("record %s revision %d as failed: %w", key, last.Version, err)
		}
		failed = next
		return nil
	})
	return failed, err
}
