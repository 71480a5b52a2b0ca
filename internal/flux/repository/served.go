package repository

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// served are the versions in which Flux serves what is planned: since Flux 2.8 there are no others
// (helm-controller v1.5.0, source-controller v1.8.0 and kustomize-controller v1.8.0, CHANGELOG.md).
var served = map[string]string{flux.HelmGroup: "v2", flux.SourceGroup: "v1", flux.KustomizeGroup: "v1"}

// outdated returns warnings about objects of versions that Flux no longer serves, one for each version.
func (r *Repository) outdated() (out []string) {
	names := map[string][]string{}
	for _, p := range r.objects {
		version, _ := p.object["apiVersion"].(string)
		if now, known := served[group(p.object)]; known && version != group(p.object)+"/"+now {
			metadata := asMap(p.object["metadata"])
			names[version] = append(names[version], fmt.Sprintf("%v %v/%v", p.object["kind"], orEmpty(metadata["namespace"]), orEmpty(metadata["name"])))
		}
	}
	for _, version := range slices.Sorted(maps.Keys(names)) {
		which := names[version][0]
		if more := len(names[version]) - 1; more > 0 {
			which += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, fmt.Sprintf("Flux 2.8 and later does not serve %s (%s): the API server refuses it, and with it all that its Kustomization applies", version, which))
	}
	return out
}
