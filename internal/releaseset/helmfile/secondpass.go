package helmfile

import (
	"errors"
	"maps"
	"strings"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// decoded decodes a release, once the templates that the file's own have left in it are rendered,
// as helmfile does (ExecuteTemplates in pkg/state/state_exec_tmpl.go): they see the release, which
// may have templates itself, so this is repeated.
func (r *reader) decoded(s *state, node *yaml.Node) (release, error) {
	const most = 6 // as in helmfile
	for range most {
		var given release
		if err := node.Decode(&given); err != nil {
			return given, err
		}
		labels := map[string]string{}
		maps.Copy(labels, s.fields.CommonLabels)
		maps.Copy(labels, given.Labels)
		rendered, err := r.secondPass(s.file, node, s.data(r.options.Environment, &releaseset.Entry{
			Key:    releaseset.Key{Cluster: given.KubeContext, Namespace: given.Namespace, Name: given.Name},
			Labels: labels, Chart: releaseset.Chart{Path: given.Chart},
		}))
		if err != nil || !rendered {
			return given, err
		}
	}
	return release{}, errors.New("its templates refer to each other")
}

// secondPass renders the fields of a release that helmfile renders, except values, whose files are
// read later; rendered says whether there was a template.
func (r *reader) secondPass(file string, node *yaml.Node, data map[string]any) (rendered bool, err error) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i].Value, node.Content[i+1]
		switch key {
		case "name", "namespace", "chart", "version", "kubeContext":
			rendered, err = r.again(file, value, data, rendered)
		case "labels", "needs":
			for _, item := range value.Content {
				if err == nil {
					rendered, err = r.again(file, item, data, rendered)
				}
			}
		}
		if err != nil {
			return false, err
		}
	}
	return rendered, nil
}

// again renders a text that has a template; already is returned for others.
func (r *reader) again(file string, value *yaml.Node, data map[string]any, already bool) (rendered bool, err error) {
	if value.Kind != yaml.ScalarNode || !strings.Contains(value.Value, "{{") {
		return already, nil
	}
	text, err := r.render(file, value.Value, data)
	value.Value, value.Tag = strings.TrimSpace(text), "!!str"
	return true, err
}
