//go:build cluster

package sources_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A bundle has the very archives, with their dependencies and signatures, and the images
// that the values ask for; it serves where there is no network, with Helm, too.
func TestBundle(t *testing.T) {
	a, h, g := repositoryA(t, sourcetest.Options{}), newHome(t), newGnuPG(t, "Anna")
	public, secret := g.keys(h)
	h.ok("repo", "add", "a", a.URL)
	h.umbrella("um", "{name: alpha, version: ^1, repository: "+a.URL+"}")
	h.write("um/values.yaml", "debug: false\n")
	h.write("um/templates/pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers: [{name: a, image: 'web:1'}]\n{{- if .Values.debug }}\n  initContainers: [{name: b, image: 'debug:1'}]\n{{- end }}\n")
	h.write("um/templates/hook.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: job, annotations: {helm.sh/hook: post-install}}\nspec: {template: {spec: {containers: [{name: a, image: 'job@sha256:00'}]}}}\n")
	h.fails(1, "not in charts/: alpha", "chart", "bundle", "um", "-d", "bundle")
	if h.exists("bundle") {
		t.Error("a bundle was begun that can't be whole")
	}
	h.ok("dependency", "update", "um")
	h.ok("chart", "bundle", "um", "a/beta", "-d", "bundle", "--set", "debug=true")
	if got := h.read("bundle/images.txt"); got != "debug:1\njob@sha256:00\nweb:1\n" {
		t.Errorf("%q", got)
	}
	if h.read("bundle/beta-2.0.0.tgz") != string(a.File("/beta-2.0.0.tgz")) {
		t.Error("another beta is in the bundle")
	}
	was := h.read("bundle/um-1.0.0.tgz")
	h.ok("chart", "bundle", "um", "-d", "bundle")
	if got := h.read("bundle/images.txt"); got != "job@sha256:00\nweb:1\n" || h.read("bundle/um-1.0.0.tgz") != was {
		t.Errorf("%q", got)
	}
	h.ok("package", "um", "--sign", "--key", "Anna", "--keyring", secret)
	h.ok("chart", "bundle", "um-1.0.0.tgz", "-d", "signed", "--verify", "--keyring", public)
	a.Stop()
	must(t, os.RemoveAll(h.path(".cache")))
	h.ok("verify", "signed/um-1.0.0.tgz", "--keyring", public)
	ours, helms := h.ok("template", "web", "bundle/um-1.0.0.tgz", "--offline"), h.helm("template", "web", "bundle/um-1.0.0.tgz")
	if !same(ours, helms) || !strings.Contains(ours.out, "alpha/templates/cm.yaml") {
		t.Errorf("ours:\n%s\nHelm's:\n%s", ours.out, helms.out)
	}
}
