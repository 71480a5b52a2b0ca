package lint

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/templating"
)

const templatesFolder = "templates/"

// releaseName is the release's name while a chart is linted.
const releaseName = "test-release"

// templates renders the chart and checks every document. Required values may be missing.
func (r *run) templates() {
	if !r.folder("templates") {
		severity, message := Warning, "the folder does not exist or is empty"
		if r.file("templates") != nil {
			severity, message = Error, "it must be a folder, not a file"
		}
		r.add(Finding{Severity: severity, Path: templatesFolder, Message: message})
		return
	}
	if r.Chart == nil {
		return
	}
	r.moment(moment{})
	if asksForInstall(r.Chart) {
		install := &run{Input: r.Input, defined: r.defined, findings: slices.Clone(r.findings)}
		install.moment(moment{revision: 1, isInstall: true})
		r.join(install)
	}
}

// moment renders the chart for one and checks what it renders to.
func (r *run) moment(m moment) {
	rendered, err := r.render(m)
	if err != nil {
		if f := templateError(err); !r.told(f.Message) {
			r.add(f)
		}
		return
	}
	for _, message := range rendered.Warnings {
		r.incomplete = true
		r.add(Finding{Severity: Info, Path: templatesFolder, Message: "the chart requires further values: " + message})
	}
	for _, t := range r.Chart.Templates {
		r.extension(t.Name)
	}
	seen := map[manifest.ID]manifest.Object{}
	r.hooked = map[manifest.ID]manifest.Object{}
	for _, f := range rendered.Files {
		if strings.HasPrefix(path.Base(f.Path), "_") || strings.TrimSpace(f.Content) == "" {
			continue
		}
		r.indent(f)
		r.documents(f, seen)
	}
}

func (r *run) render(m moment) (templating.Rendered, error) {
	c, ignored, err := values.ProcessDependencies(r.Chart, r.Values)
	if err != nil {
		return templating.Rendered{}, err
	}
	info := values.ReleaseInfo{Name: releaseName, Namespace: r.Options.Namespace, Revision: m.revision, IsInstall: m.isInstall, Service: "Helm"}
	top, conflicts, err := values.RenderValues(c, r.Values, info, r.Options.Capabilities)
	if err != nil {
		return templating.Rendered{}, err
	}
	for _, w := range slices.Concat(ignored, conflicts) {
		// A chart's deprecation is reported with Chart.yaml.
		if !strings.HasSuffix(w.What, " is deprecated") {
			r.add(Finding{Severity: Warning, Path: valuesFile, Message: w.String()})
		}
	}
	if table, ok := top["Values"].(map[string]any); ok && !r.Options.SkipSchema {
		if err := values.Validate(c, table); err != nil {
			return templating.Rendered{}, err
		}
	}
	return templating.Render(c, top, templating.Options{Lint: true})
}

// templateError returns the finding for a template's error, at its line.
func templateError(err error) Finding {
	var e *templating.Error
	if !errors.As(err, &e) {
		return Finding{Severity: Error, Path: templatesFolder, Message: err.Error()}
	}
	f := Finding{Severity: Error, Path: inChart(e.File), Line: e.Line, Message: e.Message}
	if e.Expr != "" {
		f.Message = fmt.Sprintf("{{ %s }}: %s", e.Expr, e.Message)
	}
	if e.Hint != "" {
		f.Message += "; " + e.Hint
	}
	if outer := len(e.Trail) - 1; outer >= 0 {
		f.Message += fmt.Sprintf(" (called from %s)", inChart(e.Trail[outer].String()))
	}
	return f
}

// extension checks that a template's name ends in a way that Helm allows.
func (r *run) extension(name string) {
	if !slices.Contains([]string{".yaml", ".yml", ".tpl", ".txt"}, path.Ext(name)) {
		r.add(Finding{Severity: Error, Path: name, Message: "a template's name must end in .yaml, .yml, .tpl or .txt"})
	}
}

// indent warns about files whose first line is indented: whether they parse depends on
// who trims them first.
func (r *run) indent(f manifest.File) {
	n := 0
	for line := range strings.Lines(f.Content) {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			r.add(Finding{Severity: Warning, Path: inChart(f.Path), RenderedLine: n, Message: "the first line is indented: " + strings.TrimSpace(line)})
		}
		return
	}
}

// crds checks the files in crds/ folders, which are not templates.
func (r *run) crds() {
	if r.file("crds") != nil {
		r.add(Finding{Severity: Error, Path: "crds/", Message: "it must be a folder, not a file"})
		return
	}
	if r.Chart == nil {
		return
	}
	for _, crd := range r.Chart.CRDs() {
		r.crd(crd)
	}
}

func (r *run) crd(crd chart.CRD) {
	docs := manifest.Split(string(crd.Data))
	lines := startLines(string(crd.Data), docs)
	for i, doc := range docs {
		objects, err := manifest.ParseDocument(doc, crd.Path)
		if err != nil {
			r.add(Finding{Severity: Error, Path: inChart(crd.Path), Line: lines[i], Message: strings.TrimPrefix(err.Error(), crd.Path+": ")})
			continue
		}
		for _, o := range objects {
			if !o.IsCRD() {
				r.add(Finding{
					Severity: Error, Path: inChart(crd.Path), Line: lines[i], Object: o.String(),
					Message: fmt.Sprintf("only CustomResourceDefinitions of apiextensions.k8s.io belong in crds/, but this is %s %s", o.GVK().GroupVersion(), o.Kind),
				})
				continue
			}
			r.fields(o, Finding{Path: inChart(crd.Path), Line: lines[i]}, doc)
		}
	}
}
