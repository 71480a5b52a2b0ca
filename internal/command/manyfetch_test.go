package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// The credentials of flags are for one server: a set that names another one is refused before
// anything is fetched, as a pull request could otherwise have them sent anywhere.
func TestCredentialsForASet(t *testing.T) {
	d := atDesk(t)
	own, other := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"}), sourcetest.Serve(t, sourcetest.Options{})
	for _, server := range []*sourcetest.Repository{own, other} {
		server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	}
	d.file("releases.yaml", fmt.Sprintf(`version: 1
defaults: {namespace: shop}
releases:
- {name: one, chart: {repo: "%s", name: alpha, version: 1.0.0}}
- {name: two, chart: {repo: "%[1]s", name: alpha, version: 1.0.0}}
- {name: local, chart: ./web}
- {name: other, chart: {repo: "%s", name: alpha, version: 1.0.0}}
`, own.URL, other.URL))
	const plan = "plan many releases.yaml --username u --password p"
	a := d.types(plan)
	if a.code != exitError || !strings.Contains(a.err, own.URL) || !strings.Contains(a.err, other.URL) || !strings.Contains(a.err, "are for one server") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if asked := append(own.Asked(), other.Asked()...); len(asked) > 0 {
		t.Errorf("asked were %q", asked)
	}
	d.must(plan + " --selector name!=other")
	for _, q := range own.Requests() {
		if q.Header.Get("Authorization") == "" {
			t.Errorf("without credentials: %+v", q)
		}
	}
	if asked := other.Asked(); len(asked) > 0 {
		t.Errorf("asked was %q", asked)
	}
}

// Without a cluster charts are fetched all the same; --offline takes them from the cache.
func TestChartsOfASetAreFetchedWithoutACluster(t *testing.T) {
	d, server := atDesk(t), sourcetest.Serve(t, sourcetest.Options{})
	server.Publish(t, map[string][]string{"alpha": {"1.0.0", "1.1.0"}})
	for file, version := range map[string]string{"base/releases.yaml": "1.0.0", "releases.yaml": "1.1.0"} {
		d.file(file, fmt.Sprintf("version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: web, chart: {repo: %q, name: alpha, version: %s}}\n", server.URL, version))
	}
	const plan = "plan many releases.yaml --base-dir base --kubeconfig nowhere"
	if a := d.types(plan + " --offline"); a.code != exitError || !strings.Contains(a.out, "--offline fetches nothing; --no-cluster") || len(server.Asked()) > 0 {
		t.Errorf("exit code %d, asked were %q\n%s%s", a.code, server.Asked(), a.out, a.err)
	}
	for _, flag := range []string{" --no-cluster", " --offline"} {
		if a := d.must(plan + flag); !strings.Contains(a.out, "1.0.0 → 1.1.0") {
			t.Errorf("%s:\n%s%s", flag, a.out, a.err)
		}
	}
}

// A dependency of a chart in the repository may be on any server. A flag that does without TLS was not
// given for it: a login that is kept for that server does not go there unprotected.
func TestDependenciesAreFetchedWithTLS(t *testing.T) {
	d := atDesk(t)
	other := sourcetest.Serve(t, sourcetest.Options{TLS: true})
	other.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	netrc := filepath.Join(t.TempDir(), "netrc")
	d.file(netrc, "machine "+strings.TrimPrefix(other.URL, "https://")+" login u password p\n")
	t.Setenv("NETRC", netrc)
	d.file("web/Chart.yaml", fmt.Sprintf("{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: alpha, version: 1.0.0, repository: %q}]}", other.URL))
	d.file("releases.yaml", "version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: web, chart: ./web}\n")
	a := d.types("plan many releases.yaml --insecure-skip-tls-verify")
	if asked := other.Requests(); a.code != exitError || !strings.Contains(a.out, "certificate") || len(asked) > 0 {
		t.Errorf("exit code %d, asked %+v\n%s%s", a.code, asked, a.out, a.err)
	}
}

// The CA file of a flag is for the charts that the set names. It does not replace what is remembered of a
// dependency's server nor, if the charts come from several servers, of theirs.
func TestCAFileForASet(t *testing.T) {
	d := atDesk(t)
	internal := sourcetest.ServeTokens(t, "u", "p").CertFile
	other, second := sourcetest.Serve(t, sourcetest.Options{TLS: true}), sourcetest.Serve(t, sourcetest.Options{})
	for _, server := range []*sourcetest.Repository{other, second} {
		server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	}
	d.must("repo add other " + other.URL + " --ca-file " + other.CAFile)
	d.file("web/Chart.yaml", fmt.Sprintf("{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: alpha, version: 1.0.0, repository: %q}]}", other.URL))
	d.file("releases.yaml", "version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: web, chart: ./web}\n")
	d.must("plan many releases.yaml --ca-file " + internal)
	d.file("several.yaml", fmt.Sprintf(`version: 1
defaults: {namespace: shop}
releases:
- {name: one, chart: {repo: "%s", name: alpha, version: 1.0.0}}
- {name: two, chart: {repo: "%s", name: alpha, version: 1.0.0}}
`, other.URL, second.URL))
	d.must("plan many several.yaml --ca-file " + internal)
}

