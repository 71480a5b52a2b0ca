package command

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// git runs a command of git in the working directory.
func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// gitRepository returns a GitRepository in the namespace shop, called fleet.
func gitRepository(url, more string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: shop}\nspec: {interval: 1m, url: '" + url + "', " + more + "}\n"
}

// A GitRepository is the checkout because of its URL, or because a user says so (docs/flux.md).
func TestWhichGitRepositoryIsTheCheckout(t *testing.T) {
	const here, other = "https://x-access-token:canary@GitHub.com/shop/fleet", "https://github.com/shop/charts"
	for _, c := range []struct {
		why, remote, url, source string
		planned                  bool
		says                     string
	}{
		{"the same, written otherwise", here, "ssh://git@github.com:443/shop/fleet.git", "", true, ""},
		{"a fork", "git@github.com:me/fleet.git", "https://github.com/shop/fleet", "", true, "GitRepository/shop/fleet is assumed to be this repository, or the one it is a fork or mirror of: it is github.com/shop/fleet, and the checkout's remotes are github.com/me/fleet"},
		{"a fork that is said to be it", "git@github.com:me/fleet.git", "https://github.com/shop/fleet", "GitRepository/shop/fleet=.", true, ""},
		{"another one", here, other, "", false, "chart ./web is of GitRepository/shop/fleet, which is github.com/shop/charts, not a remote of this checkout (github.com/shop/fleet): give it with --source GitRepository/shop/fleet=DIR; to treat it as this repository, pass --source GitRepository/shop/fleet=. at the root"},
		{"another one that is said to be it", here, other, "GitRepository/shop/fleet=.", true, ""},
		{"another one whose files are named", here, other, "GitRepository/shop/fleet=elsewhere", true, ""},
		{"no remotes", "", other, "", true, ""},
		{"a remote on this machine", "../charts", other, "", true, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.file("elsewhere/web/Chart.yaml", "{apiVersion: v2, name: web, version: 2.0.0}")
			git(t, "init", "-q")
			if c.remote != "" {
				git(t, "remote", "add", "origin", c.remote)
			}
			d.file("source.yaml", gitRepository(c.url, ""))
			d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
			line := "plan many source.yaml release.yaml --offline --base-dir /dev/null -o json"
			if c.source != "" {
				line += " --source " + c.source
			}
			a := d.types(line)
			var made releaseset.Document
			if err := json.Unmarshal([]byte(a.out), &made); err != nil {
				t.Fatal(err, a.err)
			}
			said := strings.Join(append(made.Warnings, made.Releases[0].Error), "; ")
			if planned := made.Releases[0].Plan != nil; planned != c.planned || !strings.Contains(said, c.says) || c.says == "" && said != "; " && said != "" {
				t.Errorf("planned %t, %s", planned, said)
			}
			if version := "2.0.0"; strings.HasSuffix(c.source, "=elsewhere") != (c.planned && made.Releases[0].Plan.ChartTo.Version == version) {
				t.Errorf("%+v", made.Releases[0].Plan.ChartTo)
			}
			if strings.Contains(a.out+a.err, "canary") {
				t.Errorf("a remote's token is told:\n%s%s", a.out, a.err)
			}
		})
	}
}

// valuesFiles are files of the source, wherever a user says it is.
func TestValuesFilesOfASourceThatIsNamed(t *testing.T) {
	d := atDesk(t)
	outside := t.TempDir()
	for _, dir := range []string{"inside", outside} {
		d.file(dir+"/web/Chart.yaml", "{apiVersion: v2, name: web, version: 2.0.0}")
		d.file(dir+"/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: {{ .Values.text }}}\n")
		d.file(dir+"/env/prod.yaml", "text: prod\n")
		for valuesFiles, want := range map[string]string{"[env/prod.yaml]": "web=map[text:prod]", "[env/prod.yaml, gone.yaml]": "gone.yaml: there is no such file"} {
			d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}, valuesFiles: "+valuesFiles+"}}")
			if got := d.texts("release.yaml --offline --base-dir /dev/null --source GitRepository/shop/fleet=" + dir); !strings.Contains(got, want) {
				t.Errorf("%s of %s: %s, want %s", valuesFiles, dir, got, want)
			}
		}
	}
}

