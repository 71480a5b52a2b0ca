//go:build cluster

package sources_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A bundle holds the exact archives, with their dependencies and signatures, and a list of the images
// that the values ask for; it works without a network, for Helm, too.
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
	pin := h.pinned("signed/um-1.0.0.tgz", "--offline", "--against", "signed/um-1.0.0.tgz", "--verify", "--keyring", public)
	if pin.URL != "signed/um-1.0.0.tgz" || pin.Digest != "sha256:"+sourcetest.Digest([]byte(h.read("signed/um-1.0.0.tgz"))) || pin.Signature == nil || pin.Signature.Signer != "Anna <anna@example.com>" {
		t.Errorf("the plan says %+v", pin)
	}
	ours, helms := h.ok("template", "web", "bundle/um-1.0.0.tgz", "--offline"), h.helm("template", "web", "bundle/um-1.0.0.tgz")
	if !same(ours, helms) || !strings.Contains(ours.out, "alpha/templates/cm.yaml") {
		t.Errorf("ours:\n%s\nHelm's:\n%s", ours.out, helms.out)
	}
}

// Charts that were signed in a registry with cosign stay signed in a bundle, by a key or an identity,
// from cosign 3 and 2: the manifest that is signed comes with them.
func TestBundleOfCosignedCharts(t *testing.T) {
	r, h, anna, sigstore := plainRegistry(t), newHome(t), newCosigner(t), sourcetest.NewSigstore(t)
	h.write("anna.pub", anna.publicKey())
	h.write("bert.pub", newCosigner(t).publicKey())
	h.write("root.json", string(sigstore.TrustedRoot()))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	to, who := "oci://"+r.Host+"/charts", sourcetest.Keyless{Identity: "anna@example.com", Issuer: "https://accounts.example.com", Certified: at, Logged: at.Add(time.Minute), Rekor2: true}
	keyless := []string{"--certificate-identity", who.Identity, "--certificate-oidc-issuer", who.Issuer, "--trusted-root", "root.json"}
	flags := map[string][]string{"new": {"--verify-key", "anna.pub"}, "old": {"--verify-key", "anna.pub"}, "keyless": keyless}
	for name := range flags {
		h.ok("push", h.chartFile(name, "1.0.0", ""), to)
		manifest := fetchManifest(t, "http://"+r.Host+"/v2/charts/"+name+"/manifests/1.0.0")
		switch name {
		case "new":
			attach(t, r.Host, "charts/"+name, manifest, anna.bundle(sourcetest.Digest(manifest)))
		case "old":
			anna.signAsBefore(r.Host, "charts/"+name, manifest)
		case "keyless":
			attach(t, r.Host, "charts/"+name, manifest, sigstore.SignManifest(who, sourcetest.Digest(manifest)))
		}
		h.ok(append([]string{"chart", "bundle", to + "/" + name, "-d", "bundle"}, flags[name]...)...)
		h.ok(append([]string{"template", to + "/" + name, "--offline"}, flags[name]...)...)
	}
	r.Stop()
	far := newHome(t)
	for _, f := range []string{"anna.pub", "bert.pub", "root.json"} {
		far.write(f, h.read(f))
	}
	for name, data := range h.tree("bundle") {
		far.write("bundle/"+name, data)
	}
	file := func(name string) string { return "bundle/" + name + "-1.0.0.tgz" }
	for name, by := range flags {
		if out := far.ok(append([]string{"verify", file(name)}, by...)...).out; !strings.Contains(out, "Chart Hash Verified: sha256:"+sourcetest.Digest([]byte(far.read(file(name))))) {
			t.Error(out)
		}
		far.ok(append([]string{"template", file(name)}, by...)...)
		far.fails(8, "", "template", file(name), "--verify-key", "bert.pub")
	}
	far.pushSigned(t, flags)
	// The signature belongs to a manifest, and the manifest to one archive.
	good := far.read(file("new"))
	far.write(file("new"), far.read(file("old")))
	far.fails(8, "is that of another archive", "verify", file("new"), "--verify-key", "anna.pub")
	far.write(file("new")+".manifest.json", far.read(file("old")+".manifest.json"))
	far.fails(8, "another digest", "verify", file("new"), "--verify-key", "anna.pub")
	far.write(file("new"), good)
	must(t, os.Remove(far.path(file("new")+".manifest.json")))
	far.fails(8, "another digest", "verify", file("new"), "--verify-key", "anna.pub")
}

// pushSigned pushes the bundle's charts to another registry, where they are signed as before, next to
// what others have signed there. Signatures that can't come along are an error.
func (h *home) pushSigned(t *testing.T, flags map[string][]string) {
	t.Helper()
	r, bert := plainRegistry(t), newCosigner(t)
	to := "oci://" + r.Host + "/far"
	h.write("bert2.pub", bert.publicKey())
	for name, by := range flags {
		file := "bundle/" + name + "-1.0.0.tgz"
		h.fails(10, "there is no chart", append([]string{"template", to + "/" + name}, by...)...)
		out := h.ok("push", file, to).out
		signature := "Signature: sha256:" + sourcetest.Digest([]byte(h.read(file+".sigstore.json")))
		if !strings.Contains(out, "Digest: sha256:"+sourcetest.Digest([]byte(h.read(file+".manifest.json")))) || !strings.Contains(out, signature) {
			t.Errorf("%s: %s", name, out)
		}
		h.ok(append([]string{"verify", to + "/" + name}, by...)...)
		h.fails(8, "", "template", to+"/"+name, "--verify-key", "bert2.pub")
		if again := h.ok("push", file, to).out; again != out {
			t.Errorf("%s, once more: %s", name, again)
		}
	}
	manifest := []byte(h.read("bundle/old-1.0.0.tgz.manifest.json"))
	bert.signAsBefore(r.Host, "far/old", manifest)
	h.ok("push", "bundle/old-1.0.0.tgz", to)
	h.ok("verify", to+"/old", "--verify-key", "bert2.pub")
	h.ok("verify", to+"/old", "--verify-key", "anna.pub")
	// A config that was not made from Chart.yaml can't be made again.
	h.write("other/new-1.0.0.tgz", h.read("bundle/new-1.0.0.tgz"))
	h.write("other/new-1.0.0.tgz.sigstore.json", h.read("bundle/new-1.0.0.tgz.sigstore.json"))
	text := regexp.MustCompile(`"digest":"sha256:[0-9a-f]{64}"`).ReplaceAllString(string(manifest), `"digest":"sha256:`+sourcetest.Digest([]byte(h.read("bundle/new-1.0.0.tgz")))+`"`)
	h.write("other/new-1.0.0.tgz.manifest.json", strings.Replace(text, sourcetest.Digest([]byte(h.read("bundle/new-1.0.0.tgz"))), strings.Repeat("0", 64), 1))
	h.fails(1, "is not here", "push", "other/new-1.0.0.tgz", to+"/other")
	h.write("other/new-1.0.0.tgz.manifest.json", string(manifest))
	h.fails(1, "is that of another archive", "push", "other/new-1.0.0.tgz", to+"/other")
	must(t, os.Remove(h.path("other/new-1.0.0.tgz.manifest.json")))
	if out := h.ok("push", "other/new-1.0.0.tgz", to+"/other").out; strings.Contains(out, "Signature") {
		t.Error(out)
	}
}