// Those of a comparison are for one server, too.
func TestCredentialsForAComparison(t *testing.T) {
	d := atDesk(t)
	own, other := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"}), sourcetest.Serve(t, sourcetest.Options{})
	for _, server := range []*sourcetest.Repository{own, other} {
		server.Publish(t, map[string][]string{"alpha": {"1.0.0", "1.1.0"}})
	}
	plan := "plan web " + own.URL + "/alpha-1.1.0.tgz --username u --password p --against "
	a := d.types(plan + other.URL + "/alpha-1.0.0.tgz --against-values /dev/null")
	if a.code != exitError || !strings.Contains(a.err, other.URL) || !strings.Contains(a.err, "are for one server") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if asked := append(own.Asked(), other.Asked()...); len(asked) > 0 {
		t.Errorf("asked were %q", asked)
	}
	d.must(plan + own.URL + "/alpha-1.0.0.tgz")
	d.must("install web " + own.URL + "/alpha-1.0.0.tgz --username u --password p")
	d.must(plan + "1")
}

// They are not for what the chart of a pull request depends on if they can be for the server of the base.
func TestCredentialsForAComparisonAndDependencies(t *testing.T) {
	d := atDesk(t)
	own, other := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"}), sourcetest.Serve(t, sourcetest.Options{})
	own.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	other.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	d.file("um/Chart.yaml", "{apiVersion: v2, name: um, version: 1.0.0, dependencies: [{name: alpha, version: 1.0.0, repository: '"+other.URL+"'}]}")
	for _, line := range []string{
		"plan um ./um --dependency-update --username u --password p --against " + own.URL + "/alpha-1.0.0.tgz",
		"template um ./um --dependency-update --username u --password p --untrusted",
	} {
		a := d.types(line)
		if a.code != exitError || !strings.Contains(a.err, "--dependency-update") || len(own.Asked())+len(other.Asked()) > 0 {
			t.Errorf("%s: exit code %d, asked were %q\n%s%s", line, a.code, append(own.Asked(), other.Asked()...), a.out, a.err)
		}
	}
	d.must("plan um ./um --dependency-update --against " + other.URL + "/alpha-1.0.0.tgz")
	d.must("plan web " + own.URL + "/alpha-1.0.0.tgz --dependency-update --username u --password p") // it has them all
}

// fetchedWeb is the spec of a HelmRelease of the chart alpha in a HelmRepository.
const fetchedWeb = "chart: {spec: {chart: alpha, version: 1.0.0, sourceRef: {kind: HelmRepository, name: NAME}}}"

func helmRepository(name, url string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: " + name + ", namespace: shop}\nspec: {interval: 1m, url: \"" + url + "\"}\n"
}

// The credentials of flags are for the server that the files name. One that only variables of the cluster
// name, or their defaults, does not get them: a pull request could have them sent anywhere.
func TestCredentialsAndVariablesOfTheCluster(t *testing.T) {
	const optional = "postBuild: {substitute: {TEXT: one}, substituteFrom: [{kind: ConfigMap, name: vars, optional: true}]}"
	own, other := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"}), sourcetest.Serve(t, sourcetest.Options{})
	host := func(r *sourcetest.Repository) string { return strings.TrimPrefix(r.URL, "http://") }
	for _, server := range []*sourcetest.Repository{own, other} {
		server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	}
	d := atDesk(t)
	d.tree(".", optional, strings.Replace(fetchedWeb, "NAME", "own", 1), "one")
	d.file("apps/own.yaml", helmRepository("own", own.URL))
	for name, url := range map[string]string{"same": "http://${SAME:=" + host(own) + "}", "other": "http://${NOPE:=" + host(other) + "}"} {
		d.releaseFile("apps/"+name+".yaml", name, strings.Replace(fetchedWeb, "NAME", name, 1))
		d.file("apps/"+name+"-repository.yaml", helmRepository(name, url))
	}
	made := d.planned("--flux clusters/prod --username u --password p")
	for _, name := range []string{"web", "same", "other"} {
		if made[name].Error != "" || made[name].Plan == nil {
			t.Errorf("%s: %s", name, made[name].Error)
		}
	}
	for _, q := range own.Requests() {
		if q.Header.Get("Authorization") == "" {
			t.Errorf("without credentials: %+v", q)
		}
	}
	asked := other.Requests()
	if len(asked) == 0 {
		t.Error("the other server was not asked")
	}
	for _, q := range asked {
		if q.Header.Get("Authorization") != "" {
			t.Errorf("with credentials: %+v", q)
		}
	}
}

// What Secrets of the cluster contribute to the URL of a chart is masked wherever that is shown.
func TestSecretsInTheURLOfAChart(t *testing.T) {
	server := sourcetest.Serve(t, sourcetest.Options{})
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	host := strings.TrimPrefix(server.URL, "http://")
	for _, name := range []string{"alpha", "gone"} {
		d := atDesk(t)
		d.tree(".", "prune: true", strings.NewReplacer("NAME", "secret", "alpha", name).Replace(fetchedWeb), "one")
		d.file("clusters/prod/sources.yaml", kustomization("sources", from("Secret", "vars")))
		d.file("sources/repository.yaml", helmRepository("secret", "http://${HOST}"))
		d.Put(objecttest.Parse(t, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: vars, namespace: flux-system}, stringData: {HOST: %q}}", host)))
		for _, output := range []string{"text", "json", "markdown", "html", "sarif"} {
			a := d.types("plan many --flux clusters/prod -o " + output)
			if text := a.out + a.err; strings.Contains(text, host) || !strings.Contains(text, name) {
				t.Errorf("%s, -o %s:\n%s", name, output, text)
			}
		}
		if a := d.types("plan many --flux clusters/prod --show-secrets"); !strings.Contains(a.err+a.out, host) {
			t.Errorf("%s, with --show-secrets:\n%s%s", name, a.out, a.err)
		}
	}
}
