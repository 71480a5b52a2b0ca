package releaseset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"

	yaml "sigs.k8s.io/yaml/goyaml.v3"
)

// file is a releases.yaml: our own format. It has no templates; see docs/pull-requests.md.
type file struct {
	Version  int                `yaml:"version"`
	Defaults yaml.Node          `yaml:"defaults"`
	Clusters map[string]Cluster `yaml:"clusters"`
	Releases []yaml.Node        `yaml:"releases"`
}

// declared is an element of releases. The defaultables that it omits come from defaults.
type declared struct {
	Name string `yaml:"name"`
	// Each repeats the element, with ${each} replaced.
	Each         []string    `yaml:"each"`
	Chart        yaml.Node   `yaml:"chart"`
	Version      string      `yaml:"version"`
	Values       []yaml.Node `yaml:"values"`
	Set          []string    `yaml:"set"`
	SetString    []string    `yaml:"setString"`
	SetFile      []string    `yaml:"setFile"`
	SetJSON      []string    `yaml:"setJson"`
	SetLiteral   []string    `yaml:"setLiteral"`
	Needs        []string    `yaml:"needs"`
	defaultables `yaml:",inline"`
}

// defaultables are the fields that defaults may set for every release.
type defaultables struct {
	Namespace string            `yaml:"namespace"`
	Cluster   string            `yaml:"cluster"`
	Labels    map[string]string `yaml:"labels"`
	Installed *bool             `yaml:"installed"`
	Options   `yaml:",inline"`
}

const (
	fileVersion = 1
	each        = "${each}"
)

var ownVersion = regexp.MustCompile(`(?m)^(version:\s*|["']version["']:\s*|\{\s*version:\s*)\d`)

// Own reports whether Read is the one to read a file with this content: it begins with
// a version, which the other formats do not have.
func Own(data []byte) bool { return ownVersion.Match(data) }

var setKeys = regexp.MustCompile(`(?m)^(?:releases|helmfiles):`)

// Declares reports whether a file with this content has the keys by which a releases.yaml or a helmfile declares releases.
func Declares(data []byte) bool { return setKeys.Match(data) }

// Read reads a releases.yaml of a tree. Errors name the file and the line: an unknown
// field, a path that leads out of the tree, needs that do not exist or form a cycle.
func Read(tree Tree, name string) (*Set, error) {
	data, err := ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	var root yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&root); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if more := decoder.Decode(new(yaml.Node)); !errors.Is(more, io.EOF) {
		return nil, fmt.Errorf("%s: it holds more than one document", name)
	}
	var f file
	if err := Decode(name, root.Content[0], &f); err != nil {
		return nil, err
	}
	if f.Version != fileVersion {
		return nil, fmt.Errorf("%s: version %d is not supported: it must be %d", name, f.Version, fileVersion)
	}
	r := reader{tree: tree, file: name, dir: path.Dir(name), clusters: f.Clusters}
	if f.Defaults.Kind != 0 {
		if err := Decode(name, &f.Defaults, new(defaultables)); err != nil {
			return nil, err
		}
		r.defaults = &f.Defaults
	}
	return r.set(f.Releases)
}

// reader reads the releases of one file.
type reader struct {
	tree      Tree
	file, dir string
	clusters  map[string]Cluster
	defaults  *yaml.Node
}

func (r *reader) set(releases []yaml.Node) (*Set, error) {
	out := &Set{Clusters: r.clusters}
	var needs [][]string
	var errs []error
	for i := range releases {
		repeats, err := repeated(&releases[i])
		if err != nil {
			errs = append(errs, at(r.file, releases[i].Line, "%v", err))
		}
		for _, node := range repeats {
			e, needed, err := r.entry(node)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			out.Entries, needs = append(out.Entries, e), append(needs, needed)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i := range out.Entries {
		e := &out.Entries[i]
		for _, need := range needs[i] {
			key, err := ResolveNeed(out.Entries, e.Key, need)
			if err != nil {
				errs = append(errs, &FieldError{e.From, err.Error()})
				continue
			}
			e.Needs = append(e.Needs, key)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := out.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", r.file, err)
	}
	return out, nil
}

// mostRepeated limits the nodes of all elements that an element with each stands for.
const mostRepeated = 10 * mostNodes

// repeated returns the elements that an element with each stands for, else the element itself. Errors: they
// are too large.
func repeated(node *yaml.Node) ([]*yaml.Node, error) {
	var names []string
	if list := KeyNode(node, "each"); list == nil || list.Decode(&names) != nil {
		return []*yaml.Node{node}, nil
	}
	left := mostNodes
	whole, err := withoutAliases(node, &left)
	if err != nil {
		return nil, err
	}
	KeyNode(whole, "each").Content = nil
	if (mostNodes-left-len(names))*len(names) > mostRepeated {
		return nil, fmt.Errorf("each has %d names, which are too many for a release of this size", len(names))
	}
	var out []*yaml.Node
	for _, name := range names {
		out = append(out, replaced(whole, each, name))
	}
	return out, nil
}
