package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// big is the manifest of one night: 2.4 MiB, in which every object says which night it is, and more.
func big(night int, more string) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: big-%d, labels: {night: \"%d\"}}\ndata: {text: %s}\n", i, night, strings.Repeat("a", 120<<10))
	}
	return b.String() + more
}

// However many upgrades of a large chart fail one after the other, the release can be planned, listed and
// removed, and what only one of the attempts has sent is deleted. A run that fails leaves as many failed
// attempts as the history may have revisions, those among them that alone know of something.
func TestManyLargeFailures(t *testing.T) {
	const failures = 28
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		store := func(version int, status release.Status, text string) {
			r := &release.Revision{
				Name: webKey.Name, Namespace: webKey.Namespace, Version: version, Chart: shop(nil).Chart, ApplyMethod: release.ClientSide,
				Manifest: text, Info: release.Info{Status: status, Description: `Upgrade "web" failed: not today`},
			}
			if status == release.StatusDeployed {
				r.Info.Description = "Install complete"
			}
			if err := b.Store.Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		const left, web = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: left}\n", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"
		store(1, release.StatusDeployed, big(1, web))
		more := map[int]string{2: web + left, 3: web + "data: {extra: b}\n"}
		for version := 2; version < 2+failures; version++ {
			store(version, release.StatusFailed, big(version, more[version]))
		}
		const owned = `namespace: shop, labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}`
		c.Put(objecttest.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: left, "+owned+"}}"))
		c.Put(objecttest.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, "+owned+"}, data: {extra: b}}"))
		if h, _, err := b.History(t.Context(), webKey); err != nil || len(h) != 1+failures || h[4].Info.Description != `Upgrade "web" failed: not today` {
			t.Fatalf("%d revisions, %v", len(h), err)
		}
		if p, err := b.PlanUninstall(t.Context(), webKey, Uninstall{}); err != nil || p.Summary.Delete != 2 { // of the 22, these exist
			t.Fatalf("an uninstall deletes %d, %v", p.Summary.Delete, err)
		}
		failing, options := b, plan.Options{HistoryMax: 10}
		failing.Cluster = failingJobs{c}
		p, err := failing.deploy(Deployment{Source: shop(map[string]any{"hook": true}), Options: options, ServerSide: ServerSideAuto}, nothing)
		if err == nil || p == nil {
			t.Fatalf("the upgrade did not fail as it should: %v", err)
		}
		if _, there := c.Objects[manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "left"}]; there {
			t.Error("the object of revision 2 is still there")
		}
		if _, there := c.Objects[configMap].Object["data"].(map[string]any)["extra"]; there {
			t.Error("the field of revision 3 is still there")
		}
		h, _, err := b.History(t.Context(), webKey)
		if err != nil {
			t.Fatal(err)
		}
		var kept []int
		for _, r := range h {
			kept = append(kept, r.Version)
		}
		if got, want := fmt.Sprint(kept), "[1 2 3 23 24 25 26 27 28 29 30]"; got != want {
			t.Errorf("after another failure, revisions %s are left, want %s", got, want)
		}
	})
}

// A failed attempt keeps what no newer revision says, including items of lists; one that was not read as an
// attempt stays as it is.
func TestThinner(t *testing.T) {
	const a, b, list = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: %q}\n", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
		"---\napiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n"
	newest := fmt.Sprintf(a, "new")
	thinner := newThinner()
	for i, c := range []struct{ status, manifest, want string }{
		{"deployed", newest, "a"},
		{"failed", newest, ""},
		{"failed", fmt.Sprintf(a, "old") + b, "b"},
		{"failed", b + list, "c"},
		{"failed", "# nothing", ""},
		{"superseded", newest, "a"},
		{"failed", newest + "binaryData: {y: eg==}\n", "a"},
	} {
		data := fmt.Sprintf(`{"name":"web","info":{"status":%q},"config":{"a":1},"manifest":%q}`, c.status, c.manifest)
		r, err := release.ReadPart(strings.NewReader(data), release.Sent, 1<<20, new(release.MaxEntries))
		if err != nil {
			t.Fatal(err)
		}
		thinner.thin(r)
		objects, err := r.Objects()
		var names []string
		for _, o := range objects {
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != c.want || (len(r.Config) == 0) != (c.status == "failed") || c.want == "" && r.Manifest != "" {
			t.Errorf("%d: left are %q of %q, values %v, %v", i, got, c.manifest, r.Config, err)
		}
	}
}
