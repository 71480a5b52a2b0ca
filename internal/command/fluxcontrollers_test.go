package command

import (
	"strings"
	"testing"
)

// A signature that source-controller verifies is said not to be verified here.
func TestSignaturesAreNotVerified(t *testing.T) {
	const says = ": signatures are not verified here"
	d := atDesk(t)
	d.tree("base", "prune: true", webOf(""), "one")
	d.tree("head", "prune: true", webOf(", verify: {provider: cosign}")+", values: {text: two}", "one")
	for _, side := range []string{"base", "head"} {
		d.file(side+"/clusters/prod/source.yaml", strings.Replace(gitRepository("https://example.com/fleet", "verify: {mode: HEAD}"), "namespace: shop", "namespace: flux-system", 1))
	}
	t.Chdir("head")
	got := verdict(d.planned(offlineFlux)["web"])
	for _, field := range []string{"spec.chart.spec.verify", "spec.verify of GitRepository flux-system/fleet"} {
		if !strings.Contains(got, field+says) {
			t.Errorf("%s is not in %s", field, got)
		}
	}
}
