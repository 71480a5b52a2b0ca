package plan_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Somebody lets a StatefulSet's claims go with it after its deletion was reviewed: the request is the
// same, but what it destroys is not.
func TestStaleTellsNewRisks(t *testing.T) {
	deletion := func(policy string) *plan.Plan {
		objects, err := manifest.ParseDocument("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\n"+
			"spec: {replicas: 1, persistentVolumeClaimRetentionPolicy: {whenDeleted: "+policy+"}, volumeClaimTemplates: [{metadata: {name: data}}]}\n", "web/templates/db.yaml")
		if err != nil {
			t.Fatal(err)
		}
		in := oneChange(t)
		in.Stored = plan.Stored([]plan.Sent{{Revision: 1, Objects: objects}})
		in.Live = map[manifest.ID]plan.Observation{objects[0].ID: plan.Observed(live(objects[0]))}
		in.Target.Objects = nil
		return build(t, in)
	}
	const want = "StatefulSet/db: it would be deleted with what it holds, which was not so when the plan was made"
	if got := said(plan.Stale(deletion("Retain"), deletion("Delete"))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := said(plan.Stale(deletion("Delete"), deletion("Retain"))); got != "" {
		t.Errorf("a plan that destroys less is called stale: %s", got)
	}
}
