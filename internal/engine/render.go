package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Source is the chart and the values that a release is rendered from.
type Source struct {
	Chart    *chart.Chart
	Warnings []chart.Warning
	// Fetched is where the chart was fetched from; nil for a folder or a file.
	Fetched *plan.ChartSource
	// Lock is the lock of the chart's dependencies, or nil.
	Lock *plan.ChartLock
	// Values are the user's values.
	Values map[string]any
	// Secrets are the contents of Secrets that Values come from: they are masked wherever they
	// appear.
	Secrets [][]byte
	// Folder is the chart's folder, as the user wrote it; "" for an archive or a fetched chart.
	Folder string
	// File is what places point to if there is no folder: the archive or, for a fetched chart, a file
	// of values; "" if there is none.
	File string
	// Path returns the name that a plan shows for a file; nil leaves names as they are.
	Path func(name string) string
	// Origins returns, for each path, the flag or file that set the value there; nil if that is not
	// known.
	Origins func(paths [][]string) []values.Origin
	Reuse   values.Reuse
	Render  RenderOptions
}

// AllValues returns the tables that the chart may quote in an error: the user's values, and the defaults
// of the chart and its subcharts.
func (s Source) AllValues() []any {
	tables := []any{s.Values}
	s.eachChart(func(c *chart.Chart) { tables = append(tables, c.Values) })
	return tables
}

// ChartNames returns the names of the chart and its subcharts.
func (s Source) ChartNames() []string {
	var names []string
	s.eachChart(func(c *chart.Chart) { names = append(names, c.Name()) })
	return names
}

// eachChart calls do with the chart, if there is one, and with each of its subcharts.
func (s Source) eachChart(do func(*chart.Chart)) {
	var visit func(*chart.Chart)
	visit = func(c *chart.Chart) {
		do(c)
		for _, sub := range c.Dependencies() {
			visit(sub)
		}
	}
	if s.Chart != nil {
		visit(s.Chart)
	}
}

// RenderOptions change how the chart is rendered.
type RenderOptions struct {
	SkipSchema    bool
	DNS           bool
	SubchartNotes bool
	Strict        bool
	// PostRender rewrites the whole rendered manifest; nil leaves it alone. Each document, before and
	// after, begins with the comment of manifest.Text.
	PostRender func(ctx context.Context, manifest string) (string, error)
	// CRDLabels are added to the objects of crds/ folders, which PostRender does not see.
	CRDLabels map[string]string
	// Undiscovered are the cluster's APIs that can't be discovered, see templating.Options.
	Undiscovered map[string]string
	// Recall is shared by renderings that are compared, see templating.Recall.
	Recall *templating.Recall
}

// Moment is the release as templates see it.
type Moment struct {
	Key       release.Key
	Revision  int
	IsInstall bool
	IsUpgrade bool
}

// Rendering is a rendered chart.
type Rendering struct {
	// Chart is the tree with its dependencies processed.
	Chart      *chart.Chart
	Config     map[string]any
	Classified manifest.Classified
	Notes      string
	Warnings   []chart.Warning
}

// InvalidYAMLError says that templates rendered YAML that can't be read.
type InvalidYAMLError struct {
	// Files are what all templates rendered.
	Files []manifest.File
	// Err names the file at fault.
	Err error
}

func (e *InvalidYAMLError) Error() string { return e.Err.Error() }

// Unwrap returns the error of manifest.Classify.
func (e *InvalidYAMLError) Unwrap() error { return e.Err }

// Render merges values, renders the chart and classifies the result. lookup is nil if there is no
// cluster. Errors name the chart's file, among them *InvalidYAMLError.
func Render(ctx context.Context, s Source, m Moment, caps *templating.Capabilities, lookup templating.LookupFunc) (Rendering, error) {
	c, warnings, err := values.ProcessDependencies(s.Chart, s.Values)
	if err != nil {
		return Rendering{}, err
	}
	s.Warnings = slices.Concat(s.Warnings, warnings)
	return render(ctx, s, c, m, caps, lookup)
}

