package helmfile

import (
	"maps"
	"slices"

	yaml "sigs.k8s.io/yaml/goyaml.v3"
)

// fields are the fields of a helmfile that are read.
type fields struct {
	Bases        []string             `yaml:"bases"`
	Environments map[string]yaml.Node `yaml:"environments"`
	Values       []yaml.Node          `yaml:"values"`
	Repositories []repository         `yaml:"repositories"`
	HelmDefaults helmDefaults         `yaml:"helmDefaults"`
	CommonLabels map[string]string    `yaml:"commonLabels"`
	Namespace    string               `yaml:"namespace"`
	KubeContext  string               `yaml:"kubeContext"`
	MissingFile  string               `yaml:"missingFileHandler"`
	Helmfiles    []yaml.Node          `yaml:"helmfiles"`
	Releases     []yaml.Node          `yaml:"releases"`
	Rendered     yaml.Node            `yaml:"renderedvalues"`

	// files are those that Releases come from, in the same order.
	files []string
}

type repository struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
	OCI  bool   `yaml:"oci"`
}

type environment struct {
	Values      []yaml.Node `yaml:"values"`
	KubeContext string      `yaml:"kubeContext"`
	MissingFile string      `yaml:"missingFileHandler"`
}

type nested struct {
	Path      string   `yaml:"path"`
	Selectors []string `yaml:"selectors"`
}

// options are those that helmDefaults and releases have in common. Times are in seconds.
type options struct {
	Wait              *bool    `yaml:"wait"`
	WaitForJobs       *bool    `yaml:"waitForJobs"`
	Timeout           *int     `yaml:"timeout"`
	Atomic            *bool    `yaml:"atomic"`
	RollbackOnFailure *bool    `yaml:"rollbackOnFailure"`
	CleanupOnFail     *bool    `yaml:"cleanupOnFail"`
	HistoryMax        *int     `yaml:"historyMax"`
	CreateNamespace   *bool    `yaml:"createNamespace"`
	Force             *bool    `yaml:"force"`
	TakeOwnership     *bool    `yaml:"takeOwnership"`
	ServerSide        string   `yaml:"serverSide"`
	ForceConflicts    *bool    `yaml:"forceConflicts"`
	SkipCRDs          *bool    `yaml:"skipCRDs"`
	SkipSchema        *bool    `yaml:"skipSchemaValidation"`
	Args              []string `yaml:"args"`
	DiffArgs          []string `yaml:"diffArgs"`
	SyncArgs          []string `yaml:"syncArgs"`
}

type helmDefaults struct {
	options     `yaml:",inline"`
	KubeContext string `yaml:"kubeContext"`
}

type release struct {
	Name        string            `yaml:"name"`
	Namespace   string            `yaml:"namespace"`
	Chart       string            `yaml:"chart"`
	Version     string            `yaml:"version"`
	Values      []yaml.Node       `yaml:"values"`
	Secrets     []yaml.Node       `yaml:"secrets"`
	Set         []setting         `yaml:"set"`
	SetString   []setting         `yaml:"setString"`
	Labels      map[string]string `yaml:"labels"`
	Needs       []string          `yaml:"needs"`
	Installed   *bool             `yaml:"installed"`
	Condition   string            `yaml:"condition"`
	KubeContext string            `yaml:"kubeContext"`
	Description string            `yaml:"description"`
	MissingFile string            `yaml:"missingFileHandler"`
	options     `yaml:",inline"`
}

type setting struct {
	Name   string   `yaml:"name"`
	Value  string   `yaml:"value"`
	Values []string `yaml:"values"`
	File   string   `yaml:"file"`
}

// place records the file that a part's releases come from.
func (f *fields) place(file string) {
	f.files = nil
	for range f.Releases {
		f.files = append(f.files, file)
	}
}

// add merges a later part over earlier ones.
func (f *fields) add(part fields) {
	f.Repositories = append(f.Repositories, part.Repositories...)
	f.Helmfiles = append(f.Helmfiles, part.Helmfiles...)
	f.Releases, f.files = append(f.Releases, part.Releases...), append(f.files, part.files...)
	if f.CommonLabels == nil {
		f.CommonLabels = map[string]string{}
	}
	maps.Copy(f.CommonLabels, part.CommonLabels)
	f.HelmDefaults.options = part.HelmDefaults.over(f.HelmDefaults.options)
	for _, text := range []struct{ to, from *string }{
		{&f.Namespace, &part.Namespace},
		{&f.KubeContext, &part.KubeContext},
		{&f.MissingFile, &part.MissingFile},
		{&f.HelmDefaults.KubeContext, &part.HelmDefaults.KubeContext},
	} {
		if *text.from != "" {
			*text.to = *text.from
		}
	}
}

// over returns o's options where they are set, else below's; arguments are joined.
func (o options) over(below options) options {
	out := below
	for _, b := range []struct{ to, from **bool }{
		{&out.Wait, &o.Wait},
		{&out.WaitForJobs, &o.WaitForJobs},
		{&out.Atomic, &o.Atomic},
		{&out.RollbackOnFailure, &o.RollbackOnFailure},
		{&out.CleanupOnFail, &o.CleanupOnFail},
		{&out.CreateNamespace, &o.CreateNamespace},
		{&out.Force, &o.Force},
		{&out.TakeOwnership, &o.TakeOwnership},
		{&out.ForceConflicts, &o.ForceConflicts},
		{&out.SkipCRDs, &o.SkipCRDs},
		{&out.SkipSchema, &o.SkipSchema},
	} {
		if *b.from != nil {
			*b.to = *b.from
		}
	}
	if o.Timeout != nil {
		out.Timeout = o.Timeout
	}
	if o.HistoryMax != nil {
		out.HistoryMax = o.HistoryMax
	}
	if o.ServerSide != "" {
		out.ServerSide = o.ServerSide
	}
	out.Args = append(slices.Clone(out.Args), slices.Concat(o.Args, o.DiffArgs, o.SyncArgs)...)
	return out
}
