package engine

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// recorded returns how many record steps were reported as done.
func (b bench) recorded() (done int) {
	for _, e := range *b.told {
		if e.Type == apply.StepDone && e.Op == plan.OpRecord {
			done++
		}
	}
	return done
}

// Records that a killed run has left are corrected by a plan with a single step, and by none if there
// is nothing to correct.
func TestRecordsAreCorrectedByPlan(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		b.mustDeploy(nil)
		b.mustDeploy(map[string]any{"text": "two"})
		h, err := b.Store.History(t.Context(), webKey, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Store.Update(t.Context(), h[0].WithStatus(release.StatusDeployed, "")); err != nil {
			t.Fatal(err)
		}
		*b.told = nil
		if err := b.Tidy(t.Context(), webKey, releasestore.LockOptions{}); err != nil || b.statuses() != "superseded deployed" || b.recorded() != 1 {
			t.Errorf("records are %s, by %d steps, %v", b.statuses(), b.recorded(), err)
		}
		*b.told = nil
		if err := b.Tidy(t.Context(), webKey, releasestore.LockOptions{}); err != nil || b.recorded() != 0 {
			t.Errorf("with nothing to tidy: %d steps, %v", b.recorded(), err)
		}
	})
}

func TestPendingFailsByPlan(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.pending()
		describe := func(s release.Status) string { return "left " + string(s) }
		failed, err := b.FailPending(t.Context(), webKey, releasestore.LockOptions{}, describe)
		if err != nil || failed == nil || failed.Info.Status != release.StatusFailed || failed.Info.Description != "left pending-install" {
			t.Fatalf("%+v, %v", failed, err)
		}
		if b.statuses() != "failed" || b.recorded() != 1 {
			t.Errorf("records are %s, by %d steps", b.statuses(), b.recorded())
		}
		if again, err := b.FailPending(t.Context(), webKey, releasestore.LockOptions{}, describe); again != nil || err != nil {
			t.Errorf("again: %+v, %v", again, err)
		}
	})
}

// A run that resumes a revision records those before it as failed that were left pending, too.
func TestAResumedRunLeavesNothingPending(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		b.mustDeploy(nil)
		deployed, err := b.Newest(t.Context(), webKey)
		if err != nil {
			t.Fatal(err)
		}
		for version := 2; version <= 3; version++ {
			next := deployed.WithStatus(release.StatusPendingUpgrade, plan.PendingMark+": upgrade under way")
			next.Version = version
			if err := b.Store.Create(t.Context(), next); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err = b.Resume(t.Context(), Resumption{Release: webKey}, func(*plan.Plan) error { return nil })
		if err != nil || b.statuses() != "superseded failed deployed" {
			t.Errorf("%v, records %s", err, b.statuses())
		}
	})
}
