// Package lint finds what is wrong or odd about a chart before anybody deploys it: in
// Chart.yaml, values, schema, dependencies and CRDs, in the templates, and in the
// objects that they render. It finds everything that Helm 4.3.1's lint finds, at the
// same severity or a higher one.
//
// It reads no files, contacts no cluster and prints nothing. What it knows about the
// fields of Kubernetes' own kinds comes from Kinds.
package lint

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Severity says how bad a finding is.
type Severity string

const (
	// Info is a recommendation.
	Info Severity = "info"
	// Warning is something odd that a deployment survives.
	Warning Severity = "warning"
	// Error is what Helm's lint calls one, or what an install fails on.
	Error Severity = "error"
)

// Finding is one thing that is wrong, at one place.
type Finding struct {
	Severity Severity `json:"severity"`
	// Chart is what was linted, as the caller named it.
	Chart string `json:"chart,omitempty"`
	// Path is a file or folder in the chart, "" for the chart as a whole.
	Path string `json:"path,omitempty"`
	// Line counts from 1 in the file; 0 when it is not known.
	Line int `json:"line,omitempty"`
	// RenderedLine counts in what the template Path rendered instead.
	RenderedLine int `json:"renderedLine,omitempty"`
	// Object is KIND/NAME of the rendered object concerned, if there is one.
	Object string `json:"object,omitempty"`
	// Message is one or more lines without a final full stop.
	Message string `json:"message"`
}

// Input is a chart and how it would be deployed.
type Input struct {
	// Files are all files of the chart, even of one that can't be loaded.
	Files []*chart.File
	// Chart is the loaded chart, and Warnings are what was odd about it; Chart is nil
	// when LoadErr says why it can't be loaded.
	Chart    *chart.Chart
	Warnings []chart.Warning
	LoadErr  error
	// Values are the user's own.
	Values  map[string]any
	Options Options
}

// Options say what to check, and against what.
type Options struct {
	// Namespace is that of the release.
	Namespace string
	// Capabilities are what templates see; nil means the built-in ones.
	Capabilities *templating.Capabilities
	// ExactVersion says that the Kubernetes version is known to be the one that the
	// chart is for: APIs that it does not serve are then errors.
	ExactVersion bool
	SkipSchema   bool
	// Kinds may be nil: fields are then not checked.
	Kinds Kinds
}

// Report is the result of linting a chart.
type Report struct {
	Findings []Finding
	// Objects are the rendered objects without those that have errors.
	Objects []manifest.Object
}

// Run applies every rule. Findings are in the order of the rules, which is that
// of the files people look at: Chart.yaml, values, templates, dependencies, CRDs.
func Run(in Input) Report {
	if in.Options.Capabilities == nil {
		in.Options.Capabilities = templating.DefaultCapabilities()
	}
	r := &run{Input: in}
	r.chartFile()
	r.loaded()
	r.valuesFile()
	r.templates()
	r.dependencies()
	r.crds()
	return Report{Findings: distinct(r.findings), Objects: r.objects}
}

// run is one pass over one chart.
type run struct {
	Input
	findings []Finding
	objects  []manifest.Object
	// incomplete is set when values that the chart requires are missing: what
	// it rendered can't be judged as it would be with them.
	incomplete bool
	// hooked are the objects of the hooks that have been checked so far.
	hooked map[manifest.ID]manifest.Object
	// defined are the kinds that crds/ defines, once definitions has read it.
	defined map[schema.GroupKind]manifest.DefinedKind
}

func (r *run) add(f Finding) {
	f.Message = strings.TrimSpace(f.Message)
	r.findings = append(r.findings, f)
}

// told reports whether there is a finding with a message, at whatever path: values that do not fit the
// chart's schema are found twice, with values.yaml and before the templates are rendered.
func (r *run) told(message string) bool {
	return slices.ContainsFunc(r.findings, func(f Finding) bool { return f.Message == strings.TrimSpace(message) })
}

// loaded reports why the chart can't be loaded, or what was odd about loading it.
func (r *run) loaded() {
	if r.LoadErr != nil {
		r.add(Finding{Severity: Error, Message: "the chart can't be loaded: " + r.LoadErr.Error()})
	}
	for _, w := range r.Warnings {
		path, line, message := placed(inChart(w.Where), w.What)
		r.add(Finding{Severity: Warning, Path: path, Line: line, Message: message})
	}
}

// file returns one of the chart's files, or nil.
func (r *run) file(name string) *chart.File {
	for _, f := range r.Files {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// folder reports whether the chart has files below a folder.
func (r *run) folder(name string) bool {
	return slices.ContainsFunc(r.Files, func(f *chart.File) bool { return strings.HasPrefix(f.Name, name+"/") })
}

// distinct drops repeated findings.
func distinct(findings []Finding) []Finding {
	seen := map[Finding]bool{}
	var out []Finding
	for _, f := range findings {
		if !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}
