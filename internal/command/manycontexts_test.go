package command

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
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
	if a := d.types("apply many set --expect-digest sha256:"); a.code != exitError {
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

// What is suggested of a release in a set names the context of its cluster, not the one that was typed.
func TestHintsOfASetNameTheContext(t *testing.T) {
	d := atDesk(t)
	d.file("set.yaml", "version: 1\nclusters: {eu: {context: prod-eu}}\nreleases:\n- {name: web, namespace: shop, cluster: eu, chart: ./web, values: [values.yaml]}\n")
	d.file("values.yaml", "{}")
	d.must("install web ./web")
	d.file("values.yaml", "text: two")
	d.must("plan many set.yaml --out set --context typed")
	isLocked(t, d)
	a := d.types("apply many set --lock-timeout 1ms --context typed")
	if a.code != exitLocked || !strings.Contains(a.err, "status web --namespace shop --context prod-eu\n") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
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

// The name of a cluster is an alias of its context: a release is the same under another one, and not pruned.
func TestARenamedClusterHasTheSameReleases(t *testing.T) {
	d := atDesk(t)
	set := func(folder, clusters, releases string) {
		d.file(folder+"/own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
		d.file(folder+"/set.yaml", "version: 1\nclusters: {"+clusters+"}\ndefaults: {namespace: shop}\nreleases:\n"+releases)
	}
	d.must("install web ./web")
	for _, tc := range []struct{ name, were, had, are, has, want string }{
		{"renamed", "prod: {context: eu}", "prod", "eu: {context: eu}", "eu", "nothing is touched"},
		{"another context of that name", "prod: {context: eu}, us: {context: us}", "us", "prod: {context: us}", "prod", "nothing is touched"},
		{"another context", "prod: {context: eu}", "prod", "prod: {context: us}", "prod", "shop/web@prod "},
	} {
		set("base", tc.were, "- {name: web, cluster: "+tc.had+", chart: ./own}\n")
		set("head", tc.are, "- {name: web, cluster: "+tc.has+", chart: ./own}\n")
		a := d.must("plan many head/set.yaml --base-dir base --prune")
		if !strings.Contains(a.out, tc.want) || strings.Contains(a.out, "uninstall") {
			t.Errorf("%s: it says\n%s%s", tc.name, a.out, a.err)
		}
	}
	// What a release's cluster was called is another cluster's name now, be it that of the current context.
	set("base", "prod: {context: eu}", "- {name: web, cluster: prod, chart: ./own}\n")
	for _, tc := range []struct{ are, is string }{{"prod: {context: us}", `"us"`}, {"prod: {}", `""`}} {
		set("head", tc.are, "- {name: api, cluster: prod, chart: ./own}\n")
		a := d.types("plan many head/set.yaml --base-dir base --prune")
		if a.code != exitError || !strings.Contains(strings.Join(strings.Fields(a.out), " "), `shop/web@prod can't be planned own it has left the set, and can't be uninstalled: cluster prod had the context "eu", and has `+tc.is+" now") {
			t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
		}
		if a := d.must("plan many head/set.yaml --base-dir base"); !strings.Contains(a.out, "left the set") {
			t.Errorf("without --prune it says\n%s%s", a.out, a.err)
		}
	}
}

// A release that has left the set but does not exist is no finding: there is nothing to uninstall.
func TestPruningWhatDoesNotExist(t *testing.T) {
	d := atDesk(t)
	d.file("base/own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
	d.file("base/set.yaml", "version: 1\nreleases:\n- {name: web, namespace: shop, chart: ./own}\n")
	d.file("head/set.yaml", "version: 1\nreleases: []\n")
	const line = "plan many head/set.yaml --base-dir base --detailed-exitcode"
	if a := d.must(line + " --prune -o annotations"); a.out != "" {
		t.Errorf("it finds\n%s", a.out)
	}
	for _, output := range []string{"text", "markdown", "html"} {
		a := d.must(line + " --prune -o " + output)
		if a.has(t, "left the set", "the release does not exist"); strings.Contains(a.out, "it is not uninstalled") {
			t.Errorf("it says\n%s", a.out)
		}
	}
	if a := d.types(line); a.code != exitRecordOnly {
		t.Errorf("without --prune: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// A release that the set declares for the first time, as one that is not to exist, is uninstalled. Without
// a cluster nobody knows whether it exists.
func TestAReleaseIsDeclaredToBeUninstalled(t *testing.T) {
	d := atDesk(t)
	d.file("base/set.yaml", "version: 1\nreleases: []\n")
	d.file("head/set.yaml", "version: 1\ndefaults: {namespace: shop, installed: false}\nreleases: [{name: web}]\n")
	const line = "plan many head/set.yaml --base-dir base --detailed-exitcode"
	if a := d.must(line); !strings.Contains(a.out, "nothing is touched") {
		t.Errorf("without a release: it says\n%s", a.out)
	}
	d.must("install web ./web")
	if a := d.must(line + " --offline"); !strings.Contains(a.out, "nothing is touched") {
		t.Errorf("offline: it says\n%s", a.out)
	}
	if a := d.types(line + " --out set"); a.code != exitChanges || !strings.Contains(a.out, "shop/web  uninstall") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := d.must("apply many set"); !strings.Contains(a.out, "shop/web  uninstalled") {
		t.Errorf("it says\n%s", a.out)
	}
}

// Each release of a set is a run of its own, which the lock separates from the others: two contexts may be
// of one cluster.
func TestEveryReleaseOfASetHasItsOwnLock(t *testing.T) {
	d := atDesk(t)
	d.file("own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
	d.file("set.yaml", "version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: api, chart: own}\n- {name: db, chart: own}\n")
	var mu sync.Mutex
	holders := map[string]bool{}
	d.client.PrependReactor("create", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		lease := action.(clienttesting.CreateAction).GetObject().(*coordinationv1.Lease)
		holders[*lease.Spec.HolderIdentity] = true
		return false, nil, nil
	})
	d.must("plan many set.yaml --out set")
	d.must("apply many set")
	if len(holders) != 2 {
		t.Errorf("the locks are held by %v", holders)
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
