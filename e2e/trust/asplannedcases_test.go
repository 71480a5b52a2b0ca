package trust

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// The rules that compare the writes of runs with their plans find what is not planned, what
// comes too early, what comes twice, and what was reported but not done.
func TestUnplannedWritesAreFound(t *testing.T) {
	configMap := func(name string) manifest.ID {
		return manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: name}
	}
	step := func(op plan.Op, name string) plan.Step {
		return plan.Step{ID: string(op) + " " + name, Op: op, Object: configMap(name), Hook: &plan.HookRun{}}
	}
	record := func(id string, status release.Status, supersede ...int) plan.Step {
		return plan.Step{ID: id, Op: plan.OpRecord, Record: &plan.Record{Revision: 2, Status: status, Supersede: supersede}}
	}
	after := step(plan.OpDelete, "hook")
	after.Of, after.When = "run hook", plan.WhenAlways
	stage := func(name string, steps ...plan.Step) plan.Stage {
		s := plan.Stage{Name: plan.StageName(name)}
		for _, one := range steps {
			s.Waves = append(s.Waves, plan.Wave{Steps: []plan.Step{one}})
		}
		return s
	}
	p := &plan.Plan{Document: plan.Document{Release: release.Key{Namespace: "shop", Name: "web"}, FromRevision: 1, ToRevision: 2, Stages: []plan.Stage{
		stage("record pending", record("pending", release.StatusPendingUpgrade)),
		stage("hooks", step(plan.OpRun, "hook"), after),
		stage("resources", step(plan.OpCreate, "a"), step(plan.OpPatch, "b")),
		stage("record", record("final", release.StatusDeployed, 1)),
	}, OnFailure: &plan.OnFailure{Stages: []plan.Stage{stage("record", record("failed", release.StatusFailed))}}}}
	back := &plan.Plan{Document: plan.Document{Release: p.Release, FromRevision: 2, ToRevision: 3, Stages: []plan.Stage{stage("resources", step(plan.OpDelete, "a"))}}}

	for name, test := range map[string]struct {
		writes string
		ended  string // the steps that ended; those with ! failed
		failed bool
		leaves bool
		back   bool
		wrong  string
	}{
		"all as planned": {writes: "create v2, create hook, delete hook, create a, patch b, update v2, update v1", ended: "pending, run hook"},
		"an older record is left": {
			writes: "create v2, create hook, delete hook, create a, patch b, update v2", ended: "pending, run hook, final", wrong: "has sent no update of sh.helm.release.v1.web.v1",
		},
		"an older record is left, and noted": {
			writes: "create v2, create hook, delete hook, create a, patch b, update v2", ended: "pending, run hook, final", leaves: true,
		},
		"an older record that could not be written": {writes: "create v2, create hook, delete hook, create a, patch b, update v2, update v1!", ended: "pending, run hook, final"},
		"an older record is left after a failure":   {writes: "create v2, create hook!, delete hook, update v2", ended: "pending, !run hook, failed", failed: true},
		"something else":              {writes: "create v2, create other", wrong: "create /configmaps/shop/other"},
		"something else is deleted":   {writes: "create v2, create hook, delete a", ended: "pending, run hook", wrong: "delete /configmaps/shop/a"},
		"another verb":                {writes: "create v2, patch hook", wrong: "patch /configmaps/shop/hook"},
		"before the record":           {writes: "create hook", wrong: "create /configmaps/shop/hook"},
		"a wave too early":            {writes: "create v2, create hook, delete hook, patch b", ended: "run hook", wrong: "patch /configmaps/shop/b"},
		"back again":                  {writes: "create v2, create hook, delete hook, create a, delete hook", ended: "run hook", wrong: "delete /configmaps/shop/hook"},
		"twice":                       {writes: "create v2, create hook, delete hook, create a, create a", ended: "run hook", wrong: "create /configmaps/shop/a"},
		"again after a refusal":       {writes: "create v2, create hook, delete hook, create a!, create a, patch b", ended: "run hook"},
		"tidied though it runs":       {writes: "create v2, create hook, delete hook", wrong: "delete /configmaps/shop/hook"},
		"a failure that was not told": {writes: "create v2, create hook, delete hook, create a, update v2", ended: "run hook", wrong: "update /secrets/shop/sh.helm.release.v1.web.v2"},
		"a failure":                   {writes: "create v2, create hook!, delete hook, update v2", ended: "!run hook", failed: true},
		"on after a failure":          {writes: "create v2, create hook!, delete hook, create a", ended: "!run hook", failed: true, wrong: "create /configmaps/shop/a"},
		"tidied in a later stage":     {writes: "create v2, create hook, create a!, delete hook", ended: "run hook, !create a", failed: true, wrong: "delete /configmaps/shop/hook"},
		"a rollback":                  {writes: "create v2, create hook, create a, patch b!, update v2, delete a", ended: "run hook, create a", failed: true, back: true},
		"after a wait":                {writes: "create v2, create hook, update v2", ended: "!run hook", failed: true},
		"a rollback that is none":     {writes: "create v2, create hook, create a, patch b!, update v2, delete a", ended: "run hook, create a", failed: true, wrong: "delete /configmaps/shop/a"},
		"told and not done":           {writes: "create v2", ended: "pending, run hook", wrong: "run hook is told to be done"},
	} {
		t.Run(name, func(t *testing.T) {
			r := played{forth: p, ended: map[string]bool{}, failed: test.failed, leaves: test.leaves}
			if test.back {
				r.back = back
			}
			for _, word := range strings.Split(test.ended, ", ") {
				id, badly := strings.CutPrefix(word, "!")
				if id != "" {
					r.ended[id] = !badly
				}
			}
			for _, one := range strings.Split(test.writes, ", ") {
				one, refused := strings.CutSuffix(one, "!")
				verb, name, _ := strings.Cut(one, " ")
				w := write{verb: verb, resource: resource{resource: "configmaps", namespace: "shop", name: name}, code: 200}
				if strings.HasPrefix(name, "v") {
					w.resource = resource{resource: "secrets", namespace: "shop", name: "sh.helm.release.v1.web." + name}
				}
				if refused {
					w.code = 503
				}
				r.writes = append(r.writes, w)
			}
			got := strings.Join(r.unplanned(), "\n")
			if test.wrong == "" && got != "" || !strings.Contains(got, test.wrong) {
				t.Errorf("got %q, want %q in it", got, test.wrong)
			}
		})
	}
}
