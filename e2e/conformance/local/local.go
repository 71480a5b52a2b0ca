// Package local renders a chart with the project's own packages, as the command
// template does: load, merge, process dependencies, validate, render, classify.
// It is for comparisons that need more than the command prints.
//
// It does not fetch charts and uses no cluster.
package local

import (
	"fmt"
	"os"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Request is one render.
type Request struct {
	Release     string
	Namespace   string
	Chart       string // folder or archive
	KubeVersion string // "" for the built-in version
	Values      values.Sources
	IncludeCRDs bool
}

// Result is the result of a render.
type Result struct {
	CRDs       []chart.CRD
	Classified manifest.Classified
	Notes      string
}

// Render renders a chart once. Its errors are those that a user would see.
func Render(r Request) (Result, error) {
	loaded, _, err := chartload.Load(r.Chart, chartload.Options{})
	if err != nil {
		return Result{}, err
	}
	if t := loaded.Metadata.Type; t != "" && t != "application" {
		return Result{}, fmt.Errorf("chart %s has type %s and can't be installed", loaded.Name(), t)
	}
	if err := values.CheckDependencies(loaded); err != nil {
		return Result{}, err
	}
	user, _, err := r.Values.Merge(os.ReadFile)
	if err != nil {
		return Result{}, err
	}
	c, _, err := values.ProcessDependencies(loaded, user)
	if err != nil {
		return Result{}, err
	}
	return r.render(c, user)
}

func (r Request) render(c *chart.Chart, user map[string]any) (Result, error) {
	capabilities := templating.DefaultCapabilities()
	if r.KubeVersion != "" {
		var err error
		if capabilities.KubeVersion, err = templating.ParseKubeVersion(r.KubeVersion); err != nil {
			return Result{}, err
		}
	}
	if err := compatible(c, capabilities); err != nil {
		return Result{}, err
	}
	info := values.ReleaseInfo{Name: r.Release, Namespace: r.Namespace, Revision: 1, IsInstall: true, Service: "Helm"}
	top, _, err := values.RenderValues(c, user, info, capabilities)
	if err != nil {
		return Result{}, err
	}
	table, _ := top["Values"].(map[string]any)
	if err := values.Validate(c, table); err != nil {
		return Result{}, err
	}
	rendered, err := templating.Render(c, top, templating.Options{})
	if err != nil {
		return Result{}, err
	}
	out := Result{Notes: rendered.Notes}
	if r.IncludeCRDs {
		out.CRDs = c.CRDs()
	}
	out.Classified, err = manifest.Classify(rendered.Files)
	return out, err
}

func compatible(c *chart.Chart, capabilities *templating.Capabilities) error {
	if c.Metadata.KubeVersion == "" {
		return nil
	}
	constraint, err := semver.NewConstraint(c.Metadata.KubeVersion)
	if err != nil {
		return fmt.Errorf("chart %s: kubeVersion: %w", c.Name(), err)
	}
	v, err := semver.NewVersion(capabilities.KubeVersion.String())
	if err != nil || !constraint.Check(v) {
		return fmt.Errorf("chart %s needs Kubernetes %s and would get %s", c.Name(), c.Metadata.KubeVersion, capabilities.KubeVersion.Version)
	}
	return nil
}

// Text returns a result as the command template prints it: definitions from crds/,
// the manifest, then hooks.
func (r Result) Text() string {
	var b strings.Builder
	for _, crd := range r.CRDs {
		fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", crd.Path, crd.Data)
	}
	b.WriteString(manifest.Text(r.Classified.Documents))
	for _, h := range r.Classified.Hooks {
		fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	return b.String()
}
