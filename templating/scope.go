package templating

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// source is one template file with the scope it is rendered in.
type source struct {
	path  string
	text  string
	base  string
	scope Values
}

// collect returns the template files of a chart tree in the order in which they are parsed and
// rendered: deeper paths first, among equally deep ones the later name first (Helm 4.3.1,
// pkg/engine/engine.go, sortTemplates). The order matters: a later definition replaces an earlier
// one, and templates can change values.
func collect(c *chart.Chart, top map[string]any) []*source {
	byPath := map[string]*source{}
	gather(c, top, byPath)
	sources := make([]*source, 0, len(byPath))
	for _, s := range byPath {
		sources = append(sources, s)
	}
	slices.SortFunc(sources, func(a, b *source) int {
		return cmp.Or(
			cmp.Compare(strings.Count(b.path, "/"), strings.Count(a.path, "/")),
			cmp.Compare(b.path, a.path),
		)
	})
	return sources
}

// gather adds the files of a chart and its subcharts, and returns the scope of the chart: "." in
// its templates.
func gather(c *chart.Chart, parent map[string]any, into map[string]*source) map[string]any {
	subcharts := map[string]any{}
	scope := map[string]any{
		"Chart":        chartFields(c),
		"Files":        newFiles(c.Files),
		"Release":      parent["Release"],
		"Capabilities": parent["Capabilities"],
		"Values":       scopedValues(c, parent),
		"Subcharts":    subcharts,
	}
	for _, sub := range c.Dependencies() {
		subcharts[sub.Name()] = gather(sub, scope, into)
	}
	full := c.FullPath()
	for _, f := range c.Templates {
		if f == nil || c.IsLibrary() && !strings.HasPrefix(path.Base(f.Name), "_") {
			continue
		}
		name := path.Join(full, f.Name)
		into[name] = &source{path: name, text: string(f.Data), base: path.Join(full, "templates"), scope: scope}
	}
	return scope
}

// scopedValues returns the part of the parent's values that belongs to c: all of them for the root
// chart, else the table with the chart's name, or an empty one.
func scopedValues(c *chart.Chart, parent map[string]any) Values {
	values, _ := asTable(parent["Values"])
	if c.Parent() == nil {
		return values
	}
	if table, err := values.Table(c.Name()); err == nil {
		return table
	}
	return Values{}
}

// chartFields returns .Chart: the fields of Chart.yaml under their Go names.
func chartFields(c *chart.Chart) map[string]any {
	fields := c.Metadata.Fields()
	if fields == nil {
		fields = map[string]any{}
	}
	fields["IsRoot"] = c.Parent() == nil
	return fields
}
