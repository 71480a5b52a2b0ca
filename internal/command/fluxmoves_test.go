package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A HelmRelease that moves to another release (check 24 of FLUX.md) uninstalls the one it has: the plan
// counts what is deleted, and is that of the uninstall if both have the same name.
func TestCheck24WhatAMoveDeletes(t *testing.T) {
	const volume = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: web}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	for _, c := range []struct {
		why, spec, chart, release string
		planned                   plan.Operation
	}{
		{"release name", "releaseName: front", "web", "front", plan.Install},
		{"target namespace", "releaseName: web, targetNamespace: other", "web", "web", plan.Install},
		{"storage namespace", "storageNamespace: other", "web", "web", plan.Uninstall},
		{"chart name", "", "shop", "web", plan.Uninstall},
		{"chart name in place", "upgrade: {chartNameChangeStrategy: InPlaceUpdate}", "shop", "web", plan.Upgrade},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.file("web/templates/data.yaml", volume)
			d.must("install web ./web")
			d.helmRelease("", noValues)
			d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}, "+c.spec)
			d.file("web/Chart.yaml", "{apiVersion: v2, name: "+c.chart+", version: 1.0.0}")
			got := d.planned("release.yaml")[c.release]
			if got.Plan == nil || got.Plan.Operation != c.planned {
				t.Fatalf("%+v %s, want the plan of an %s", got.Plan, got.Error, c.planned)
			}
			notes := strings.Join(got.Verdict.Notes, "; ")
			if said := strings.Contains(notes, "objects of release shop/web: 2; volumes among them: 1"); said != (c.planned != plan.Upgrade) {
				t.Errorf("said %t: %s", said, notes)
			}
			if shown := strings.Contains(notes, "the plan shows what the uninstall deletes"); shown != (c.planned == plan.Uninstall) || shown && got.Plan.Summary.Risks.Data != 1 {
				t.Errorf("%s %+v", notes, got.Plan.Summary)
			}
		})
	}
}

// The same without a cluster, from the base's files.
func TestCheck24WhatAMoveDeletesByTheFiles(t *testing.T) {
	for _, more := range []string{", releaseName: front", ", releaseName: web, targetNamespace: other", ", storageNamespace: other"} {
		d := atDesk(t)
		d.tree("base", "prune: true", webOf(""), "one")
		d.tree("head", "prune: true", webOf("")+more, "one")
		t.Chdir("head")
		d.must("plan many --flux clusters/prod --base-dir ../base --offline").has(t, "Risks: 1 loss of data", "shop/web: uninstall, compared with web 1.0.0", "volumes 1 DELETED with the data")
	}
}

// A HelmRelease that is renamed while its release keeps its name is two objects: Flux deletes the old one,
// whose finalizer uninstalls the release (check 25 of FLUX.md).
func TestARenamedHelmReleaseIsUninstalled(t *testing.T) {
	const uninstalled, install = "the release is that of HelmRelease shop/web in the base: Kustomization flux-system/apps prunes: the HelmRelease is deleted, and the release uninstalled", "uninstall, then install"
	for _, c := range []struct {
		why, owner, more, head string
		text, says             string
	}{
		{"it prunes", "prune: true", "", "", install, uninstalled},
		{"the old one is suspended", "prune: true", ", suspend: true", "", "", "left running: the HelmRelease is suspended"},
		{"the new one is suspended", "prune: true", "", ", suspend: true", "uninstall", uninstalled},
		{"it does not prune", "prune: false", "", "", "", "left running: Kustomization flux-system/apps does not prune"},
		{"the old one has another release", "prune: true", "", "front", install, "HelmRelease shop/web moves to another release"},
	} {
		for _, live := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, live %t", c.why, live), func(t *testing.T) {
				d := atDesk(t)
				d.tree("base", c.owner, webOf("")+c.more, "one")
				d.tree("head", c.owner, "", "one")
				more := c.head
				if more == "front" {
					d.releaseFile("head/apps/web.yaml", "web", webOf("")+", releaseName: front")
					more = ""
				}
				d.releaseFile("head/apps/frontend.yaml", "frontend", webOf("")+", releaseName: web"+more)
				line := offlineFlux
				if live {
					line = strings.Replace(line, " --offline", "", 1)
					d.must("install web ./base/charts/web")
				}
				t.Chdir("head")
				web := d.planned(line)["web"]
				if web.Verdict == nil || !strings.Contains(web.Verdict.Notes[0], c.says) {
					t.Fatalf("%+v %s", web.Verdict, web.Error)
				}
				lost := web.Plan != nil && web.Plan.Operation == plan.Uninstall && web.Plan.Summary.Risks.Data == 1
				if want := strings.HasPrefix(c.text, "uninstall"); lost != want || want && web.Verdict.Text() != c.text {
					t.Errorf("%+v, the data is lost: %t", web.Verdict, lost)
				}
			})
		}
	}
	// Without a release in the cluster nothing is uninstalled.
	d := atDesk(t)
	d.tree("base", "prune: true", webOf(""), "one")
	d.tree("head", "prune: true", "", "one")
	d.releaseFile("head/apps/frontend.yaml", "frontend", webOf("")+", releaseName: web")
	t.Chdir("head")
	if got := verdict(d.planned("--flux clusters/prod --base-dir ../base")["web"]); !strings.HasPrefix(got, "install: ") {
		t.Error(got)
	}
}

