package command

import (
	"os"
	"strings"
	"testing"
)

// What happens to a HelmRelease that is removed from the repository depends on its Kustomization after
// the change (check 25 of FLUX.md); one that may or may not have been removed is not uninstalled.
func TestCheck25ByTheKustomizationOfTheChange(t *testing.T) {
	const parent = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: parent, namespace: flux-system}\nspec: {interval: 1m, path: ./parent, prune: true, sourceRef: {kind: GitRepository, name: fleet}}\n"
	for _, c := range []struct {
		why          string
		head         map[string]string
		owner        string
		action, says string
	}{
		{"it prunes", nil, "prune: true", "uninstall", "Kustomization flux-system/apps prunes"},
		{"the change suspends it", nil, "prune: true, suspend: true", "nothing", "left running: Kustomization flux-system/apps is suspended"},
		{"the change has it keep what leaves", nil, "prune: false", "nothing", "left running: Kustomization flux-system/apps does not prune"},
		{"it can't be built", map[string]string{"apps/kustomization.yaml": "resources: [gone.yaml]"}, "prune: true", "unknown", "Kustomization flux-system/apps can't be built: whether it has the HelmRelease is not known"},
		{"it has a HelmRelease that can't be read", map[string]string{"apps/web.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec: {interval: 1m}\n"}, "prune: true", "unknown", "has a HelmRelease that can't be read"},
		{"the one that applies it can't be built", map[string]string{"clusters/prod/apps.yaml": parent, "parent/kustomization.yaml": "resources: [gone.yaml]"}, "prune: true", "unknown", "Kustomization flux-system/parent can't be built"},
		{"the one that applies it has something remote instead", map[string]string{"clusters/prod/apps.yaml": parent, "parent/kustomization.yaml": "resources: ['https://example.com/remote']"}, "prune: true", "unknown", "Kustomization flux-system/parent has https://example.com/remote of the kustomization in parent, which is not fetched"},
		{"the folder where Flux begins has something remote instead", map[string]string{"clusters/prod/kustomization.yaml": "resources: ['https://example.com/remote']"}, "prune: true", "unknown", "the folder where Flux begins has https://example.com/remote of the kustomization in clusters/prod, which is not fetched"},
		{"it leaves, and the one that applied it prunes", map[string]string{"clusters/prod/apps.yaml": parent, "parent/keep.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keep}\n"}, "prune: true", "uninstall", "Kustomization flux-system/apps prunes"},
		{"it leaves, and the one that applied it is suspended", map[string]string{"clusters/prod/apps.yaml": strings.Replace(parent, "prune: true", "prune: true, suspend: true", 1), "parent/keep.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keep}\n"}, "prune: true", "nothing", "left running: Kustomization flux-system/apps leaves the repository, and Kustomization flux-system/parent"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.tree("base", "prune: true", webOf(""), "one")
			d.tree("head", c.owner, "", "one")
			if strings.Contains(c.why, "applie") {
				d.file("base/clusters/prod/parent.yaml", parent)
				d.file("base/parent/apps.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {interval: 1m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: fleet}}\n")
			}
			for name, text := range c.head {
				d.file("head/"+name, text)
			}
			t.Chdir("head")
			web := d.planned("--flux clusters/prod --base-dir ../base --offline")["web"]
			if web.Verdict == nil || web.Verdict.Action != c.action || !strings.Contains(strings.Join(web.Verdict.Notes, "; "), c.says) {
				t.Errorf("%+v, want %s: %s", web.Verdict, c.action, c.says)
			}
			if (web.Plan != nil) != (c.action == "uninstall") {
				t.Errorf("a plan: %t", web.Plan != nil)
			}
		})
	}
}