// Nothing is built from what another repository has.
func TestKustomizationsOfAnotherRepository(t *testing.T) {
	d := atDesk(t)
	git(t, "init", "-q")
	git(t, "remote", "add", "origin", "https://github.com/shop/fleet")
	d.tree(".", "prune: true", webOf(""), "one")
	d.file("clusters/prod/source.yaml", strings.Replace(gitRepository("https://github.com/shop/charts", ""), "namespace: shop", "namespace: flux-system", 1))
	const line = "--flux clusters/prod --offline --base-dir /dev/null"
	d.must("plan many "+line).has(t, "Kustomization flux-system/apps is of GitRepository/flux-system/fleet, which is github.com/shop/charts, not a remote of this checkout (github.com/shop/fleet): it is not built; give its files with --source GitRepository/flux-system/fleet=DIR; to treat it as this repository, pass --source GitRepository/flux-system/fleet=. at the root")
	if all := d.planned(line); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if web := d.planned(line + " --source GitRepository/flux-system/fleet=.")["web"]; web.Plan == nil {
		t.Errorf("%+v", web)
	}
	// A Kustomization that builds the very folder that Flux starts from belongs to this repository,
	// whatever it is called by now.
	d.file("clusters/prod/sync.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: sync, namespace: flux-system}\nspec: {interval: 1m, path: ./clusters/prod/, prune: true, sourceRef: {kind: GitRepository, name: fleet}}\n")
	d.must("plan many "+line).has(t, "shop/web install", "GitRepository/flux-system/fleet is assumed to be this repository, or the one it is a fork or mirror of: it is github.com/shop/charts, and the checkout's remotes are github.com/shop/fleet")
}

// What is merged into one branch does not reach a cluster that follows another.
func TestGitRepositoriesThatFollowSomethingElse(t *testing.T) {
	d := atDesk(t)
	git(t, "init", "-q", "-b", "main")
	d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
	for ref, follows := range map[string]string{
		"ref: {branch: main}":              "",
		"ref: {branch: main, commit: abc}": "commit abc",
		"ref: {branch: production}":        "branch production",
		"":                                 "branch master",
		"ref: {tag: v1, branch: main}":     "tag v1",
		"ref: {semver: '>=1', tag: v1}":    "the newest tag of >=1",
		"ref: {name: refs/heads/main, branch: production}": "",
		"ref: {name: refs/pull/1/head}":                    "refs/pull/1/head",
	} {
		d.file("source.yaml", gitRepository("https://example.com/fleet", ref))
		git(t, "add", ".")
		git(t, "commit", "-qm", "one")
		git(t, "update-ref", "refs/remotes/origin/main", "HEAD")
		for _, against := range []string{"main", "origin/main", "HEAD"} {
			a := d.must("plan many source.yaml release.yaml --offline --all --against-ref " + against)
			want := "GitRepository/shop/fleet follows " + follows + ", not branch main: the change is applied once it is there"
			if said := strings.Contains(unwrapped(a.out+a.err), unwrapped(want)); said != (follows != "") || follows == "" && strings.Contains(a.out+a.err, "follows") {
				t.Errorf("%s, against %s: want %q\n%s%s", ref, against, follows, a.out, a.err)
			}
		}
		commit := git(t, "rev-parse", "HEAD")
		if a := d.must("plan many source.yaml release.yaml --offline --all --against-ref " + commit); strings.Contains(a.out+a.err, "follows") {
			t.Errorf("%s: a commit is no branch:\n%s%s", ref, a.out, a.err)
		}
	}
}
