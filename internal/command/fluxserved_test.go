package command

import (
	"strings"
	"testing"
)

// Flux 2.8 has dropped its beta versions: a Kustomization with one object of them applies nothing.
func TestVersionsThatFluxDoesNotServe(t *testing.T) {
	const line, says = "plan many --flux clusters/prod --base-dir /dev/null --offline", "Flux 2.8 and later does not serve "
	d := atDesk(t)
	d.tree(".", "", webOf(""), "one")
	if a := d.must(line); strings.Contains(a.out, says) {
		t.Error(a.out)
	}
	d.file("apps/old.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2beta2\nkind: HelmRelease\nmetadata: {name: old, namespace: shop}\nspec: {interval: 1m, "+webOf("")+"}\n")
	for _, name := range []string{"a", "b"} {
		d.file("apps/source-"+name+".yaml", "apiVersion: source.toolkit.fluxcd.io/v1beta2\nkind: HelmRepository\nmetadata: {name: "+name+", namespace: shop}\nspec: {interval: 1m, url: 'https://example.com/"+name+"'}\n")
	}
	d.must(line).has(t, says+"helm.toolkit.fluxcd.io/v2beta2 (HelmRelease shop/old): the API server refuses it",
		says+"source.toolkit.fluxcd.io/v1beta2 (HelmRepository shop/a and 1 more): the API server refuses it")
}
