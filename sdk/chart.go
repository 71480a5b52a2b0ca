package sdk

import (
	"context"
	"errors"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Chart is a loaded chart. No function of this package changes it.
type Chart struct {
	chart    *chart.Chart
	warnings []chart.Warning
	// pin is where the chart was fetched from, nil for a folder or a file.
	pin *plan.ChartSource
}

// LoadChart reads a chart from a folder or a .tgz file. Links that lead out of the
// folder are refused, and so are archives in charts/ that are not those of the chart's lock. Errors
// name the file that is wrong.
func LoadChart(path string) (*Chart, error) {
	loaded, warnings, err := dependency.Verified(chartload.Load(path, chartload.Options{}))
	if err != nil {
		return nil, err
	}
	return &Chart{chart: loaded, warnings: warnings}, nil
}

// Name returns the chart's name from Chart.yaml.
func (c *Chart) Name() string { return c.chart.Metadata.Name }

// Version returns the chart's version from Chart.yaml.
func (c *Chart) Version() string { return c.chart.Metadata.Version }

// AppVersion returns the application's version from Chart.yaml.
func (c *Chart) AppVersion() string { return c.chart.Metadata.AppVersion }

func (c *Chart) source(values map[string]any) (engine.Source, error) {
	if c == nil || c.chart == nil {
		return engine.Source{}, errors.New("a chart is required")
	}
	table, err := plainTable(values)
	return engine.Source{Chart: c.chart, Fetched: c.pin, Lock: source.LockOf(c.chart), Warnings: c.warnings, Values: table}, err
}

// Rendering is a rendered chart.
type Rendering struct {
	// Manifest is what is applied, in install order, as helm template prints it but without hooks,
	// which are in Hooks, and without the CRDs of crds/.
	Manifest string
	Hooks    []string
	Notes    string
}

// TemplateOptions are what templates see of a cluster and an operation. The zero value is usable.
type TemplateOptions struct {
	// KubeVersion is a version such as "1.36"; "" is the newest that this version of the package
	// knows.
	KubeVersion string
	// APIVersions are served in addition to Kubernetes' own: "monitoring.coreos.com/v1".
	APIVersions []string
	// Upgrade renders as an upgrade instead of an install.
	Upgrade bool
}

// Template renders a chart without a cluster; lookup finds nothing. Errors name the
// template and line.
func Template(ctx context.Context, r Release, c *Chart, values map[string]any, o TemplateOptions) (*Rendering, error) {
	caps := templating.DefaultCapabilities()
	if o.KubeVersion != "" {
		version, err := templating.ParseKubeVersion(o.KubeVersion)
		if err != nil {
			return nil, err
		}
		caps.KubeVersion = version
	}
	caps.APIVersions = append(caps.APIVersions, o.APIVersions...)
	moment := engine.Moment{Key: r.key(), Revision: 1, IsInstall: !o.Upgrade, IsUpgrade: o.Upgrade}
	source, err := c.source(values)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Render(ctx, source, moment, caps, nil)
	if err != nil {
		return nil, err
	}
	out := &Rendering{Manifest: manifest.Text(rendered.Classified.Documents), Notes: rendered.Notes}
	for _, hook := range rendered.Classified.Hooks {
		out.Hooks = append(out.Hooks, hook.Manifest)
	}
	return out, nil
}
