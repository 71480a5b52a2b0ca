package repository

import (
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// parse reads the objects of a file, those of lists one by one; documents that are not
// objects are skipped.
func parse(data []byte) ([]map[string]any, error) {
	var out []map[string]any
	for _, doc := range manifest.Split(string(data)) {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			return nil, err
		}
		items, listed := object["items"].([]any)
		switch {
		case object["kind"] == "List" && listed:
			for _, item := range items {
				if o, ok := item.(map[string]any); ok {
					out = append(out, o)
				}
			}
		case object["kind"] != nil && object["apiVersion"] != nil:
			out = append(out, object)
		}
	}
	return out, nil
}

// inNamespace returns an object of Flux, a ConfigMap or a Secret that names no namespace in the one that it is
// applied to, as references to it have that, and others as they are.
func inNamespace(o map[string]any) map[string]any {
	metadata, ok := o["metadata"].(map[string]any)
	data := group(o) == "" && (o["kind"] == kinds.ConfigMap.Kind || o["kind"] == kinds.Secret.Kind)
	if namespace, _ := metadata["namespace"].(string); !ok || namespace != "" || !data && !strings.HasSuffix(group(o), groupEnding) {
		return o
	}
	o, metadata = maps.Clone(o), maps.Clone(metadata)
	o["metadata"], metadata["namespace"] = metadata, "default"
	return o
}

// identity returns "group/Kind/namespace/name".
func identity(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	return fmt.Sprintf("%s/%v/%v/%v", group(o), o["kind"], orEmpty(metadata["namespace"]), orEmpty(metadata["name"]))
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

func group(o map[string]any) string {
	apiVersion, _ := o["apiVersion"].(string)
	name, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return ""
	}
	return name
}
