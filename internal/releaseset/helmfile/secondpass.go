package helmfile

import (
	"errors"
	"maps"
	"slices"
	"strings"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// decoded decodes a release, once the templates that the file's own have left in it are rendered,
// as helmfile does (ExecuteTemplates in pkg/state/state_exec_tmpl.go): they see the release, which
// may have templates itself, so this is repeated.
func (r *reader) decoded(s *state, node *yaml.Node) (release, error) {
	const below = 2 // its fields, and their items
	node = own(node, below)
	const most = 6 // as in helmfile
	for range most {
		var given release
		if err := node.Decode(&given); err != nil {
			return given, err
		}
		left := templated(node)
		if len(left) == 0 {
			return given, nil
		}
		labels := map[string]string{}
		maps.Copy(labels, s.fields.CommonLabels)
		maps.Copy(labels, given.Labels)
		data := s.data(r.options.Environment, &releaseset.Entry{
			Key:    releaseset.Key{Cluster: given.KubeContext, Namespace: given.Namespace, Name: given.Name},
			Labels: labels, Chart: releaseset.Chart{Path: given.Chart},
		})
		for _, value := range left {
			text, err := r.render(s.file, value.Value, data)
			if err != nil {
				return given, err
			}
			value.Value, value.Tag = strings.TrimSpace(text), "!!str"
		}
	}
	return release{}, errors.New("its templates refer to each other")
}

// templated returns the templates among the fields of a release that helmfile renders, except values,
// whose files are read later.
func templated(node *yaml.Node) []*yaml.Node {
	var out []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		switch value := node.Content[i+1]; node.Content[i].Value {
		case "name", "namespace", "chart", "version", "kubeContext":
			out = append(out, value)
		case "labels", "needs":
			out = append(out, value.Content...)
		}
	}
	return slices.DeleteFunc(out, func(value *yaml.Node) bool {
		return value.Kind != yaml.ScalarNode || !strings.Contains(value.Value, "{{")
	})
}
