package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// scaledDown is a plan of four steps: a Deployment is scaled down, a Secret is changed, a
// ConfigMap stays as it is, and the record is written.
func scaledDown() *plan.Plan {
	document := func(kind string, more map[string]any) *unstructured.Unstructured {
		more["kind"], more["metadata"] = kind, map[string]any{"name": "web"}
		return &unstructured.Unstructured{Object: more}
	}
	replicas := func(n int64) *unstructured.Unstructured {
		return document("Deployment", map[string]any{"spec": map[string]any{"replicas": n}})
	}
	secret := func(value string) *unstructured.Unstructured {
		s := document("Secret", map[string]any{"data": map[string]any{"password": value}, "Data": value})
		s.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": value})
		return s
	}
	step := func(op plan.Op, id manifest.ID, before, after *unstructured.Unstructured, changes ...plan.Change) plan.Step {
		id.Namespace, id.Name = "shop", "web"
		return plan.Step{ID: id.Kind, Op: op, Object: id, Before: before, After: after, Body: after, Changes: changes}
	}
	return &plan.Plan{Document: plan.Document{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, ChartTo: plan.ChartRef{Name: "web", Version: "2.0.0"},
		Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{
			step(plan.OpPatch, manifest.ID{Group: "apps", Kind: "Deployment"}, replicas(3), replicas(1),
				plan.Change{Path: "spec.replicas", From: int64(3), To: int64(1), Cause: plan.CauseDrift, Detail: "kubectl-edit 3h ago"}),
			step(plan.OpPatch, manifest.ID{Kind: "Secret"}, secret("hunter1"), secret("hunter2"),
				plan.Change{Path: "data.password", From: "hunter1", To: "hunter2", Sensitive: true}),
			step(plan.OpNone, manifest.ID{Kind: "ConfigMap"}, document("ConfigMap", map[string]any{}), nil),
			{ID: "record", Op: plan.OpRecord},
		}}}}},
	}}
}

func TestExpressions(t *testing.T) {
	const down = "Deployment/web: it would be scaled down, which p.yaml denies"
	for why, tc := range map[string]struct {
		rules string
		want  []string
	}{
		"true of each step that writes": {
			"deny: [{expression: 'true', because: stop}]",
			[]string{"Deployment/web: p.yaml denies this patch: stop", "Secret/web: p.yaml denies this patch: stop"},
		},
		"two rules are two reasons": {
			"deny: [{kinds: [Secret], expression: 'true', because: one}, {kinds: [Secret], expression: 'true', because: two}]",
			[]string{"Secret/web: p.yaml denies this patch: one", "Secret/web: p.yaml denies this patch: two"},
		},
		"a risk and an expression both hold":       {"deny: [{risk: scale-down, expression: step.after.spec.replicas < 2}]", []string{down}},
		"a risk alone does not":                    {"deny: [{risk: scale-down, expression: step.after.spec.replicas < 1}]", nil},
		"an expression alone does not":             {"deny: [{risk: delete, expression: step.op == 'patch'}]", nil},
		"kinds count, and so does what they spare": {"deny: [{risk: scale-down, kinds: [StatefulSet], expression: step.missing}]", nil},
		"whole numbers are whole":                  {"deny: [{risk: scale-down, expression: step.before.spec.replicas % 2 == 1}]", []string{down}},
		"changes":                                  {"deny: [{risk: scale-down, expression: 'step.changes.exists(c, c.path == \"spec.replicas\" && c.cause == \"drift\" && c.from - c.to == 2)'}]", []string{down}},
		"the plan": {
			"deny: [{risk: scale-down, expression: plan.operation == 'upgrade' && plan.release.namespace == 'shop' && plan.chartTo.version.startsWith('2.') && plan.chartFrom.name == ''}]",
			[]string{down},
		},
		"a group that is empty is there": {
			"deny: [{expression: step.object.group == '' && step.risk == '', because: stop}]",
			[]string{"Secret/web: p.yaml denies this patch: stop"},
		},
		"what can't be evaluated is denied": {
			"deny: [{risk: scale-down, expression: step.after.spec.paused}]",
			[]string{down + " (its expression can't be evaluated: no such key: paused)"},
		},
		"what is neither true nor false is denied": {
			"deny: [{risk: scale-down, expression: step.op}]",
			[]string{down + " (its expression can't be evaluated: it is neither true nor false)"},
		},
		"an exception": {"deny: [{risk: scale-down}]\nallow: [{risk: scale-down, expression: step.after.spec.replicas >= 1}]", nil},
		"an exception from all that a step does": {
			"deny: [{risk: scale-down}, {expression: 'true', because: stop}]\nallow: [{expression: step.object.group == 'apps'}]",
			[]string{"Secret/web: p.yaml denies this patch: stop"},
		},
		"an exception from a risk is none from an expression": {
			"deny: [{kinds: [Deployment], expression: 'true', because: stop}]\nallow: [{risk: scale-down}]",
			[]string{"Deployment/web: p.yaml denies this patch: stop"},
		},
		"an exception that is false": {"deny: [{risk: scale-down}]\nallow: [{expression: step.drift}]", []string{down}},
		"an exception that can't be evaluated excuses nothing": {
			"deny: [{risk: scale-down}]\nallow: [{expression: step.after.spec.paused}]",
			[]string{down + " (the expression of an exception can't be evaluated: no such key: paused)"},
		},
	} {
		t.Run(why, func(t *testing.T) {
			same(t, denied(t, tc.rules), tc.want)
		})
	}
}

