//go:build cluster

package sources_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// pinned returns what a plan without a cluster says about its chart's source.
func (h *home) pinned(args ...string) plan.ChartSource {
	h.t.Helper()
	args = append([]string{"plan", "web"}, args...)
	r := h.ok(append(args, "-o", "json", "--out", "web.plan")...)
	var document plan.Document
	must(h.t, json.Unmarshal([]byte(r.out), &document))
	if document.ChartSource == nil {
		h.t.Fatalf("%v: the plan does not say where the chart is from", args)
	}
	if shown := h.ok("plan", "show", "web.plan", "-o", "json").out; shown != r.out {
		h.t.Error("the saved plan says something else")
	}
	if text := h.ok("plan", "show", "web.plan", "--full").out; !strings.Contains(text, "("+document.ChartSource.Digest+")") {
		h.t.Error(text)
	}
	return *document.ChartSource
}

func TestPlanPinsItsSource(t *testing.T) {
	r, a, h := plainRegistry(t), repositoryA(t, sourcetest.Options{User: "u", Password: "p"}), newHome(t)
	h.ok("repo", "add", "a", a.URL, "--username", "u", "--password", "p")
	for _, version := range []string{"1.0.0", "1.1.0"} {
		h.ok("push", h.chartFile("alpha", version, ""), "oci://"+r.Host+"/charts")
	}
	image := "oci://" + r.Host + "/charts/alpha"
	manifest := "sha256:" + sourcetest.Digest(fetchManifest(t, "http://"+r.Host+"/v2/charts/alpha/manifests/1.1.0"))
	inURL := strings.Replace(a.URL, "://", "://u:p@", 1)
	archive := "sha256:" + sourcetest.Digest(a.File("/beta-2.0.0.tgz"))
	beta := plan.ChartSource{Reference: "a/beta", Repository: a.URL, Name: "beta", Version: "2.0.0", URL: a.URL + "/beta-2.0.0.tgz", Digest: archive}
	unnamed, remote := beta, plan.ChartSource{Reference: beta.URL, URL: beta.URL, Digest: archive}
	unnamed.Reference = "beta"
	for name, tc := range map[string]struct {
		args []string
		want plan.ChartSource
	}{
		"a range":      {[]string{image, "--version", "^1"}, plan.ChartSource{Reference: image, Name: "alpha", Version: "1.1.0", URL: image + ":1.1.0", Digest: manifest}},
		"a digest":     {[]string{image + "@" + manifest, "--against", image}, plan.ChartSource{Reference: image + "@" + manifest, Name: "alpha", URL: image, Digest: manifest, Fixed: true}},
		"a repository": {[]string{"a/beta"}, beta},
		"--repo":       {[]string{"beta", "--repo", inURL, "--username", "u", "--password", "p"}, unnamed},
		"a URL":        {[]string{inURL + "/beta-2.0.0.tgz", "--username", "u", "--password", "p", "--against", "a/beta"}, remote},
	} {
		if got := h.pinned(append(tc.args, "--against-version", "1.0.0")...); got != tc.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, tc.want)
		}
	}
}

// A plan says what the lock of a chart with dependencies is worth.
func TestPlanTellsTheLock(t *testing.T) {
	h := withA(t)
	dependency := func(version string) { h.umbrella("um", "{name: alpha, version: "+version+", repository: '@a'}") }
	lock := func() plan.ChartLock {
		var document plan.Document
		must(t, json.Unmarshal([]byte(h.ok("plan", "web", "um", "--offline", "--against", "/dev/null", "-o", "json").out), &document))
		return *document.ChartLock
	}
	dependency("^1")
	h.write("um/charts/alpha/Chart.yaml", "apiVersion: v2\nname: alpha\nversion: 1.0.0\n")
	if got := lock(); got.Dependencies != 1 || got.File != "" {
		t.Errorf("without a lock: %+v", got)
	}
	must(t, os.RemoveAll(h.path("um/charts")))
	h.ok("dependency", "update", "um")
	if got := lock(); got.File != "Chart.lock" || got.Pinned != 1 || got.OutOfSync != "" || !strings.Contains(h.read("um/Chart.lock"), "\ndigest: "+got.Digest) {
		t.Errorf("with one: %+v", got)
	}
	if out := h.ok("plan", "web", "um", "--offline", "--against", "/dev/null").out; !strings.Contains(out, "Chart.lock in sync, 1 of 1 archives pinned by digest") {
		t.Error(out)
	}
	dependency("^2")
	if got := lock(); !strings.Contains(got.OutOfSync, `alpha: version 1.0.0 does not satisfy "^2"`) {
		t.Errorf("one of another Chart.yaml: %+v", got)
	}
	h.write("um/Chart.lock", "dependencies: [{name: alpha, digest: none}]\n")
	if got := lock(); got.OutOfSync == "" {
		t.Errorf("one that can't be read: %+v", got)
	}
}
