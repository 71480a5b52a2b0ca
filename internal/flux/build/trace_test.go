package build

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Checks 19 and 20 of FLUX.md: what a chart renders, post-rendered as its
// HelmRelease says, is byte for byte the manifest and the hooks of the record.
func TestCheck19And20ManifestsEqualTheTraces(t *testing.T) {
	checked := 0
	for _, trace := range fluxtest.Traces(t) {
		for i, step := range trace.Steps {
			hr := step.HelmRelease
			if hr == nil || len(step.Actions) == 0 || hr.Status.LastAttemptedGeneration != hr.Metadata.Generation {
				continue
			}
			for _, r := range step.Records {
				action := step.Actions[len(step.Actions)-1]
				if r.Name != hr.ReleaseName() || r.Info.Status != release.StatusDeployed || stored(trace, i, r) || (action != "install" && action != "upgrade") {
					continue
				}
				dir := filepath.Join(trace.Dir, "chart", r.Chart.Metadata.Name+"-"+strings.Split(r.Chart.Metadata.Version, "+")[0])
				if _, err := os.Stat(dir); err != nil {
					continue
				}
				checked++
				compare(t, step.Name, dir, hr, r.Revision)
			}
		}
	}
	t.Logf("%d manifests", checked)
}

// stored reports whether the record existed before the step.
func stored(trace *fluxtest.Trace, i int, r fluxtest.Record) bool {
	if i == 0 {
		return false
	}
	for _, was := range trace.Steps[i-1].Records {
		if was.Name == r.Name && was.Version == r.Version && was.Info.LastDeployed.Equal(r.Info.LastDeployed) {
			return true
		}
	}
	return false
}

func compare(t *testing.T, step, dir string, hr *flux.HelmRelease, r *release.Revision) {
	t.Helper()
	ctx := t.Context()
	loaded, warnings, err := chartload.Load(dir, chartload.Options{})
	if err != nil {
		t.Fatalf("%s: %v", step, err)
	}
	loaded.Metadata.Version = r.Chart.Metadata.Version
	got, err := engine.Render(ctx, engine.Source{
		Chart: loaded, Warnings: warnings, Values: r.Config,
		Render: engine.RenderOptions{PostRender: func(_ context.Context, text string) (string, error) { return PostRender(hr, text) }},
	}, engine.Moment{Key: release.Key{Namespace: r.Namespace, Name: r.Name}, Revision: r.Version, IsInstall: r.Version == 1, IsUpgrade: r.Version > 1}, templating.DefaultCapabilities(), nil)
	if err != nil {
		t.Errorf("%s: %v", step, err)
		return
	}
	if text := manifest.Text(got.Classified.Documents); text != r.Manifest {
		t.Errorf("%s: manifest\n%q\nwant\n%q", step, text, r.Manifest)
	}
	hooks := map[string]string{}
	for _, h := range got.Classified.Hooks {
		hooks[h.Name] = h.Manifest
	}
	for _, h := range r.Hooks {
		if hooks[h.Name] != h.Manifest {
			t.Errorf("%s: hook %s\n%q\nwant\n%q", step, h.Name, hooks[h.Name], h.Manifest)
		}
	}
}
