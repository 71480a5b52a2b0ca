package chart

import "time"

// Metadata is the content of Chart.yaml, field for field as Helm 4.3.1 knows it
// (https://github.com/helm/helm/blob/v4.3.1/pkg/chart/v2/metadata.go).
type Metadata struct {
	Name         string            `json:"name,omitempty"`
	Home         string            `json:"home,omitempty"`
	Sources      []string          `json:"sources,omitempty"`
	Version      string            `json:"version,omitempty"`
	Description  string            `json:"description,omitempty"`
	Keywords     []string          `json:"keywords,omitempty"`
	Maintainers  []*Maintainer     `json:"maintainers,omitempty"`
	Icon         string            `json:"icon,omitempty"`
	APIVersion   string            `json:"apiVersion,omitempty"`
	Condition    string            `json:"condition,omitempty"`
	Tags         string            `json:"tags,omitempty"`
	AppVersion   string            `json:"appVersion,omitempty"`
	Deprecated   bool              `json:"deprecated,omitempty"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	KubeVersion  string            `json:"kubeVersion,omitempty"`
	Dependencies []*Dependency     `json:"dependencies,omitempty"`
	Type         string            `json:"type,omitempty"`
}

// Maintainer is a maintainer of the chart.
type Maintainer struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
	URL   string `json:"url,omitempty"`
}

// Dependency is a subchart that Chart.yaml (or requirements.yaml) declares.
type Dependency struct {
	Name       string   `json:"name"`
	Version    string   `json:"version,omitempty"`
	Repository string   `json:"repository"`
	Condition  string   `json:"condition,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	// Enabled is the outcome of conditions and tags, kept in release records.
	Enabled      bool   `json:"enabled,omitempty"`
	ImportValues []any  `json:"import-values,omitempty"`
	Alias        string `json:"alias,omitempty"`
}

// Lock is the content of Chart.lock (requirements.lock).
type Lock struct {
	Generated    time.Time     `json:"generated"`
	Digest       string        `json:"digest"`
	Dependencies []*Dependency `json:"dependencies"`
}

// Warning is a defect in a chart or its values that does not stop Helm either. Only the command line
// prints warnings.
type Warning struct {
	// Where is a chart's path in the tree, a file, or both: "web/charts/redis",
	// "web/values.yaml". Never empty.
	Where string
	// What is one sentence without a full stop.
	What string
	// File and Line say where the defect is, if that is known: a values file as it was named, or a
	// path in the chart tree.
	File string
	Line int
}

// String returns "where: what".
func (w Warning) String() string { return w.Where + ": " + w.What }
