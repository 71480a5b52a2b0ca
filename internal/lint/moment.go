package lint

import (
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// moment is the release as templates see it. The zero moment is that of Helm 4.3.1's lint, neither an
// install nor an upgrade (pkg/chart/v2/lint/rules/template.go, Lint).
type moment struct {
	revision  int
	isInstall bool
}

// asksForInstall reports whether a template of the chart or a subchart may render something else at a
// first install.
func asksForInstall(c *chart.Chart) bool {
	return slices.ContainsFunc(c.Templates, func(t *chart.File) bool {
		text := string(t.Data)
		return strings.Contains(text, "IsInstall") || strings.Contains(text, "Release.Revision")
	}) || slices.ContainsFunc(c.Dependencies(), asksForInstall)
}

// join adds what was found in another moment, and not in this one at another line.
func (r *run) join(other *run) {
	found, rendered := map[Finding]bool{}, map[manifest.ID]bool{}
	for _, f := range r.findings {
		f.RenderedLine = 0
		found[f] = true
	}
	for _, f := range other.findings {
		anywhere := f
		if anywhere.RenderedLine = 0; !found[anywhere] {
			r.add(f)
		}
	}
	for _, o := range r.objects {
		rendered[o.ID] = true
	}
	for _, o := range other.objects {
		if !rendered[o.ID] {
			rendered[o.ID] = true
			r.objects = append(r.objects, o)
		}
	}
	r.incomplete = r.incomplete || other.incomplete
}