// A HelmRelease that moves to another Kustomization may be deleted by the one that it leaves.
func TestAHelmReleaseThatMovesToAnotherKustomization(t *testing.T) {
	const moves = "unknown: HelmRelease shop/web moves from Kustomization flux-system/apps to Kustomization flux-system/other: unless the latter applies it first"
	for _, c := range []struct{ owner, metadata, want string }{
		{"prune: true", "", moves},
		{"prune: false", "", "nothing: chart, values"},
		{"prune: true", "annotations: {KEYprune: disabled}", "nothing: chart, values"},
	} {
		for _, live := range []string{"", "not there", "drifted"} {
			if live == "drifted" && c.metadata != "" {
				continue // it would have to be on the HelmRelease in the cluster
			}
			d := atDesk(t)
			for _, side := range []string{"base", "head"} {
				d.tree(side, c.owner, "", "one")
				d.file(side+"/clusters/prod/other.yaml", kustomization("other", ""))
				d.file(side+"/other/keep.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: shop}\n")
			}
			spec := webOf("") + ", driftDetection: {mode: enabled}"
			d.marked("base/apps/web.yaml", c.metadata, spec)
			d.marked("head/other/web.yaml", c.metadata, spec)
			line, want := offlineFlux, c.want
			if live != "" {
				line = strings.Replace(line, " --offline", "", 1)
				d.must("install web ./base/charts/web")
			}
			switch live {
			case "not there":
				want = strings.Replace(want, "nothing: chart, values", "upgrade: ", 1) // there is no such HelmRelease
			case "drifted":
				want = strings.Replace(want, "nothing: chart, values", "correct drift: ", 1)
				d.released("{interval: 1m, "+spec+"}", noValues)
				id := manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
				object := d.Objects[id].DeepCopy()
				object.Object["data"].(map[string]any)["text"] = "by hand"
				d.Put(object)
			}
			t.Chdir("head")
			web := d.planned(line)["web"]
			if got := verdict(web); !strings.HasPrefix(got, want) {
				t.Errorf("%v, live %q: %s", c, live, got)
			}
			if lost := web.Plan != nil && web.Plan.Summary.Risks.Data == 1; lost != (c.want == moves) {
				t.Errorf("%v, live %q: the data is lost: %t", c, live, lost)
			}
		}
	}
}

// Nothing moves to another release while its HelmRelease, or what applies that, is not acted upon.
func TestAHelmReleaseThatWouldMoveToAnotherRelease(t *testing.T) {
	for _, c := range []struct{ owner, metadata, base, head, want string }{
		{"prune: true", "", "", "", "uninstall: HelmRelease shop/web moves to another release"},
		{"prune: true", "", ", suspend: true", ", suspend: true", "nothing: left running: HelmRelease shop/web is suspended"},
		{"prune: true", "", "", ", suspend: true", "nothing: left running: HelmRelease shop/web is suspended"},
		{"prune: true", "", ", suspend: true", "", "uninstall: HelmRelease shop/web moves to another release"},
		{"prune: true, suspend: true", "", "", "", "nothing: left running: Kustomization flux-system/apps is suspended"},
		{"prune: true", "annotations: {KEYreconcile: disabled}", "", "", "nothing: left running: HelmRelease shop/web has "},
	} {
		d := atDesk(t)
		d.tree("base", c.owner, "", "one")
		d.tree("head", c.owner, "", "one")
		d.marked("base/apps/web.yaml", c.metadata, webOf("")+c.base)
		d.marked("head/apps/web.yaml", c.metadata, webOf("")+", releaseName: front"+c.head)
		t.Chdir("head")
		if got := verdict(d.planned(offlineFlux)["web"]); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// A HelmRelease that moves to a Kustomization which is not created is deleted by the one that it leaves.
func TestAHelmReleaseThatMovesBelowASuspendedKustomization(t *testing.T) {
	d := atDesk(t)
	for _, side := range []string{"base", "head"} {
		d.tree(side, "prune: true, suspend: true", "", "one")
		d.file(side+"/clusters/prod/former.yaml", kustomization("former", ""))
		d.file(side+"/former/keep.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: shop}\n")
	}
	d.releaseFile("base/former/web.yaml", "web", webOf(""))
	d.file("head/apps/new.yaml", kustomization("new", ""))
	d.releaseFile("head/new/web.yaml", "web", webOf(""))
	t.Chdir("head")
	web := d.planned(offlineFlux)["web"]
	if got := verdict(web); !strings.HasPrefix(got, "uninstall: Kustomization flux-system/apps is suspended: it does not create Kustomization flux-system/new") || web.Verdict.Then != nil || !strings.Contains(got, "Kustomization flux-system/former prunes") {
		t.Error(got)
	}
	if web.Plan == nil || web.Plan.Operation != plan.Uninstall {
		t.Errorf("%+v", web.Plan)
	}
}
