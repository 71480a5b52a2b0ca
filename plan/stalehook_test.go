package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// hooked returns the input of an upgrade whose hook, a ConfigMap, finds an object with the UID in its
// place, left by its last run, or nothing if uid is empty.
func hooked(t *testing.T, uid types.UID) plan.Input {
	t.Helper()
	in := oneChange(t)
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes, namespace: shop, annotations: {helm.sh/hook: pre-upgrade}}\n"
	h := release.Hook{Hook: manifest.Hook{Name: "notes", Kind: "ConfigMap", Manifest: text, Events: []manifest.Event{manifest.PreUpgrade}}}
	objects, err := manifest.ParseDocument(text, "hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	in.History[0].Hooks = []release.Hook{h}
	in.Target.Record.Hooks, in.Target.HookObjects = []release.Hook{h}, [][]manifest.Object{objects}
	if uid != "" {
		doc := objects[0].Doc.DeepCopy()
		doc.SetUID(uid)
		in.Live[objects[0].ID] = plan.Observed(doc)
	}
	return in
}

// A saved plan says what a hook replaces: if something else is in its place, the plan is stale;
// if nothing is, the plan still holds.
func TestAHookWithAnotherObjectInItsPlaceIsStale(t *testing.T) {
	for name, test := range map[string]struct {
		was, is types.UID
		says    string
	}{
		"the same":          {"one", "one", ""},
		"it is gone":        {"one", "", ""},
		"another":           {"one", "other", "another object now has the hook's name"},
		"born in the place": {"", "one", "another object now has the hook's name"},
	} {
		t.Run(name, func(t *testing.T) {
			got := said(plan.Stale(build(t, hooked(t, test.was)), build(t, hooked(t, test.is))))
			if test.says == "" && got != "" || !strings.Contains(got, test.says) {
				t.Errorf("got %q, want %q in it", got, test.says)
			}
		})
	}
}

// What a resource that becomes a hook in place would change is part of what was reviewed.
func TestAConversionThatChangesSomethingElseIsStale(t *testing.T) {
	converted := func(value string) *plan.Plan {
		in := hooked(t, "one")
		sent := in.Target.HookObjects[0][0]
		sent.Doc = sent.Doc.DeepCopy()
		sent.Doc.SetAnnotations(nil)
		in.History[0].Hooks = nil
		in.Stored = append(in.Stored, plan.Stored([]plan.Sent{{Revision: 1, Objects: []manifest.Object{sent}}})...)
		now := live(sent)
		now.SetUID("one")
		now.Object["data"] = map[string]any{"a": value}
		in.Target.HookObjects[0][0].Doc.Object["data"] = map[string]any{"a": "2"}
		in.Live[sent.ID] = plan.Observed(now)
		return build(t, in)
	}
	if got := said(plan.Stale(converted("1"), converted("1"))); got != "" {
		t.Errorf("the same plan is stale: %s", got)
	}
	if got, want := said(plan.Stale(converted("1"), converted("3"))), "ConfigMap/notes was changed since the plan was made"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}

// When a saved plan is applied, --deny and --policy judge what is going
// to happen, whatever the file shows.
func TestTheFreshPlanIsJudged(t *testing.T) {
	b := bench{TB: t}
	saved := b.reviewed()
	for i := range saved.Stages { // the file does not show what is deleted
		for j := range saved.Stages[i].Waves {
			steps := saved.Stages[i].Waves[j].Steps
			for k := range steps {
				if steps[k].Op == plan.OpDelete {
					steps[k].Op = plan.OpKeep
				}
			}
		}
	}
	deny, err := plan.DenyRisks("delete")
	if err != nil {
		t.Fatal(err)
	}
	saved = saved.WithPolicy(deny)
	fresh, err := b.fresh(saved)
	if err != nil {
		t.Fatal(err)
	}
	if saved.Blocked() || !fresh.Blocked() {
		t.Errorf("the file is blocked: %v, what it does: %v", saved.Blocked(), fresh.Blocked())
	}
}

// A file with a revision of another release, or without details of a hook,
// is not a saved plan.
func TestDecodeRefusesWhatDoesNotFit(t *testing.T) {
	for says, change := range map[string]func(*plan.Plan){
		"contains a revision of shop/other": func(p *plan.Plan) { p.Record.Name = "other" },
		"has no details of the hook":        func(p *plan.Plan) { p.Steps(func(_ plan.StageName, s *plan.Step) { s.Hook = nil }) },
	} {
		p := bench{TB: t}.reviewed()
		change(p)
		data, err := plan.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Decode(data); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q in it", err, says)
		}
	}
}
