package redact

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// notesPlan returns a plan with a Secret that has these values and labels, and a chart
// with defaults.
func notesPlan(values map[string]any) *plan.Plan {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "kps-grafana", "labels": map[string]any{
			"app.kubernetes.io/component": "admin-secret", "app.kubernetes.io/name": "monitoring",
		}},
		"stringData": values,
	}}
	step := plan.Step{ID: "s", Op: plan.OpCreate, Object: manifest.ID{Kind: "Secret", Name: "kps-grafana"}, Body: secret}
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "kps"}, Values: map[string]any{"adminUser": "admin", "adminPassword": "prom-operator"}}
	return &plan.Plan{
		Document: plan.Document{
			Release: release.Key{Namespace: "mon", Name: "kps"},
			Stages:  []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{step}}}}},
		},
		Bundle: plan.Bundle{Record: &release.Revision{Chart: c}},
	}
}

// A2: the commands in kube-prometheus-stack's notes can be copied.
func TestNotesArePrintedAsHelmPrintsThem(t *testing.T) {
	m := NewMask(notesPlan(map[string]any{"admin-user": "admin", "admin-password": "prom-operator", "app": "monitoring", "key": "admin-password", "part": "grafanas"}))
	notes := `Get Grafana 'admin' user password by running:
  kubectl --namespace mon get secrets kps-grafana -o jsonpath="{.data.admin-password}" | base64 -d ; echo
  kubectl get secret --namespace mon -l app.kubernetes.io/component=admin-secret,app.kubernetes.io/name=monitoring
  the password is prom-operator, see https://grafanas.example.com/grafanas-1 or my-grafanas
`
	if got := m.Notes(notes); got != notes {
		t.Errorf("notes:\n%s", got)
	}
}

func TestSecretsInNotesAreMaskedWhereTheyAreWords(t *testing.T) {
	values := map[string]any{"k": "hunter2hunter", "token": "tok3n-of-sixteen-and-more"}
	m := NewMask(notesPlan(values))
	for _, text := range []string{
		"log in with hunter2hunter.", "'hunter2hunter'", "admin:hunter2hunter@db", "PASSWORD=hunter2hunter", "hunter2hunter", "/hunter2hunter/",
		"base64: " + B64("hunter2hunter"), "https://hooks.example.com/tok3n-of-sixteen-and-more/x",
	} {
		got := m.Notes(text)
		if strings.Contains(got, "hunter2hunter") || strings.Contains(got, "tok3n") || strings.Contains(got, B64("hunter2hunter")) || !strings.Contains(got, tokenOpen) {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := m.Notes("see docs/hunter2hunter.md"); !strings.Contains(got, "docs/hunter2hunter.md") {
		t.Errorf("a part of a word: %s", got)
	}
}

// Short values are masked where they stand alone, as everywhere else; not below four characters.
func TestShortSecretsInNotes(t *testing.T) {
	p := notesPlan(map[string]any{"user": "admin", "password": "s3cret", "pin": "x7"})
	p.Record.Config = map[string]any{"adminUser": "admin", "smtp": map[string]any{"password": "Tr0ub"}}
	m := NewMask(p)
	for text, want := range map[string]bool{
		"log in as admin": false, "the password is s3cret": true, "psql postgres://admin:s3cret@db": true, "base64: " + B64("s3cret"): true,
		"smtp password: Tr0ub": true, "the pin is x7": false, "see my-s3cret-notes.md": false,
	} {
		if got := m.Notes(text); (got != text) != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Setting the chart's default as a value of one's own does not make it public.
func TestUsersValuesInNotesAreNoDefaults(t *testing.T) {
	p := notesPlan(map[string]any{"k": "prom-operator"})
	p.Record.Config = map[string]any{"adminPassword": "prom-operator"}
	if got := NewMask(p).Notes("it is prom-operator"); strings.Contains(got, "prom-operator") {
		t.Errorf("notes: %s", got)
	}
}
