package controller

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/plan"
)

// With --require-approval every plan needs an approval, otherwise only those of HelmReleases that ask for it;
// an approval is for one plan, and does not override what a policy file denies.
func TestReview(t *testing.T) {
	file := filepath.Join(t.TempDir(), "production.yaml")
	if err := os.WriteFile(file, []byte("deny: [{risk: delete, kinds: [ConfigMap], because: it is needed}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const digest, other = "sha256:1", "sha256:2"
	asks := map[string]string{flux.AnnotationPlan: flux.RequireApproval}
	approves := func(digest string) map[string]string { return map[string]string{flux.AnnotationApprove: digest} }
	deletes := &plan.Plan{Document: plan.Document{Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{
		{ID: "a", Op: plan.OpDelete, Object: manifest.ID{Kind: "ConfigMap", Name: "a"}, Risk: plan.RiskDelete},
	}}}}}}}
	for _, c := range []struct {
		why         string
		flags       []string
		annotations map[string]string
		made        *plan.Plan
		approved    bool
		held        string
		denied      bool
	}{
		{"nothing asks for it", nil, nil, &plan.Plan{}, false, "", false},
		{"the HelmRelease asks for it", nil, asks, &plan.Plan{}, false, flux.AnnotationApprove + "=" + digest, false},
		{"the flag asks for it", []string{"--require-approval"}, nil, &plan.Plan{}, false, flux.AnnotationApprove + "=" + digest, false},
		{"it is given", []string{"--require-approval"}, approves(digest), &plan.Plan{}, true, "", false},
		{"it is of another plan", []string{"--require-approval"}, approves(other), &plan.Plan{}, false, flux.AnnotationApprove + "=" + digest, false},
		{"a file denies it", []string{"--policy=" + file}, nil, deletes, false, "it is needed", true},
		{"a file denies what is approved", []string{"--policy=" + file, "--require-approval"}, approves(digest), deletes, false, "it is needed", true},
	} {
		o, err := parse(append([]string{"--runtime-namespace=a"}, c.flags...), func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		g, err := newPlanGate(o)
		if err != nil {
			t.Fatal(err)
		}
		hr := &flux.HelmRelease{}
		hr.Metadata.Namespace, hr.Metadata.Name, hr.Metadata.Annotations = "apps", "web", c.annotations
		approved, err := g.check(hr, c.made, reconcile.Summary{Text: "upgrade", Digest: digest})
		held, ok := errors.AsType[*reconcile.Held](err)
		if approved != c.approved || ok != (c.held != "") || (err != nil && !ok) {
			t.Errorf("%s: approved %v, %v", c.why, approved, err)
		} else if ok && (held.Denied != c.denied || !strings.Contains(held.Message, c.held)) {
			t.Errorf("%s: denied %v, %s", c.why, held.Denied, held.Message)
		}
	}
}
