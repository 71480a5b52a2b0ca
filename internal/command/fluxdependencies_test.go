package command

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// Dependencies of a chart from Git that are not in charts/ are fetched, as source-controller does: those of
// Chart.lock if there is one, else the newest that Chart.yaml allows.
func TestDependenciesOfAChartFromGit(t *testing.T) {
	repository, registry := sourcetest.Serve(t, sourcetest.Options{}), sourcetest.Serve(t, sourcetest.Options{})
	repository.Publish(t, map[string][]string{"sub": {"1.0.0", "1.1.0", "2.0.0"}})
	for _, version := range []string{"1.0.0", "1.2.0"} {
		registry.PutImage(t, "charts/sub", version, sourcetest.Chart(t, "sub", version, ""))
	}
	registry.PutImage(t, "charts/sub", "3.0.0", sourcetest.Chart(t, "other", "3.0.0", ""))
	registry.Put("/v2/charts/sub/tags/list", []byte(`{"name":"charts/sub","tags":["1.0.0","1.2.0","3.0.0"]}`))
	oci := "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/charts"
	for _, c := range []struct{ why, repository, version, lock, want string }{
		{"a range in a repository", repository.URL, "^1", "", "version:1.1.0]"},
		{"what is locked", repository.URL, "^1", "{name: sub, repository: " + repository.URL + ", version: 1.0.0}", "version:1.0.0]"},
		{"with the digest", repository.URL, "^1", "{name: sub, repository: " + repository.URL + ", version: 1.0.0, digest: 'sha256:" + sourcetest.Digest(repository.File("/sub-1.0.0.tgz")) + "'}", "version:1.0.0]"},
		{"another digest", repository.URL, "^1", "{name: sub, repository: " + repository.URL + ", version: 1.1.0, digest: 'sha256:" + sourcetest.Digest(repository.File("/sub-1.0.0.tgz")) + "'}", "dependency sub of web: "},
		{"a range in a registry", oci + "/", "^1", "", "version:1.2.0]"},
		{"what is locked in a registry", oci, "^1", "{name: sub, repository: '" + oci + "', version: 1.0.0, digest: 'sha256:" + sourcetest.Digest(repository.File("/sub-1.0.0.tgz")) + "'}", "version:1.0.0]"},
		{"another chart", oci, "3.0.0", "", "dependency sub of web: the archive holds chart other"},
		{"nothing in the range", repository.URL, "^7", "", "dependency sub of web: "},
		{"a name that is not known", "@stable", "^1", "", "sub"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: sub, version: '"+c.version+"', repository: '"+c.repository+"'}]}")
			if c.lock != "" {
				d.file("web/Chart.lock", "dependencies: ["+c.lock+"]\n")
			}
			d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
			if got := d.texts("release.yaml --offline --base-dir /dev/null"); strings.Contains(got, "version:") || c.repository != "@stable" && (!strings.Contains(got, "dependency sub of web: ") || !strings.Contains(got, "is not in the cache")) {
				t.Errorf("offline: %s", got)
			}
			got := d.texts("release.yaml --base-dir /dev/null")
			if !strings.Contains(got, c.want) || strings.Contains(c.want, "version:") != strings.Contains(got, "version:") {
				t.Fatalf("%s, want %s", got, c.want)
			}
			if strings.Contains(c.want, "version:") {
				if got := d.texts("release.yaml --offline --base-dir /dev/null"); !strings.Contains(got, c.want) {
					t.Errorf("offline, with what was fetched: %s, want %s", got, c.want)
				}
			}
		})
	}
}

// Credentials from flags are for charts that the set names. Whoever writes a chart, as in a pull request,
// must not be able to have them sent to a server that it depends on.
func TestDependenciesGetNoCredentials(t *testing.T) {
	repository, registry := sourcetest.Serve(t, sourcetest.Options{}), sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"})
	repository.Publish(t, map[string][]string{"sub": {"1.0.0"}})
	registry.PutImage(t, "charts/sub", "1.0.0", sourcetest.Chart(t, "sub", "1.0.0", ""))
	for from, server := range map[string]*sourcetest.Repository{
		repository.URL: repository, "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/charts": registry,
	} {
		d := atDesk(t)
		d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: sub, version: 1.0.0, repository: '"+from+"'}]}")
		d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
		d.texts("release.yaml --base-dir /dev/null --username u --password p")
		asked := server.Requests()
		for _, q := range asked {
			if q.Header.Get("Authorization") != "" {
				t.Errorf("%s got the credentials", from)
			}
		}
		if len(asked) == 0 {
			t.Errorf("%s was not asked", from)
		}
	}
}
