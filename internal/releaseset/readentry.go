package releaseset

import (
	"errors"
	"fmt"
	"path"
	"strings"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// entry reads an element of releases, and returns it with the names that it needs.
func (r *reader) entry(node *yaml.Node) (Entry, []string, error) {
	var d declared
	if r.defaults != nil {
		if err := r.defaults.Decode(&d.defaultables); err != nil {
			return Entry{}, nil, at(r.file, r.defaults.Line, "%v", err)
		}
	}
	if err := Decode(r.file, node, &d); err != nil {
		return Entry{}, nil, err
	}
	e := Entry{
		Key:    Key{Cluster: d.Cluster, Namespace: d.Namespace, Name: d.Name},
		Labels: d.Labels, Options: d.Options, Uninstalled: d.Installed != nil && !*d.Installed,
		Settings: Settings{JSON: d.SetJSON, Set: d.Set, String: d.SetString, Literal: d.SetLiteral},
		From:     Place{r.file, node.Line},
	}
	var errs []error
	wrong := func(line int, err error) {
		if err != nil {
			errs = append(errs, at(r.file, line, "%v", err))
		}
	}
	wrong(node.Line, e.complete(r.clusters))
	var err error
	if e.Chart, err = r.chart(&d); err != nil {
		wrong(node.Line, err)
	}
	for i := range d.Values {
		v, err := r.value(&d.Values[i])
		wrong(d.Values[i].Line, err)
		e.Values = append(e.Values, v)
	}
	for _, text := range d.SetFile {
		text, err := fromRoot(r.dir, text)
		wrong(node.Line, err)
		e.Settings.File = append(e.Settings.File, text)
	}
	return e, d.Needs, errors.Join(errs...)
}

// complete returns what an entry lacks.
func (e *Entry) complete(clusters map[string]Cluster) error {
	switch e.Options.ServerSide {
	case "", "auto", "true", "false":
	default:
		return fmt.Errorf("serverSide must be auto, true or false, not %q", e.Options.ServerSide)
	}
	if e.Name == "" {
		return errors.New("the release has no name")
	}
	if e.Namespace == "" {
		return fmt.Errorf("release %s has no namespace: set it here or in defaults", e.Name)
	}
	if _, known := clusters[e.Cluster]; e.Cluster != "" && !known {
		return fmt.Errorf("release %s is for cluster %q, which is not declared in clusters", e.Name, e.Cluster)
	}
	return nil
}

// chart reads "charts/web", "repository/name" or {repo, name, version}.
func (r *reader) chart(d *declared) (Chart, error) {
	var c Chart
	switch d.Chart.Kind {
	case yaml.ScalarNode:
		return ChartAt(r.tree, r.dir, d.Chart.Value, d.Version)
	case yaml.MappingNode:
		var given chartFields
		if err := Decode(r.file, &d.Chart, &given); err != nil {
			return c, err
		}
		if given.Name == "" {
			return c, errors.New("chart has no name")
		}
		c = Chart{Name: given.Name, Repo: given.Repo, Version: given.Version}
		if resolve.IsRegistry(given.Repo) {
			c.Name, c.Repo = strings.TrimSuffix(given.Repo, "/")+"/"+given.Name, ""
		}
		return c, nil
	case yaml.DocumentNode, yaml.SequenceNode, yaml.AliasNode:
	}
	if d.Installed != nil && !*d.Installed {
		return c, nil // what is uninstalled needs none
	}
	return c, errors.New("chart is required: a path, a reference, or {repo, name, version}")
}

// ChartAt returns the chart that a text in a file of folder dir refers to: a path, if
// it exists in the tree or can be nothing else, or a reference. Errors: *OutsideError.
func ChartAt(tree Tree, dir, text, version string) (Chart, error) {
	if strings.Contains(text, "://") {
		return Chart{Name: text, Version: version}, nil
	}
	joined, err := Join(dir, text)
	switch {
	case err != nil:
		return Chart{}, err
	case strings.HasPrefix(text, ".") || strings.Count(text, "/") != 1 || exists(tree, joined):
		return Chart{Path: joined}, nil // one that does not exist is an error of its entry
	}
	return Chart{Name: text, Version: version}, nil
}

// value reads the path of a file, or a table.
func (r *reader) value(node *yaml.Node) (Value, error) {
	from := Place{r.file, node.Line}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.ScalarNode:
		name, err := Join(r.dir, node.Value)
		return Value{File: name, From: from}, err
	case yaml.MappingNode:
		text, err := Inline(node)
		return Value{Inline: text, From: from}, err
	case yaml.DocumentNode, yaml.SequenceNode, yaml.AliasNode:
	}
	return Value{}, fmt.Errorf("values contain %s: each must be a file's path or a table", kindOf(node))
}

// fromRoot rewrites KEY=FILE so the file's path begins at the tree's root.
func fromRoot(dir, text string) (string, error) {
	key, name, ok := strings.Cut(text, "=")
	if !ok {
		return "", fmt.Errorf("setFile %q: expected KEY=FILE", text)
	}
	name, err := Join(dir, path.Clean(name))
	return key + "=" + name, err
}
