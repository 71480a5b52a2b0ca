// Package digest computes the digests by which helm-controller knows whether
// something has changed: of values, release records, post-renderers and common
// metadata. They equal, byte for byte, those in the status of a HelmRelease;
// the traces of package fluxtest have recorded ones.
//
// It is given records as Go values and decides nothing.
package digest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	yaml "go.yaml.in/yaml/v2"
	sigsyaml "sigs.k8s.io/yaml"
)

// Values returns the digest of composed values, "sha256:…": that of their YAML with
// the keys of every map sorted, or of no bytes when there are none (fluxcd/pkg
// chartutil.DigestValues). Values that YAML can't represent are an error.
func Values(values map[string]any) (string, error) {
	if len(values) == 0 {
		return digest.Canonical.FromBytes(nil).String(), nil
	}
	table := sigsyaml.JSONObjectToYAMLObject(values)
	sortTable(table)
	data, err := yaml.Marshal(table)
	if err != nil {
		return "", fmt.Errorf("digest of values: %w", err)
	}
	return digest.Canonical.FromBytes(data).String(), nil
}

// sortTable sorts a map by key, recursively.
func sortTable(table yaml.MapSlice) {
	slices.SortFunc(table, func(a, b yaml.MapItem) int {
		return strings.Compare(fmt.Sprint(a.Key), fmt.Sprint(b.Key))
	})
	for _, item := range table {
		sortWithin(item.Value)
	}
}

func sortWithin(v any) {
	switch v := v.(type) {
	case yaml.MapSlice:
		sortTable(v)
	case []any:
		for _, e := range v {
			sortWithin(e)
		}
	}
}
