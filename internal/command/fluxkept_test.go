package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

const kustomize = "kustomize.toolkit.fluxcd.io/"

// marked writes a HelmRelease with labels or annotations of kustomize-controller.
func (d *desk) marked(name, metadata, spec string) {
	d.file(name, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop, "+strings.ReplaceAll(metadata, "KEY", kustomize)+"}\nspec: {interval: 1m, "+spec+"}\n")
}

// verdict returns a verdict as one line.
func verdict(r releaseset.Planned) string {
	if r.Verdict == nil {
		return "error: " + r.Error
	}
	return r.Verdict.Action + ": " + strings.Join(r.Verdict.Notes, "; ")
}

// A HelmRelease that leaves the repository is not deleted if kustomize-controller is told so by a label
// or an annotation: what the object in the cluster has counts.
func TestWhatIsNotDeletedWhenItLeaves(t *testing.T) {
	const left = "nothing: left running: HelmRelease shop/web leaves the repository, but is not deleted, since it has " + kustomize
	const unknown = "unknown: HelmRelease shop/web has " + kustomize + "%s in the repository, which is not applied because of that: it is deleted unless it has that in the cluster, too"
	for _, c := range []struct{ owner, repository, live, want string }{
		{"prune: true", "annotations: {KEYprune: disabled}", "", left + "prune: disabled"},
		{"prune: true", "labels: {KEYprune: Disabled}", "", left + "prune: disabled"},
		{"prune: true, commonMetadata: {annotations: {KEYprune: disabled}}", "", "", left + "prune: disabled"},
		{"prune: true", "annotations: {KEYprune: enabled}", "", "uninstall: "},
		{"prune: true", "annotations: {KEYreconcile: disabled}", "", fmt.Sprintf(unknown, "reconcile: disabled")},
		{"prune: true", "labels: {KEYssa: ignore}", "", fmt.Sprintf(unknown, "ssa: Ignore")},
		{"prune: true", "labels: {KEYssa: IfNotPresent}", "", "uninstall: "},
		{"prune: false", "labels: {KEYssa: ignore}", "", "nothing: left running: Kustomization flux-system/apps does not prune"},
		{"prune: true", "", "annotations: {KEYprune: disabled}", left + "prune: disabled"},
		{"prune: true", "", "annotations: {KEYreconcile: disabled}", left + "reconcile: disabled"},
		{"prune: true", "", "labels: {KEYssa: Ignore}", left + "ssa: Ignore"},
		{"prune: true", "annotations: {KEYreconcile: disabled}", "labels: {a: b}", "uninstall: "},
	} {
		t.Run(c.owner+" "+c.repository+" "+c.live, func(t *testing.T) {
			d := atDesk(t)
			for _, side := range []string{"base", "head"} {
				d.tree(side, strings.ReplaceAll(c.owner, "KEY", kustomize), "", "one")
			}
			d.marked("base/apps/web.yaml", c.repository, webOf(""))
			line := offlineFlux
			if c.live != "" {
				line = strings.Replace(line, " --offline", "", 1)
				d.must("install web ./base/charts/web")
				d.Put(objecttest.Parse(t, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: shop, "+strings.ReplaceAll(c.live, "KEY", kustomize)+"}, spec: {}}"))
			}
			t.Chdir("head")
			web := d.planned(line)["web"]
			if got := verdict(web); !strings.HasPrefix(got, c.want) || (web.Plan != nil) != strings.HasPrefix(c.want, "uninstall") {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	// So it is with the Kustomization that has applied it.
	d := atDesk(t)
	d.tree("base", "prune: true", webOf(""), "one")
	d.tree("head", "prune: true", "", "one")
	for _, side := range []string{"base", "head"} {
		d.file(side+"/clusters/prod/sync.yaml", strings.Replace(kustomization("sync", ""), "./sync", "./clusters/prod", 1))
	}
	d.file("base/clusters/prod/apps.yaml", strings.Replace(kustomization("apps", ""), "namespace: flux-system", "namespace: flux-system, labels: {"+kustomize+"prune: disabled}", 1))
	d.gone("head/clusters/prod/apps.yaml")
	t.Chdir("head")
	if got, want := verdict(d.planned(offlineFlux)["web"]), strings.Replace(left, "HelmRelease shop/web", "Kustomization flux-system/apps", 1)+"prune: disabled"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A change of a HelmRelease that kustomize-controller does not apply does nothing; what else changes
// about the release still counts.
func TestWhatIsNotApplied(t *testing.T) {
	const bumped = "{apiVersion: v2, name: web, version: 1.1.0}"
	const held, changed, created = "nothing: the HelmRelease has " + kustomize, ": kustomize-controller does not apply the change to it", ": kustomize-controller does not create it"
	for _, c := range []struct{ base, head, chart, live, want string }{
		{"", "annotations: {KEYreconcile: disabled}", "", "", held + "reconcile: disabled" + changed},
		{"", "labels: {KEYssa: Ignore}", "", "", held + "ssa: Ignore" + changed},
		{"", "labels: {KEYssa: IfNotPresent}", "", "", held + "ssa: IfNotPresent" + changed},
		{"", "labels: {KEYssa: Merge}", "", "", "upgrade: "},
		{"annotations: {KEYreconcile: disabled}", "", "", "", "unknown: the HelmRelease has " + kustomize + "reconcile: disabled in the base"},
		{"labels: {KEYssa: Ignore}", "labels: {KEYssa: Ignore}", "", "", held + "ssa: Ignore" + changed},
		{"labels: {KEYssa: Ignore}", "labels: {KEYssa: Ignore}", bumped, "", "unknown: the HelmRelease has " + kustomize + "ssa: Ignore in the base, so what is deployed may differ from that: upgrade if it does not (the chart's version changes from 1.0.0 to 1.1.0), else nothing"},
		{"none", "annotations: {KEYreconcile: disabled}", "", "", held + "reconcile: disabled" + created},
		{"none", "labels: {KEYssa: IfNotPresent}", "", "", "install: "},
		{"", "annotations: {KEYreconcile: disabled}", bumped, "", "upgrade: the chart's version changes"},
		{"", "", "", "annotations: {KEYreconcile: disabled}", held + "reconcile: disabled" + changed},
		{"", "labels: {KEYssa: IfNotPresent}", "", "labels: {a: b}", held + "ssa: IfNotPresent" + changed},
		{"", "", "", "labels: {a: b}", "upgrade: "},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			d := atDesk(t)
			for _, side := range []string{"base", "head"} {
				d.tree(side, "prune: true", "", "one")
			}
			if c.base != "none" {
				d.marked("base/apps/web.yaml", c.base, webOf(""))
			}
			spec := webOf("") + ", values: {text: two}"
			if c.chart != "" {
				spec = webOf("")
				d.file("head/charts/web/Chart.yaml", c.chart)
			}
			d.marked("head/apps/web.yaml", c.head, spec)
			line := offlineFlux
			if c.live != "" {
				line = strings.Replace(line, " --offline", "", 1)
				d.must("install web ./base/charts/web")
				d.Put(objecttest.Parse(t, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: shop, generation: 1, "+strings.ReplaceAll(c.live, "KEY", kustomize)+"}, spec: {interval: 1m, "+webOf("")+"}}"))
			}
			t.Chdir("head")
			if got := verdict(d.planned(line)["web"]); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A HelmRelease is applied from the change on that takes such a label or annotation away, and no longer
// once it has one, although nothing else about it changes.
func TestWhatIsAppliedAgain(t *testing.T) {
	const unknown, same = "unknown: the HelmRelease has " + kustomize, " in the base, so what is deployed may differ from that: nothing if it does not (chart, values and post-renderers are those of the newest revision), else "
	const install, fails = "install or upgrade; if it fails", "install; if it fails"
	const untouched, nothing, suspended = "", "nothing: chart, values", "nothing: suspended"
	for _, c := range []struct{ base, head, spec, live, want string }{
		{"labels: {KEYreconcile: disabled}", "", "", "", unknown + "reconcile: disabled" + same + install},
		{"annotations: {KEYssa: Ignore}", "labels: {KEYssa: IfNotPresent}", "", "", unknown + "ssa: Ignore" + same + fails},
		{"labels: {KEYssa: IfNotPresent}", "", "", "", unknown + "ssa: IfNotPresent" + same + "upgrade"},
		{"labels: {KEYssa: IfNotPresent}", "labels: {KEYssa: IfNotPresent}", "", "", untouched},
		{"labels: {KEYreconcile: disabled}", "labels: {KEYreconcile: disabled}", "", "", untouched},
		{"", "labels: {KEYreconcile: disabled}", "", "", nothing},
		{"", "annotations: {KEYssa: IfNotPresent}", "", "", nothing},
		{"", "labels: {a: b}", "", "", untouched},
		{"labels: {KEYreconcile: disabled}", "", ", suspend: true", "", suspended},
		{"labels: {KEYreconcile: disabled}", "", "", "none", "install: no release is stored"},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			d := atDesk(t)
			for _, side := range []string{"base", "head"} {
				d.tree(side, "prune: true", "", "one")
			}
			d.marked("base/apps/web.yaml", c.base, webOf("")+c.spec)
			d.marked("head/apps/web.yaml", c.head, webOf("")+c.spec)
			line := offlineFlux
			if c.live != "" {
				line = strings.Replace(line, " --offline", "", 1)
			}
			t.Chdir("head")
			web := d.planned(line)["web"]
			if web.Verdict == nil && c.want == untouched && web.Error == "" {
				return
			}
			if got := verdict(web); c.want == untouched || !strings.HasPrefix(got, c.want) || (web.Plan == nil) != strings.HasPrefix(c.want, "nothing") || strings.Contains(c.want, "install") != (web.Plan != nil && web.Plan.Summary.Create == 2) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Kustomizations and sources that are not applied are reported: they are planned as the repository has
// them.
func TestKustomizationsAndSourcesThatAreNotApplied(t *testing.T) {
	d := atDesk(t)
	d.tree(".", "prune: true", webOf(""), "one")
	d.file("clusters/prod/apps.yaml", strings.Replace(kustomization("apps", ""), "namespace: flux-system", "namespace: flux-system, labels: {"+kustomize+"reconcile: disabled}", 1))
	d.file("clusters/prod/source.yaml", strings.Replace(gitRepository("https://example.com/fleet", ""), "namespace: shop", "namespace: flux-system, annotations: {"+kustomize+"ssa: IfNotPresent}", 1))
	const says = "kustomize-controller does not apply changes to it, but it is planned as the repository has it"
	d.must("plan many --flux clusters/prod --offline --base-dir /dev/null").has(t,
		"Kustomization flux-system/apps has "+kustomize+"reconcile: disabled: "+says,
		"GitRepository flux-system/fleet has "+kustomize+"ssa: IfNotPresent: "+says)
}

// The verdict about a release that leaves stays when somebody else's permissions are missing.
func TestAReleaseThatLeavesWithoutItsServiceAccount(t *testing.T) {
	d := atDesk(t)
	d.tree("base", "prune: true", webOf("")+", serviceAccountName: deployer", "one")
	d.tree("head", "prune: true", "", "one")
	d.must("install web ./base/charts/web")
	d.Denied = map[plan.Permission]bool{{Verb: "impersonate", Resource: "serviceaccounts", Namespace: "shop", Name: "deployer"}: true}
	t.Chdir("head")
	web := d.planned("--flux clusters/prod --base-dir ../base")["web"]
	if got := verdict(web); web.Plan == nil || !strings.HasPrefix(got, "uninstall: Kustomization flux-system/apps prunes") || !strings.Contains(got, "you may not impersonate ServiceAccount shop/deployer") {
		t.Error(got)
	}
}