// What is not known of a Kustomization, or of the HelmRelease, leaves open whether a release is uninstalled
// only where that depends on it.
func TestWhatDecidesAboutAHelmReleaseThatLeavesIsNotKnown(t *testing.T) {
	const depends = "whether the release is uninstalled is not known: it depends on "
	for _, c := range []struct {
		why, owner, more string
		gone             bool
		action, says     string
	}{
		{"prune", `prune: "${unknown}"`, "", false, "unknown", depends + "spec.prune of Kustomization flux-system/apps"},
		{"suspend", `prune: true, suspend: "${unknown}"`, "", false, "unknown", depends + "spec.suspend of Kustomization flux-system/apps"},
		{"suspend of one that does not prune", `prune: false, suspend: "${unknown}"`, "", false, "nothing", "does not prune"},
		{"prune of one that is suspended", `prune: "${unknown}", suspend: true`, "", false, "nothing", "is suspended"},
		{"a field of no account", `prune: true, wait: "${unknown}"`, "", false, "uninstall", "prunes"},
		{"a default", `prune: "${unknown:=true}"`, "", false, "uninstall", "prunes"},
		{"deletionPolicy of one that stays", `prune: true, deletionPolicy: "${unknown}"`, "", false, "uninstall", "prunes"},
		{"prune of one that leaves", `prune: "${unknown}"`, "", true, "unknown", depends + "spec.prune of Kustomization flux-system/apps"},
		{"deletionPolicy of one that leaves", `prune: true, deletionPolicy: "${unknown}"`, "", true, "unknown", depends + "spec.deletionPolicy of Kustomization flux-system/apps"},
		{"prune of one with a deletionPolicy", `prune: "${unknown}", deletionPolicy: Delete`, "", true, "uninstall", "is deleted"},
		{"suspend of the HelmRelease", "prune: true, " + from("Secret", "vars"), `, suspend: "${unknown}"`, false, "unknown", depends + "spec.suspend of HelmRelease shop/web"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.tree("base", c.owner, webOf("")+c.more, "one")
			d.tree("head", c.owner, "", "one")
			for _, side := range []string{"base", "head"} {
				d.file(side+"/clusters/prod/sync.yaml", strings.Replace(kustomization("sync", from("Secret", "vars")), "./sync", "./clusters/prod", 1))
			}
			if c.gone {
				d.gone("head/clusters/prod/apps.yaml")
			}
			t.Chdir("head")
			web := d.planned("--flux clusters/prod --base-dir ../base --offline")["web"]
			if web.Verdict == nil || web.Verdict.Action != c.action || !strings.Contains(strings.Join(web.Verdict.Notes, "; "), c.says) {
				t.Errorf("%+v, want %s: %s", web.Verdict, c.action, c.says)
			}
		})
	}
}

// What a suspended Kustomization applies stays as it is, and so does what that would have applied because of the
// change, on any level below it.
func TestBelowAKustomizationThatIsSuspended(t *testing.T) {
	const apps, changed = "Kustomization flux-system/apps is suspended: ", "the change of Kustomization flux-system/team is not applied"
	text := func(text string) string { return "postBuild: {substitute: {TEXT: " + text + "}}" }
	for _, c := range []struct{ why, owner, base, head, values, want string }{
		{"new", "suspend: true", "", text("one"), "one", "nothing: " + apps + "it does not create Kustomization flux-system/team"},
		{"new, below another one", "suspend: true", "", "below", "one", "nothing: " + apps + "it does not create Kustomization flux-system/team"},
		{"changed", "suspend: true", text("one"), text("two"), "${TEXT}", "unknown: " + apps + changed},
		{"changed, so that it has no HelmRelease", "suspend: true", text("one"), "path: ./charts", "one", "unknown: " + apps + changed},
		{"resumed", "suspend: true", text("one") + ", suspend: true", text("two"), "${TEXT}", "nothing: " + apps + "Kustomization flux-system/team stays suspended"},
		{"suspended", "suspend: true", text("one"), text("two") + ", suspend: true", "${TEXT}", "unknown: " + apps + changed},
		{"the same", "suspend: true", text("one"), text("one"), "three", "upgrade: the values change"},
		{"changed, of one that is not suspended", "", text("one"), text("two"), "${TEXT}", "upgrade: the values change"},
	} {
		for _, live := range []bool{false, true} {
			d := atDesk(t)
			for side, more := range map[string]string{"base": c.base, "head": c.head} {
				d.tree(side, "prune: true, "+c.owner, "", "one")
				values := c.values
				if side == "base" && !strings.Contains(values, "$") {
					values = "one"
				}
				d.releaseFile(side+"/team/web.yaml", "web", webOf("")+", values: {text: '"+values+"'}")
				switch {
				case more == "below":
					d.file(side+"/apps/team.yaml", strings.Replace(kustomization("team", ""), "./team", "./more", 1))
					d.file(side+"/more/below.yaml", strings.Replace(kustomization("below", ""), "./below", "./team", 1))
				case strings.HasPrefix(more, "path"):
					d.file(side+"/apps/team.yaml", strings.Replace(kustomization("team", ""), "./team", "./more", 1))
					d.file(side+"/more/keep.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: shop}\n")
				case more != "":
					d.file(side+"/apps/team.yaml", kustomization("team", more))
				}
			}
			line := offlineFlux
			if live {
				d.must("install web ./base/charts/web")
				line = strings.Replace(line, " --offline", "", 1)
			}
			t.Chdir("head")
			got := verdict(d.planned(line)["web"])
			if live && strings.HasPrefix(c.want, "upgrade") {
				c.want = "upgrade: " // since there is no HelmRelease in the cluster
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, live %t: %s, want %s", c.why, live, got, c.want)
			}
		}
	}
}

