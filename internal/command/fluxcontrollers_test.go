package command

import (
	"strings"
	"testing"
)

// Flags of plan many stand for those of Flux's controllers (checks 41 and 50 of FLUX.md).
func TestFlagsOfFluxControllers(t *testing.T) {
	d := atDesk(t)
	d.tree("base", "prune: true", webOf(""), "one")
	d.tree("head", "prune: true, postBuild: {substitute: {text: two}}", webOf("")+", values: {text: '${text}', more: '${more}'}", "one")
	t.Chdir("head")
	const denied = "stall: can't access 'HelmChart/flux-system/shop-web', cross-namespace references have been blocked"
	live := strings.Replace(offlineFlux, " --offline", "", 1)
	for line, want := range map[string]string{
		offlineFlux: "upgrade: ",
		offlineFlux + " --no-cross-namespace-refs": denied,
		live + " --no-cross-namespace-refs":        denied,
	} {
		if got := verdict(d.planned(line)["web"]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	a := d.types("plan many " + offlineFlux + " --strict-post-build-substitutions")
	if a.code == 0 {
		t.Error("a variable that is not set is no error")
	}
	a.has(t, "variable not set")
}

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
