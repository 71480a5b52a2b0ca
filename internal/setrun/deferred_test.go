package setrun

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// deferredPlan creates an object whose kind does not exist yet, and changes a ConfigMap for
// which the API server has predicted the outcome.
func deferredPlan(widget plan.Fidelity) *plan.Plan {
	p := &plan.Plan{}
	p.Cluster.UID, p.FromRevision = "here", 1
	p.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{
		{ID: "resources/Widget/web", Op: plan.OpCreate, Object: manifest.ID{Kind: "Widget", Name: "web"}, Fidelity: widget},
		{
			ID: "resources/ConfigMap/web", Op: plan.OpPatch, Object: manifest.ID{Kind: "ConfigMap", Name: "web"}, Fidelity: plan.FidelityExact,
			Changes: []plan.Change{{Path: "data.size", From: "1", To: "2"}},
		},
	}}}}}
	return p
}

// What an entry needs through one that is not planned, because --selector leaves it out, is promised, too.
func TestPromisesThroughEntriesThatAreNotPlanned(t *testing.T) {
	web, api, db := releaseset.Key{Namespace: "shop", Name: "web"}, releaseset.Key{Namespace: "shop", Name: "api"}, releaseset.Key{Namespace: "shop", Name: "db"}
	made := &plan.Plan{}
	made.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{
		{Op: plan.OpCreate, Object: plan.NamespaceID("data"), Body: plan.NamespaceDoc("data")},
	}}}}}
	jobs := map[releaseset.Key]*job{
		web: {out: &releaseset.Planned{Key: web, Needs: []releaseset.Key{api}}},
		db:  {out: &releaseset.Planned{Key: db}, made: made},
	}
	needs := map[releaseset.Key][]releaseset.Key{web: {api}, api: {db}}
	if got := promisesOf(jobs, needs, web).namespaces; got["data"] != db {
		t.Errorf("promised are %v", got)
	}
}

// A deferred plan is applied if it does what was estimated: the API server's answers may be
// known by now, and defaults with them; another cluster or revision, a different operation, risk,
// object or problem, and different fields where they were known, are refused.
func TestADeferredPlanDoesWhatWasEstimated(t *testing.T) {
	steps := func(p *plan.Plan) []plan.Step { return p.Stages[0].Waves[0].Steps }
	for name, test := range map[string]struct {
		change func(*plan.Plan)
		want   string
	}{
		"nothing": {func(*plan.Plan) {}, ""},
		"a default of the new kind": {func(p *plan.Plan) {
			steps(p)[0].Changes = []plan.Change{{Path: "spec.color", To: "red", Cause: plan.CauseServer}}
		}, ""},
		"another operation": {func(p *plan.Plan) { steps(p)[0].Op = plan.OpPatch }, "resources/Widget/web: create was estimated, now it is patch"},
		"a risk":            {func(p *plan.Plan) { steps(p)[1].Risk = plan.RiskData }, "resources/ConfigMap/web: patch was estimated, now it is patch data"},
		"a step less":       {func(p *plan.Plan) { p.Stages[0].Waves[0].Steps = steps(p)[1:] }, "resources/Widget/web: create was estimated, now it is nothing"},
		"a step more": {func(p *plan.Plan) {
			p.Stages[0].Waves[0].Steps = append(steps(p), plan.Step{ID: "resources/Job/x", Op: plan.OpDelete, Risk: plan.RiskDelete})
		}, "resources/Job/x: delete delete was not estimated"},
		"other fields of what was known": {func(p *plan.Plan) { steps(p)[1].Changes[0].From = "7" }, "resources/ConfigMap/web: it would change other fields than planned"},
		"another cluster":                {func(p *plan.Plan) { p.Cluster.UID = "there" }, "it was made for another cluster, : kube-system had the UID here there and has there here ()"},
		"another revision":               {func(p *plan.Plan) { p.FromRevision = 2 }, "the release was at revision 1 and is at revision 2 now"},
		"a problem": {func(p *plan.Plan) {
			p.Problems = []plan.Problem{{Blocking: true, What: "it belongs to another release"}, {What: "a notice"}}
		}, "it belongs to another release"},
	} {
		fresh := deferredPlan(plan.FidelityExact)
		test.change(fresh)
		if got := strings.Join(unlike(deferredPlan(plan.FidelityEstimated), fresh), "; "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
