package apply_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// stalling is a store to which the first attempt at recording a failure gets no answer.
type stalling struct {
	apply.Store
	stalled bool
}

func (s *stalling) Update(ctx context.Context, r *release.Revision) error {
	if r.Info.Status == release.StatusFailed && !s.stalled {
		s.stalled = true
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Update(ctx, r)
}

// The record of a failed run is written again if the first attempt gets no answer for as long as an attempt may
// take: a release must not stay pending.
func TestAFailureIsRecordedDespiteAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := installed(t)
		p := upgrade(t, w)
		env, store := w.Env(), &stalling{}
		store.Store, env.Store = env.Store, store
		w.Trouble = func(call int) clusterfake.Trouble {
			if call == 3 {
				return clusterfake.Trouble{Before: errors.New("refused")}
			}
			return clusterfake.Trouble{}
		}
		if _, err := apply.Run(t.Context(), p, env); err == nil || !store.stalled {
			t.Fatalf("%v, stalled %t", err, store.stalled)
		}
		if got := w.Records[2].Info.Status; got != release.StatusFailed {
			t.Errorf("the revision is %s", got)
		}
	})
}
