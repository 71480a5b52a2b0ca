package command

import (
	"os"
	"strings"
	"testing"
)

// A tenant's GitRepository may be a branch of this repository: what only that branch has is not built, and
// that is said. A folder that a change takes away or that it names by mistake is an error, and so is
// one that the version of the checkout lacks.
func TestAKustomizationOfAnotherBranch(t *testing.T) {
	const (
		unbuilt = "Kustomization flux-system/tenant is of GitRepository/flux-system/tenant, which follows branch tenant, and the checkout has no folder tenant: it is not built; give its files with --source GitRepository/flux-system/tenant=DIR"
		broken  = "build Kustomization flux-system/tenant: path tenant is not a folder in the repository"
		remedy  = broken + "; GitRepository/flux-system/tenant follows branch tenant: if only that has the folder, give its files with --source GitRepository/flux-system/tenant=DIR"
	)
	const nothing, added, same, folder, moved = "/dev/null", "without the Kustomization", "as in the head", "with the folder", "with another path"
	for _, c := range []struct {
		why, source, ref, base, more string
		code                         int
		says                         string
	}{
		{"a tenant's branch", "tenant", "{branch: tenant}", same, "", exitDone, unbuilt},
		{"nothing to compare with", "tenant", "{branch: tenant}", nothing, "", exitDone, unbuilt},
		{"new", "tenant", "{branch: tenant}", added, "", exitError, remedy},
		{"a folder that is gone", "tenant", "{branch: tenant}", folder, "", exitError, remedy},
		{"a path that is new", "tenant", "{branch: tenant}", moved, "", exitError, remedy},
		{"the branch that is checked out", "tenant", "{branch: feature}", same, "", exitError, broken},
		{"the branch of the folder where Flux begins", "tenant", "{branch: main}", same, "", exitError, broken},
		{"the GitRepository of the folder where Flux begins", "fleet", "{branch: main}", same, "", exitError, broken},
		{"a GitRepository that is said to be this one", "tenant", "{branch: tenant}", same, "--source GitRepository/flux-system/tenant=.", exitError, broken},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			source := func(name, ref string) string {
				return strings.NewReplacer("name: fleet", "name: "+name, "namespace: shop", "namespace: flux-system").Replace(gitRepository("https://github.com/shop/fleet", "ref: "+ref))
			}
			tenant := strings.Replace(kustomization("tenant", ""), "name: fleet", "name: "+c.source, 1)
			for _, side := range []string{"base", "head"} {
				d.tree(side, "", webOf(""), "one")
				d.file(side+"/clusters/prod/sync.yaml", strings.Replace(kustomization("sync", ""), "./sync", "./clusters/prod", 1))
				d.file(side+"/clusters/prod/fleet.yaml", source("fleet", "{branch: main}"))
				if c.source != "fleet" {
					d.file(side+"/clusters/prod/source.yaml", source(c.source, c.ref))
				}
				d.file(side+"/clusters/prod/tenant.yaml", tenant)
			}
			base := "--base-dir ../base"
			switch c.base {
			case nothing:
				base = "--base-dir /dev/null"
			case added:
				if err := os.Remove("base/clusters/prod/tenant.yaml"); err != nil {
					t.Fatal(err)
				}
			case folder:
				d.file("base/tenant/settings.yaml", settings("tenant", "a: b"))
			case moved:
				d.file("base/clusters/prod/tenant.yaml", strings.Replace(tenant, "./tenant", "./other", 1))
			}
			t.Chdir("head")
			git(t, "init", "-q", "-b", "feature")
			git(t, "remote", "add", "origin", "https://github.com/shop/fleet")
			git(t, "add", ".")
			git(t, "commit", "-qm", "one")
			a := d.types("plan many --flux clusters/prod --offline " + base + " " + c.more)
			if a.code != c.code {
				t.Errorf("exit code %d", a.code)
			}
			a.has(t, c.says)
			if c.says == broken && strings.Contains(unwrapped(a.out+a.err), unwrapped(broken+";")) {
				t.Errorf("says more than %q:\n%s%s", broken, a.out, a.err)
			}
		})
	}
}

