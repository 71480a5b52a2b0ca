package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

func TestParsePolicy(t *testing.T) {
	got, err := plan.ParsePolicy([]byte("deny:\n- {risk: data, kinds: [StatefulSet.apps], because: it is theirs}\nallow:\n- {risk: delete, names: ['tmp-*']}\n"), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Policy{
		Deny:  []plan.Rule{{Risk: plan.RiskData, Kinds: []string{"StatefulSet.apps"}, Because: "it is theirs", Source: "p.yaml"}},
		Allow: []plan.Rule{{Risk: plan.RiskDelete, Names: []string{"tmp-*"}, Source: "p.yaml"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A misread policy would let through what it was written to deny.
func TestParsePolicyOverlooksNothing(t *testing.T) {
	for name, c := range map[string]struct{ file, err string }{
		"an empty file denies nothing":         {"", "it neither denies anything nor asks for a review"},
		"exceptions alone deny nothing":        {"allow: [{risk: delete}]", "it neither denies anything nor asks for a review"},
		"a misspelt list":                      {"denied: [{risk: delete}]", `unknown field "denied"`},
		"a misspelt field":                     {"deny: [{risk: delete, kind: Secret}]", `unknown field "kind"`},
		"a list that is there twice":           {"deny: [{risk: delete}]\ndeny: [{risk: data}]", `"deny" already set`},
		"a misspelt risk":                      {"deny: [{risk: deletion}]", `deny[0] (line 1): "deletion" is not a risk; the risks are data, delete, recreate, scale-down, stateful`},
		"a missing risk":                       {"deny: [{kinds: [Secret]}]", `deny[0] (line 1): "" is not a risk`},
		"a broken expression":                  {"deny:\n- {risk: delete}\n- expression: step.op ==\n  because: x", "deny[1] (line 3): expression: 1:11: Syntax error"},
		"an unknown variable":                  {"allow: [{expression: other.op == ''}]\ndeny: [{risk: data}]", "allow[0] (line 1): expression: 1:1: undeclared reference to 'other'"},
		"an expression that gives a text":      {"deny: [{expression: plan.operation + '', because: x}]", "expression: it is neither true nor false"},
		"an expression without a reason":       {"deny: [{expression: 'true'}]", "deny[0] (line 1): because is required"},
		"an expression beside a misspelt risk": {"deny: [{risk: deletion, expression: 'true'}]", `"deletion" is not a risk`},
		"a broken pattern":                     {"deny: [{risk: delete, names: ['a[']}]", `"a[" is not a valid pattern for names`},
		"an empty kind":                        {"deny: [{risk: delete, kinds: ['']}]", `deny[0] (line 1): "" is not a kind`},
		"a kind as kubectl takes it":           {"deny: [{risk: delete, kinds: [pvc]}]", `"pvc" is not a kind: write kinds as in manifests`},
		"a kind with its letters in the wrong case": {"deny: [{risk: delete, kinds: [Statefulset.apps, Statefulset.example.com, PersistentvolumeClaim]}]", `"Statefulset.apps" is not a kind: did you mean StatefulSet.apps?
deny[0] (line 1): "PersistentvolumeClaim" is not a kind: did you mean PersistentVolumeClaim?`},
		"an exception that is wrong":      {"deny: [{risk: delete}]\nallow: [{risk: x}]", `allow[0] (line 2): "x" is not a risk`},
		"a review by nobody":              {"review: [{by: ops}]", `review[0] (line 1): by: "ops" is not a user or team`},
		"a review with markup":            {"review: [{by: '@ops](http://x)'}]", "is not a user or team"},
		"a review of a misspelt risk":     {"review: [{by: '@ops', risk: x}]", `review[0] (line 1): "x" is not a risk`},
		"a review of a broken pattern":    {"review: [{by: '@ops', driftOf: ['a[']}]", `"a[" is not a valid pattern for field managers`},
		"several documents are no policy": {"deny: [{risk: delete}]\n---\ndeny: [{risk: data}]\n", "single document"},
		"no YAML":                         {"\t{", "read the policy p.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.ParsePolicy([]byte(c.file), "p.yaml")
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}

// The risks that apply is told to deny also block a plan that was made without them.
func TestJudgeBlocksASavedPlan(t *testing.T) {
	in := oneChange(t)
	in.Target.Objects = nil
	p := build(t, in)
	if p.Blocked() {
		t.Fatal("the plan is blocked already")
	}
	more, err := plan.DenyRisks("delete")
	if err != nil {
		t.Fatal(err)
	}
	p = p.WithPolicy(more)
	if !p.Blocked() || len(p.Problems) != 1 {
		t.Errorf("blocked: %v, problems %v", p.Blocked(), p.Problems)
	}
	if diff := cmp.Diff(more, p.Options.Policy); diff != "" {
		t.Error(diff)
	}
}

// Those whom a policy asks when a saved plan is shown are told, too.
func TestJudgeAsksForReviews(t *testing.T) {
	more, err := plan.ParsePolicy([]byte("review: [{by: '@shop/ops', kinds: [ConfigMap]}]"), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if p := build(t, oneChange(t)).WithPolicy(more); len(p.Reviews) != 1 || p.Reviews[0].By != "@shop/ops" || len(p.Reviews[0].Asked) != 1 {
		t.Errorf("reviews %+v", p.Reviews)
	}
}

// Of what a policy denies, the gravest comes first, whichever comes first in the run.
func TestTheGravestIsDeniedFirst(t *testing.T) {
	policy, err := plan.DenyRisks("delete", "data")
	if err != nil {
		t.Fatal(err)
	}
	policy.Deny = append(policy.Deny, plan.Rule{Expression: "step.op == 'delete'", Because: "not today", Source: "p.yaml"})
	deletion := func(kind, name string) plan.Step {
		return plan.Step{ID: name, Op: plan.OpDelete, Object: manifest.ID{Kind: kind, Namespace: "shop", Name: name}}
	}
	steps := []plan.Step{deletion("Service", "web"), deletion("Namespace", "shop")}
	var got []string
	for _, p := range policy.Denied(&plan.Plan{Document: plan.Document{Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}}}) {
		got = append(got, string(p.Risk)+" of "+p.Object.Name)
	}
	want := []string{"data of shop", "delete of web", "delete of shop", " of web", " of shop"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
