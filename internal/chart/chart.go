// Package chart holds the chart tree as a value: metadata, default values, templates, other files
// and subcharts, in the JSON form that Helm stores in a release record.
//
// It does not read files or archives (package chartload does), does not merge values (package
// values does) and does not render (package templating does).
package chart

import (
	"path"
	"strings"
	"time"
)

// File is one file of a chart. Name is relative to the chart's folder and
// uses slashes.
type File struct {
	Name    string    `json:"name"`
	Data    []byte    `json:"data"`
	ModTime time.Time `json:"modtime,omitzero"`
}

// Chart is one chart with its subcharts. Its JSON form is the one that Helm 3 and 4 keep in release
// records (4.3.1, pkg/chart/v2/chart.go); subcharts and raw files are not part of it.
type Chart struct {
	Metadata *Metadata      `json:"metadata"`
	Lock     *Lock          `json:"lock"`
	Values   map[string]any `json:"values"`
	Schema   []byte         `json:"schema"`

	// SchemaModTime and ModTime are only in Helm 4's records.
	SchemaModTime time.Time `json:"schemamodtime,omitzero"`
	ModTime       time.Time `json:"modtime,omitzero"`

	// Templates are the files below templates/, Files all that are neither
	// templates, subcharts nor chart metadata (crds/ and README included).
	Templates []*File `json:"templates"`
	Files     []*File `json:"files"`

	// Raw holds every file as it was read, values.yaml with its comments included. It is for
	// commands that show files, such as show and lint.
	Raw []*File `json:"-"`

	parent       *Chart
	dependencies []*Chart
}

// Name returns the chart's name from Chart.yaml, or its alias once dependencies
// have been processed; "" without metadata.
func (c *Chart) Name() string {
	if c.Metadata == nil {
		return ""
	}
	return c.Metadata.Name
}

// Parent returns the chart that this one is a subchart of, or nil.
func (c *Chart) Parent() *Chart { return c.parent }

// Dependencies returns the loaded subcharts in the order in which they were added.
func (c *Chart) Dependencies() []*Chart { return c.dependencies }

// AddDependency appends subcharts and makes c their parent.
func (c *Chart) AddDependency(subcharts ...*Chart) {
	for _, sub := range subcharts {
		sub.parent = c
		c.dependencies = append(c.dependencies, sub)
	}
}

// SetDependencies replaces all subcharts.
func (c *Chart) SetDependencies(subcharts ...*Chart) {
	c.dependencies = nil
	c.AddDependency(subcharts...)
}

// FullPath returns the path of the chart from the root of the tree, such as
// "web/charts/redis". Template names begin with it.
func (c *Chart) FullPath() string {
	if c.parent == nil {
		return c.Name()
	}
	return c.parent.FullPath() + "/charts/" + c.Name()
}

// IsLibrary reports whether the chart only offers named templates.
func (c *Chart) IsLibrary() bool {
	return c.Metadata != nil && strings.EqualFold(c.Metadata.Type, "library")
}

// CRD is a file of a crds/ folder.
type CRD struct {
	// Path is the file's full path in the tree: "web/charts/redis/crds/a.yaml".
	Path string
	Data []byte
}

// CRDs returns the files in crds/ of this chart and then of its subcharts, in file order. Only
// names with a manifest's extension (.yaml, .yml, .json) count (Helm 4.3.1, pkg/chart/v2/chart.go,
// CRDObjects).
func (c *Chart) CRDs() []CRD {
	var crds []CRD
	for _, f := range c.Files {
		if strings.HasPrefix(f.Name, "crds/") && isManifestFile(f.Name) {
			crds = append(crds, CRD{Path: path.Join(c.FullPath(), f.Name), Data: f.Data})
		}
	}
	for _, sub := range c.dependencies {
		crds = append(crds, sub.CRDs()...)
	}
	return crds
}

func isManifestFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
