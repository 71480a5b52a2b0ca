package engine

import (
	"context"
	"errors"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// ErrNotResumable is returned for a release whose newest revision can't be resumed.
var ErrNotResumable = errors.New("there is no revision to resume")

// Resumption holds the parameters of Resume.
type Resumption struct {
	Release release.Key
	Lock    releasestore.LockOptions
	Options plan.Options
	// Secrets are those of the interrupted plan, see plan.Bundle.
	Secrets [][]byte
}

// Resume continues the newest revision, which a dead run left pending: what remains to be done is
// planned from the record, under the release's lock, and carried out. Hooks that have succeeded are
// not run again. see is called with the plan and can stop the run by returning an error. It returns
// ErrNotResumable if plan.Resumable is false, and a *releasestore.LockedError while another run is
// at work.
func (e *Engine) Resume(ctx context.Context, r Resumption, see func(*plan.Plan) error) (*plan.Plan, apply.Outcome, error) {
	var p *plan.Plan
	var outcome apply.Outcome
	err := e.Locked(ctx, r.Release, r.Lock, func(ctx context.Context, held apply.Lock) (err error) {
		if p, err = e.planResume(ctx, r); err != nil {
			return err
		}
		if err := see(p); err != nil {
			return err
		}
		outcome, err = e.run(ctx, p, nil, held)
		return err
	})
	return p, outcome, err
}

func (e *Engine) planResume(ctx context.Context, r Resumption) (*plan.Plan, error) {
	in, err := e.newest(ctx, plan.Upgrade, r.Release, r.Options)
	if err != nil {
		return nil, err
	}
	record := in.Target.Record
	if !plan.Resumable(record) {
		return nil, ErrNotResumable
	}
	in.Operation = plan.PendingOperation(record.Info.Status)
	if in.Operation == plan.Rollback {
		in.RollbackTo = record.Info.RollbackRevision
	}
	in.Resume, in.Options.ServerSide = true, record.ApplyMethod == release.ServerSide
	in.Values, in.Secrets = valuesChanges(in.History, record), r.Secrets
	return e.decide(ctx, in)
}
