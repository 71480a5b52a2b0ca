package releaseset

import (
	"bytes"
	"fmt"
	"path/filepath"

	yaml "sigs.k8s.io/yaml/goyaml.v3"
)

// printed is a release as Format writes it and declared reads it.
type printed struct {
	Name       string            `yaml:"name"`
	Namespace  string            `yaml:"namespace"`
	Cluster    string            `yaml:"cluster,omitempty"`
	Chart      any               `yaml:"chart,omitempty"`
	Values     []any             `yaml:"values,omitempty"`
	Set        []string          `yaml:"set,omitempty"`
	SetString  []string          `yaml:"setString,omitempty"`
	SetFile    []string          `yaml:"setFile,omitempty"`
	SetJSON    []string          `yaml:"setJson,omitempty"`
	SetLiteral []string          `yaml:"setLiteral,omitempty"`
	Needs      []string          `yaml:"needs,omitempty"`
	Labels     map[string]string `yaml:"labels,omitempty"`
	Installed  *bool             `yaml:"installed,omitempty"`
	Options    map[string]any    `yaml:",inline"`
}

// Format returns the set as a releases.yaml, whatever its files' format: to be read, or
// to continue with. Paths are relative to the folder dir. Errors: inline values that
// are not YAML.
func (s *Set) Format(dir string) ([]byte, error) {
	var releases []printed
	for i := range s.Entries {
		p, err := s.Entries[i].printed(dir)
		if err != nil {
			return nil, fmt.Errorf("print %s: %w", s.Entries[i].Key, err)
		}
		releases = append(releases, p)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(struct {
		Version  int                `yaml:"version"`
		Clusters map[string]Cluster `yaml:"clusters,omitempty"`
		Releases []printed          `yaml:"releases"`
	}{fileVersion, s.Clusters, releases})
	return b.Bytes(), err
}

func (e *Entry) printed(dir string) (printed, error) {
	p := printed{
		Name: e.Name, Namespace: e.Namespace, Cluster: e.Cluster, Labels: e.Labels,
		Set: e.Settings.Set, SetString: e.Settings.String, SetJSON: e.Settings.JSON, SetLiteral: e.Settings.Literal,
	}
	switch {
	case e.Chart.Path != "":
		p.Chart = relative(dir, e.Chart.Path)
	case e.Chart.Name != "":
		p.Chart = chartFields{e.Chart.Repo, e.Chart.Name, e.Chart.Version}
	}
	for _, v := range e.Values {
		if v.File != "" {
			p.Values = append(p.Values, relative(dir, v.File))
			continue
		}
		var node yaml.Node
		if err := yaml.Unmarshal(v.Inline, &node); err != nil {
			return p, err
		}
		if len(node.Content) > 0 {
			p.Values = append(p.Values, node.Content[0])
		}
	}
	for _, text := range e.Settings.File {
		key, name, _ := bytes.Cut([]byte(text), []byte("="))
		p.SetFile = append(p.SetFile, string(key)+"="+relative(dir, string(name)))
	}
	for _, need := range e.Needs {
		p.Needs = append(p.Needs, need.String())
	}
	if e.Uninstalled {
		p.Installed = new(bool)
	}
	options, err := yaml.Marshal(e.Options)
	if err != nil {
		return p, err
	}
	return p, yaml.Unmarshal(options, &p.Options)
}

// chartFields are the fields of a chart in a releases.yaml.
type chartFields struct {
	Repo    string `yaml:"repo,omitempty"`
	Name    string `yaml:"name"`
	Version string `yaml:"version,omitempty"`
}

// relative returns a path of the tree relative to one of its folders.
func relative(dir, name string) string {
	out, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(out)
}
