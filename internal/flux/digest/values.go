// Package digest computes the digests by which helm-controller knows whether
// something has changed: of values, of release records, of post-renderers and
// common metadata. They are equal, byte for byte, to those in the status of a
// HelmRelease; ../../../shared/flux holds recorded ones.
//
// It reads records as values and decides nothing.
package digest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	yaml "go.yaml.in/yaml/v2"
	sigsyaml "sigs.k8s.io/yaml"
)

// Values is the digest of composed values, "sha256:…": that of their YAML with
// the keys of every table sorted, and of nothing when there are none
// (fluxcd/pkg chartutil.DigestValues). Errors: values that YAML can't hold.
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

// sortTable sorts by key, all the way down.
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