// CI names the base by its commit, of which no branch is known.
func TestAKustomizationOfAnotherBranchInCI(t *testing.T) {
	d := atDesk(t)
	git(t, "init", "-q", "-b", "main")
	git(t, "remote", "add", "origin", "https://github.com/shop/fleet")
	d.tree(".", "", webOf(""), "one")
	d.file("clusters/prod/tenant.yaml", strings.Replace(kustomization("tenant", ""), "name: fleet", "name: tenant", 1))
	d.file("clusters/prod/source.yaml", strings.NewReplacer("name: fleet", "name: tenant", "namespace: shop", "namespace: flux-system").Replace(gitRepository("https://github.com/shop/fleet", "ref: {tag: v1}")))
	git(t, "add", ".")
	git(t, "commit", "-qm", "one")
	commit := git(t, "rev-parse", "HEAD")
	d.must("plan many --flux clusters/prod --offline --changed-since "+commit).has(t, "which follows tag v1, and the checkout has no folder tenant: it is not built")
	if err := os.Remove("clusters/prod/tenant.yaml"); err != nil {
		t.Fatal(err)
	}
	d.file("clusters/prod/mistyped.yaml", strings.Replace(kustomization("mistyped", ""), "name: fleet", "name: tenant", 1))
	if a := d.types("plan many --flux clusters/prod --offline --changed-since " + commit); a.code != exitError {
		t.Errorf("a folder that is not there: exit code %d", a.code)
	}
}

// A chart of a tenant's branch may be a folder or an archive of the checkout. One that the checkout lacks is an
// error if it is there to compare, or if the release is new; without anything to compare with it is not.
func TestAChartOfAnotherBranch(t *testing.T) {
	const nothing, without, same = "--base-dir /dev/null", "--base-dir ../without", "--base-dir ../base"
	for _, c := range []struct {
		why, chart, base string
		code             int
		says             string
	}{
		{"a folder", "./charts/web", nothing, exitDone, ""},
		{"an archive", "./charts/web-1.0.0.tgz", nothing, exitDone, ""},
		{"nothing to compare with", "./charts/web-2.0.0.tgz", nothing, exitDone, "chart ./charts/web-2.0.0.tgz is of GitRepository/flux-system/tenant, which follows branch tenant, and the checkout does not have it"},
		{"lacked before", "./charts/theirs", same, exitDone, "and the checkout does not have it"},
		{"new", "./charts/theirs", without, exitError, "and the checkout does not have it"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.file("packed/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
			for _, side := range []string{"without", "base", "head"} {
				d.tree(side, "prune: true", "", "one")
				d.file(side+"/charts/web-1.0.0.tgz", string(archived(t, "packed")))
				d.file(side+"/clusters/prod/sync.yaml", strings.Replace(kustomization("sync", ""), "./sync", "./clusters/prod", 1))
				for name, branch := range map[string]string{"fleet": "main", "tenant": "tenant"} {
					d.file(side+"/clusters/prod/"+name+".yaml", strings.NewReplacer("name: fleet", "name: "+name, "namespace: shop", "namespace: flux-system").Replace(gitRepository("https://github.com/shop/fleet", "ref: {branch: "+branch+"}")))
				}
				if side != "without" {
					d.releaseFile(side+"/apps/web.yaml", "web", "chart: {spec: {chart: "+c.chart+", sourceRef: {kind: GitRepository, name: tenant, namespace: flux-system}}}, values: {text: "+side+"}")
				}
			}
			t.Chdir("head")
			git(t, "init", "-q", "-b", "main")
			git(t, "remote", "add", "origin", "https://github.com/shop/fleet")
			line := "--flux clusters/prod --offline " + c.base
			if a := d.types("plan many " + line); a.code != c.code {
				t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
			} else {
				a.has(t, c.says)
			}
			web := d.planned(line)["web"]
			if unknown := web.Verdict != nil && web.Verdict.Action == "unknown"; unknown != (c.says != "" && c.code == exitDone) || (web.Plan != nil) != (c.says == "") {
				t.Errorf("%+v: %s", web.Verdict, web.Error)
			}
		})
	}
}