// Expressions see that a Secret changes, but not to what; and errors quote no values.
func TestExpressionsSeeNoSecret(t *testing.T) {
	got := denied(t, `deny:
- kinds: [Secret]
  because: seen
  expression: 'step.changes.all(c, c.to == "(sensitive)" && c.from == "(sensitive)") && has(step.after.data.password)'
- kinds: [Secret]
  because: hunter
  expression: '[step.before, step.after].exists(o, o.data.password.contains("hunter") || o.Data.contains("hunter") || o.metadata.annotations.exists(k, o.metadata.annotations[k].contains("hunter")))'
`)
	same(t, got, []string{"Secret/web: p.yaml denies this patch: seen"})
	for _, text := range []string{"{'a': true}[step.changes[0].detail]", "timestamp(step.changes[0].detail) == timestamp('2026-01-01T00:00:00Z')", "int(step.changes[0].detail) == 1"} {
		got := denied(t, "deny:\n- risk: scale-down\n  expression: |\n    "+text)
		if len(got) != 1 || !strings.Contains(got[0], "can't be evaluated") || strings.Contains(got[0], "kubectl-edit") {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// A saved plan may contain an expression that this version can't compile: it denies.
func TestAnExpressionThatDoesNotCompileDenies(t *testing.T) {
	p := plan.Policy{Deny: []plan.Rule{{Risk: plan.RiskScaleDown, Expression: "step.op.future()", Source: "p.yaml"}}}
	if got := p.Denied(scaledDown()); len(got) != 1 || !strings.Contains(got[0].What, "undeclared reference to 'future'") {
		t.Errorf("%+v", got)
	}
}

func denied(t *testing.T, rules string) (out []string) {
	t.Helper()
	p, err := plan.ParsePolicy([]byte(rules), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range p.Denied(scaledDown()) {
		if !problem.Blocking || problem.Kind != plan.ProblemPolicy {
			t.Errorf("it does not block: %+v", problem)
		}
		out = append(out, problem.Object.String()+": "+problem.What)
	}
	return out
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A hostile policy can't run forever: once all expressions together have cost too much, the remaining steps
// are denied.
func TestExpressionsTogetherCostNoMoreThanTheirLimit(t *testing.T) {
	made := scaledDown()
	wave := &made.Stages[0].Waves[0]
	for range 20 {
		wave.Steps = append(wave.Steps, wave.Steps[0])
	}
	// CEL estimates the cost of a search as the product of both lengths; Go is faster than that.
	text := "(step.op + '" + strings.Repeat("a", 50_000) + "').contains('" + strings.Repeat("a", 40_000) + "b')"
	p := plan.Policy{Deny: []plan.Rule{{Risk: plan.RiskScaleDown, Expression: text, Source: "p.yaml"}}}
	got := p.Denied(made)
	if len(got) != 21 || !strings.HasSuffix(got[0].What, "it costs too much)") || !strings.HasSuffix(got[20].What, "all expressions together cost too much)") {
		t.Errorf("%d problems: %+v", len(got), got)
	}
}