// render renders c, the source's chart with its dependencies processed.
func render(ctx context.Context, s Source, c *chart.Chart, m Moment, caps *templating.Capabilities, lookup templating.LookupFunc) (Rendering, error) {
	if err := installable(s.Chart, caps); err != nil {
		return Rendering{}, err
	}
	info := values.ReleaseInfo{
		Name: m.Key.Name, Namespace: m.Key.Namespace, Revision: m.Revision,
		IsInstall: m.IsInstall, IsUpgrade: m.IsUpgrade, Service: "Helm",
	}
	top, warnings, err := values.RenderValues(c, s.Values, info, caps)
	if err != nil {
		return Rendering{}, err
	}
	table, _ := top["Values"].(map[string]any)
	valid := func() error { return nil }
	if !s.Render.SkipSchema {
		valid = validation(c, table)
	}
	unknown := values.FindUnknownKeys(s.Chart, c, s.Values, table)
	rendered, err := templating.Render(c, top, templating.Options{
		Strict: s.Render.Strict, DNS: s.Render.DNS, SubchartNotes: s.Render.SubchartNotes, Lookup: lookup,
		Watch: watchedTables(unknown), Recall: s.Render.Recall, Undiscovered: s.Render.Undiscovered,
	})
	if err := valid(); err != nil {
		return Rendering{}, err
	}
	unread := unusedValues(s, table, unknown, rendered.Seen)
	if err != nil {
		return Rendering{}, withHints(err, unread)
	}
	out := Rendering{
		Chart: c, Config: s.Values, Notes: rendered.Notes,
		Warnings: slices.Concat(s.Warnings, warnings, unread, exponents(rendered), unknownKinds(rendered)),
	}
	if out.Classified, err = manifest.Classify(rendered.Files); err != nil {
		return Rendering{}, &InvalidYAMLError{Files: rendered.Files, Err: err}
	}
	for _, d := range out.Classified.Dropped {
		out.Warnings = append(out.Warnings, chart.Warning{Where: d.Path, What: "its hook event is unknown, so the object is left out"})
	}
	err = postRender(ctx, s.Render.PostRender, &out)
	out.Warnings = uniqueWarnings(append(out.Warnings, duplicates(out.Classified)...))
	return out, err
}

// validation checks values against the charts' schemas while the templates are rendered: compiling
// a large schema takes a fifth of the total time. It works on a copy, since templates may change
// values. The returned function waits for the result.
func validation(c *chart.Chart, table map[string]any) func() error {
	table = values.Clone(table)
	done := make(chan error, 1)
	go func() { done <- values.Validate(c, table) }()
	return func() error { return <-done }
}

// installable returns an error for library charts, missing dependencies, and charts for other
// versions of Kubernetes.
func installable(c *chart.Chart, caps *templating.Capabilities) error {
	if t := c.Metadata.Type; t != "" && t != "application" {
		return fmt.Errorf("chart %s is of type %s, which can't be installed", c.Name(), t)
	}
	if err := values.CheckDependencies(c); err != nil {
		return err
	}
	want := c.Metadata.KubeVersion
	if want == "" {
		return nil
	}
	constraint, err := semver.NewConstraint(want)
	if err != nil {
		return fmt.Errorf("chart %s: kubeVersion %q: %w", c.Name(), want, err)
	}
	have, err := semver.NewVersion(caps.KubeVersion.String())
	if err != nil {
		return fmt.Errorf("chart %s: the cluster's version %q: %w", c.Name(), caps.KubeVersion.Version, err)
	}
	if constraint.Check(have) {
		return nil
	}
	why := ""
	if constraint.Check(semver.New(have.Major(), have.Minor(), have.Patch(), "", "")) {
		why = ", whose suffix makes it a pre-release: the range has to allow these, as >=1.25.0-0 does"
	}
	return fmt.Errorf("chart %s needs Kubernetes %s, and this is %s%s", c.Name(), want, caps.KubeVersion.Version, why)
}

// digest returns a SHA-256 in hex over the names and contents of all files of a chart and its
// dependencies.
func digest(c *chart.Chart) string {
	sum := sha256.New()
	var add func(prefix string, c *chart.Chart)
	add = func(prefix string, c *chart.Chart) {
		lines := make([]string, 0, len(c.Raw))
		for _, f := range c.Raw {
			lines = append(lines, fmt.Sprintf("%s %x\n", f.Name, sha256.Sum256(f.Data)))
		}
		slices.Sort(lines)
		fmt.Fprintf(sum, "%s\n%s", prefix, strings.Join(lines, ""))
		for _, sub := range c.Dependencies() {
			add(prefix+"/"+sub.Name(), sub)
		}
	}
	add(c.Name(), c)
	return hex.EncodeToString(sum.Sum(nil))
}

func digestedRef(c *chart.Chart) plan.ChartRef {
	ref := plan.ChartOf(c)
	ref.Digest = digest(c)
	return ref
}
