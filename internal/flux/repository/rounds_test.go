package repository

import (
	"testing"
	"testing/fstest"
)

// A Kustomization may read variables from what it builds itself. What is masked is not masked twice, however often it
// is built.
func TestWhatIsMaskedDoesNotGrowWithTheRounds(t *testing.T) {
	const in = "metadata: {namespace: flux-system, name: "
	tree := fstest.MapFS{
		"clusters/prod/apps.yaml": {Data: []byte("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n" + in + "apps}\nspec: {interval: 1m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: fleet}, " +
			"postBuild: {substituteFrom: [{kind: Secret, name: s}, {kind: ConfigMap, name: c}, {kind: ConfigMap, name: c}]}}\n")},
		"apps/s.yaml":   {Data: []byte("apiVersion: v1\nkind: Secret\n" + in + "s}\nstringData: {key: canary}\n")},
		"apps/c.yaml":   {Data: []byte("apiVersion: v1\nkind: ConfigMap\n" + in + "c}\ndata: {v: 'a${v:=}'}\n")},
		"apps/web.yaml": {Data: []byte("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n" + in + "web}\nspec: {interval: 1m, chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}, values: {a: '${v}'}}\n")},
	}
	r, err := Root(tree, "clusters/prod", Reading{})
	if err != nil {
		t.Fatal(err)
	}
	p, ok := r.find("", "ConfigMap", "flux-system", "c")
	if !ok || len(p.secrets) != 1 || string(p.secrets[0]) != "canary" {
		t.Errorf("found %v, %d texts are masked, want 1", ok, len(p.secrets))
	}
}