// A Kustomization that is told not to prune any more still does while the change of it is not applied.
func TestPruneOfAKustomizationBelowOneThatIsSuspended(t *testing.T) {
	d := atDesk(t)
	for side, prune := range map[string]string{"base": "prune: true", "head": "prune: false"} {
		d.tree(side, "prune: true, suspend: true", "", "one")
		d.file(side+"/apps/team.yaml", strings.Replace(kustomization("team", ""), "prune: true", prune, 1))
		d.file(side+"/team/keep.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: shop}\n")
	}
	d.releaseFile("base/team/web.yaml", "web", webOf(""))
	t.Chdir("head")
	const want = "unknown: Kustomization flux-system/apps is suspended: the change of Kustomization flux-system/team is not applied"
	if got := verdict(d.planned(offlineFlux)["web"]); !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// What is found about a HelmRelease that leaves and is not uninstalled is what helm-controller does, also
// with --prune.
func TestFindingsAboutHelmReleasesThatLeave(t *testing.T) {
	for _, c := range []struct {
		why, owner, says string
		broken, gone     bool
	}{
		{"unknown", "prune: true", "unknown: Kustomization flux-system/apps can't be built: whether it has the HelmRelease is not known", true, false},
		{"suspended", "prune: true, suspend: true", "nothing: left running: Kustomization flux-system/apps is suspended", false, false},
		{"no prune", "prune: false", "nothing: left running: Kustomization flux-system/apps does not prune", false, false},
		{"Orphan", "prune: true, deletionPolicy: Orphan", "nothing: left running: Kustomization flux-system/apps is deleted, and its deletionPolicy is Orphan", false, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.tree("base", c.owner, webOf(""), "one")
			d.tree("head", c.owner, "", "one")
			if c.broken {
				d.file("head/apps/kustomization.yaml", "resources: [gone.yaml]")
			}
			if c.gone {
				d.gone("head/clusters/prod/apps.yaml")
			}
			t.Chdir("head")
			for _, prune := range []string{"", " --prune"} { // it is not ours to uninstall
				a := d.types("plan many " + offlineFlux + " --detailed-exitcode -o annotations" + prune)
				if !strings.Contains(a.out, "it has left the set; what its controller does: "+c.says) || strings.Contains(a.out, "nothing manages it") || strings.Contains(a.out, "--prune") {
					t.Errorf("it says\n%s%s", a.out, a.err)
				}
				if a.code != exitRecordOnly && !c.broken { // what can't be built is an error of its own
					t.Errorf("exit code %d", a.code)
				}
			}
		})
	}
	// One whose release does not exist is none.
	d := atDesk(t)
	d.tree("base", "prune: true", webOf(""), "one")
	d.tree("head", "prune: true", "", "one")
	t.Chdir("head")
	const line = "plan many --flux clusters/prod --base-dir ../base --detailed-exitcode"
	if a := d.must(line + " -o annotations"); a.out != "" {
		t.Errorf("it finds\n%s", a.out)
	}
	d.must(line).has(t, "the release does not exist")
}

