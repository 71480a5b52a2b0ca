package redact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// LookedUpPlan returns a plan whose templates have read Secrets and put them into other objects.
func LookedUpPlan() *plan.Plan {
	p := &plan.Plan{Document: plan.Document{
		Operation: plan.Install, Release: release.Key{Namespace: "shop", Name: "web"}, ToRevision: 1,
		Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{{
			ID: "c", Op: plan.OpCreate, Object: manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"},
			Body: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"},
				"data": map[string]any{"html": "canary&amp;read", "encoded": B64("u:canary&read"), "part": "canary-registry", "c": "7"},
			}},
		}}}}}},
	}, Bundle: plan.Bundle{Secrets: [][]byte{[]byte("canary&read"), []byte(`{"auths":{"r":{"password":"canary-registry"}}}`), []byte("canary-elsewhere"), []byte("7")}, Record: &release.Revision{Manifest: "a: canary&amp;read\nb: canary-registry\nc: 7\n"}}}
	p.Summary = plan.Summary{Create: 1}
	return p
}

// Of everything that templates have read, a plan keeps what recurs in it.
func TestAPlanKeepsTheSecretsThatRecur(t *testing.T) {
	want := [][]byte{[]byte("canary&read"), []byte("canary-registry")}
	if diff := cmp.Diff(want, Recurring(LookedUpPlan())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// It recurs wherever a text of the chart or of the cluster may be: elsewhere there is only what comes from these.
func TestSecretsRecurInEveryPlace(t *testing.T) {
	const secret = "canary&read"
	step := func(live any) []plan.Stage {
		return []plan.Stage{{Waves: []plan.Wave{{Steps: []plan.Step{{Before: &unstructured.Unstructured{Object: map[string]any{"spec": live}}}}}}}}
	}
	for place, put := range map[string]func(*plan.Plan){
		"the manifest": func(p *plan.Plan) { p.Record = &release.Revision{Manifest: "a: " + secret} },
		"the notes":    func(p *plan.Plan) { p.Record = &release.Revision{Info: release.Info{Notes: "use " + secret}} },
		"a hook": func(p *plan.Plan) {
			p.Record = &release.Revision{Hooks: []release.Hook{{Hook: manifest.Hook{Manifest: secret}}}}
		},
		"a reference":         func(p *plan.Plan) { p.ChartSource = &plan.ChartSource{Reference: secret} },
		"a repository":        func(p *plan.Plan) { p.ChartSource = &plan.ChartSource{Repository: secret} },
		"a URL":               func(p *plan.Plan) { p.ChartSource = &plan.ChartSource{URL: secret} },
		"a lock":              func(p *plan.Plan) { p.ChartLock = &plan.ChartLock{OutOfSync: "it is from " + secret} },
		"a problem":           func(p *plan.Plan) { p.Problems = []plan.Problem{{What: "no " + secret}} },
		"a live object":       func(p *plan.Plan) { p.Stages = step(map[string]any{"a": secret}) },
		"a key of it":         func(p *plan.Plan) { p.Stages = step(map[string]any{secret: 1}) },
		"an item of its list": func(p *plan.Plan) { p.Stages = step([]any{"a", secret}) },
	} {
		p := &plan.Plan{Bundle: plan.Bundle{Secrets: [][]byte{[]byte(secret), []byte("canary-elsewhere")}}}
		put(p)
		if diff := cmp.Diff([][]byte{[]byte(secret)}, Recurring(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", place, diff)
		}
	}
}
