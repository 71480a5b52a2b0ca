package command

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A set for a context with slashes in its name, as those of EKS have, is saved and applied; needs
// name such a context as it is.
func TestASetForContextsWithSlashes(t *testing.T) {
	d := atDesk(t)
	d.file("helmfile.yaml", `releases:
- {name: web, namespace: shop, kubeContext: "arn:aws:eks:eu-west-1:1:cluster/prod", chart: ./web}
- name: other
  namespace: shop
  kubeContext: arn:aws:eks:eu-west-1:1:cluster_prod
  chart: ./web
  installed: false
  needs: ["arn:aws:eks:eu-west-1:1:cluster/prod/shop/web"]
`)
	d.must("plan many helmfile.yaml --out set")
	if a := d.types("apply many set --expect-digest sha256:"); a.code != exitStale {
		t.Errorf("a digest without digits is accepted: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if files, err := os.ReadDir("set"); err != nil || len(files) != 2 {
		t.Errorf("set holds %v, %v", files, err)
	}
	if a := d.must("apply many set"); !strings.Contains(a.out, "arn:aws:eks:eu-west-1:1:cluster/prod/shop/web  install, revision 1") {
		t.Errorf("it says\n%s", a.out)
	}
	d.must("status web")
}

// A release that has left the set is uninstalled in its cluster, even if no other release is in that
// any more: a saved set knows its context, and one that does not is refused.
func TestPruningTheLastReleaseOfACluster(t *testing.T) {
	d := atDesk(t)
	const kept = "releases:\n- {name: web, namespace: shop, kubeContext: eu, chart: ./web}\n"
	d.file("helmfile.yaml", kept)
	d.file("base/helmfile.yaml", kept+"- {name: gone, namespace: shop, kubeContext: us, chart: ./web}\n")
	d.must("install gone ./web --set text=old")
	d.must("plan many helmfile.yaml --base-dir base --prune --selector name=gone --out set")
	d.contexts = nil
	d.must("apply many set")
	if !slices.Equal(d.contexts, []string{"us"}) {
		t.Errorf("connected to the contexts %q", d.contexts)
	}
	d.must("install gone ./web")
	d.must("plan many helmfile.yaml --base-dir base --prune --selector name=gone --out set")
	index, err := os.ReadFile("set/set.json")
	if err != nil {
		t.Fatal(err)
	}
	d.file("set/set.json", strings.Replace(string(index), `"us": {`, `"asia": {`, 1))
	if a := d.types("apply many set"); a.code != exitError || !strings.Contains(a.err, "the set does not say what cluster us is") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// Releases of a set share a namespace that the first one creates.
func TestASetBringsItsNamespace(t *testing.T) {
	d := atDesk(t)
	d.file("own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
	d.file("own/templates/all.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Release.Name }}}}")
	d.file("set.yaml", `version: 1
defaults: {namespace: new, createNamespace: true}
releases:
- {name: api, chart: own, needs: [db]}
- {name: db, chart: own}
`)
	d.must("plan many set.yaml --out set")
	if a := d.must("apply many set"); !strings.Contains(a.out, "new/api  install, revision 1") {
		t.Errorf("it says\n%s", a.out)
	}
}
