package engine

import (
	"errors"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// A plan that restores a revision is not applied to a release that has changed since.
func TestDriftOfAnEarlierRevisionIsNotCorrected(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.mustDeploy(nil)
		c.Objects[configMap].Object["data"] = map[string]any{"text": "by hand"}
		p, err := b.PlanDrift(t.Context(), webKey, plan.Options{ForceConflicts: true}, plan.DriftScope{})
		if err != nil {
			t.Fatal(err)
		}
		b.mustDeploy(map[string]any{"text": "two"})
		var stale *StaleError
		if err := b.Restore(t.Context(), p, releasestore.LockOptions{}); !errors.As(err, &stale) {
			t.Errorf("got %v", err)
		}
		if got := c.Objects[configMap].Object["data"].(map[string]any)["text"]; got != "two" {
			t.Errorf("the text is %v", got)
		}
	})
}
