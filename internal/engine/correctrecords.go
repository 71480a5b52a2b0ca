package engine

import (
	"context"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// FailPending marks the newest revision as failed if it is pending and no run is at work on the
// release any more. It returns the revision as it is then stored, or nil if it was not pending. It
// returns a *NoReleaseError, a *releasestore.LockedError while another run is at work, or the
// errors of apply.Run.
func (e *Engine) FailPending(ctx context.Context, key release.Key, lock releasestore.LockOptions, describe func(release.Status) string) (failed *release.Revision, err error) {
	err = e.correctRecords(ctx, key, lock, func(last *release.Revision) (description string, needed bool) {
		return describe(last.Info.Status), last.Info.Status.Pending()
	}, func(o apply.Outcome) { failed = o.Revision })
	return failed, err
}

// Tidy marks older revisions as superseded that still count as deployed although the newest one is
// deployed: a run that was killed before it wrote its last record leaves them behind. Errors are
// those of FailPending.
func (e *Engine) Tidy(ctx context.Context, key release.Key, lock releasestore.LockOptions) error {
	return e.correctRecords(ctx, key, lock, func(last *release.Revision) (description string, needed bool) {
		return "", last.Info.Status == release.StatusDeployed
	}, func(apply.Outcome) {})
}

// correctRecords plans and carries out plan.CorrectRecords under the release's lock if the newest
// revision needs it, and calls done with the outcome.
func (e *Engine) correctRecords(ctx context.Context, key release.Key, lock releasestore.LockOptions, needs func(*release.Revision) (description string, needed bool), done func(apply.Outcome)) error {
	return e.Locked(ctx, key, lock, func(ctx context.Context, held apply.Lock) error {
		history, err := e.history(ctx, key)
		if err != nil {
			return err
		}
		last := history.Last()
		if last == nil {
			return &NoReleaseError{Key: key}
		}
		description, needed := needs(last)
		if !needed {
			return nil
		}
		in := e.input(plan.CorrectRecords, key, plan.Options{Description: description}, gathered{history: history})
		p, _, err := plan.Build(in)
		if err != nil {
			return err
		}
		outcome, err := e.run(ctx, p, history, held)
		if err == nil {
			done(outcome)
		}
		return err
	})
}