// Objects from which others generate HelmReleases or Applications are reported.
func TestGeneratorsAreTold(t *testing.T) {
	d := atDesk(t)
	d.releaseFile("apps/web.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
	d.file("apps/sets.yaml", "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: tenants, namespace: shop}\n---\napiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: clusters, namespace: argocd}\n")
	a := d.must("plan many apps --offline --base-dir /dev/null")
	for _, want := range []string{"ResourceSet/shop/tenants generates objects that are not known here", "ApplicationSet/argocd/clusters generates objects that are not known here"} {
		if !strings.Contains(unwrapped(a.out+a.err), unwrapped(want)) {
			t.Errorf("%q is not in\n%s%s", want, a.out, a.err)
		}
	}
}

// gone removes a file.
func (d *desk) gone(name string) {
	d.t.Helper()
	if err := os.Remove(name); err != nil {
		d.t.Fatal(err)
	}
}

// A Kustomization that leaves the repository decides by its deletionPolicy what happens to what it has
// applied, and one that stays by prune.
func TestDeletionPolicies(t *testing.T) {
	for _, c := range []struct {
		why, owner, above string
		stays             bool
		action, says      string
	}{
		{"mirrors prune", "prune: true", "prune: true", false, "uninstall", "Kustomization flux-system/apps prunes"},
		{"mirrors no prune", "prune: false, deletionPolicy: MirrorPrune", "prune: true", false, "nothing", "left running: Kustomization flux-system/apps is deleted, and does not prune"},
		{"Delete", "prune: false, deletionPolicy: Delete", "prune: true", false, "uninstall", "Kustomization flux-system/apps is deleted, with deletionPolicy Delete"},
		{"WaitForTermination", "prune: false, deletionPolicy: WaitForTermination", "prune: true", false, "uninstall", "with deletionPolicy WaitForTermination"},
		{"Orphan", "prune: true, deletionPolicy: Orphan", "prune: true", false, "nothing", "left running: Kustomization flux-system/apps is deleted, and its deletionPolicy is Orphan"},
		{"Delete, but nothing deletes the Kustomization", "prune: false, deletionPolicy: Delete", "prune: false", false, "nothing", "left running: Kustomization flux-system/apps leaves the repository, and Kustomization flux-system/sync"},
		{"Delete of one that stays", "prune: false, deletionPolicy: Delete", "prune: true", true, "nothing", "left running: Kustomization flux-system/apps does not prune"},
		{"Orphan of one that stays", "prune: true, deletionPolicy: Orphan", "prune: true", true, "uninstall", "Kustomization flux-system/apps prunes"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.tree("base", c.owner, webOf(""), "one")
			d.tree("head", c.owner, "", "one")
			for _, side := range []string{"base", "head"} {
				d.file(side+"/clusters/prod/sync.yaml", strings.NewReplacer("./sync", "./clusters/prod", "prune: true", c.above).Replace(kustomization("sync", "")))
			}
			if !c.stays {
				d.gone("head/clusters/prod/apps.yaml")
			}
			t.Chdir("head")
			web := d.planned(offlineFlux)["web"]
			if web.Verdict == nil || web.Verdict.Action != c.action || !strings.Contains(strings.Join(web.Verdict.Notes, "; "), c.says) || (web.Plan != nil) != (c.action == "uninstall") {
				t.Errorf("%+v, want %s: %s", web.Verdict, c.action, c.says)
			}
		})
	}
	// A Kustomization that leaves what it has applied leaves Kustomizations among that, too.
	d := atDesk(t)
	d.tree("base", "", webOf(""), "one")
	d.tree("head", "", "", "one")
	d.file("base/clusters/prod/apps.yaml", kustomization("above", "deletionPolicy: Orphan"))
	d.file("base/above/apps.yaml", kustomization("apps", ""))
	d.gone("head/clusters/prod/apps.yaml")
	t.Chdir("head")
	if web := d.planned(offlineFlux)["web"]; web.Verdict == nil || web.Verdict.Action != "nothing" || !strings.Contains(web.Verdict.Notes[0], "left running: Kustomization flux-system/apps leaves the repository, and Kustomization flux-system/above") {
		t.Errorf("%+v", web.Verdict)
	}
}

// What a Kustomization applies to another cluster is not looked for in this one.
func TestAKustomizationOfAnotherCluster(t *testing.T) {
	d := atDesk(t)
	d.tree("base", "kubeConfig: {secretRef: {name: other}}", webOf(""), "one")
	d.tree("head", "kubeConfig: {secretRef: {name: other}}", webOf("")+", values: {text: two}", "one")
	d.must("install web ./base/charts/web")
	t.Chdir("head")
	const note = "Kustomization flux-system/apps applies to another cluster (spec.kubeConfig), which is not followed"
	web := d.planned("--flux clusters/prod --base-dir ../base")["web"]
	if web.Verdict == nil || web.Verdict.Action != "unknown" || web.Plan != nil || !strings.Contains(strings.Join(web.Verdict.Notes, "; "), note) {
		t.Errorf("%+v %s", web.Verdict, web.Error)
	}
	if web := d.planned(offlineFlux)["web"]; web.Verdict == nil || web.Verdict.Action != "upgrade" {
		t.Errorf("%+v %s", web.Verdict, web.Error)
	}
	d.must("plan many "+offlineFlux).has(t, note)
}
