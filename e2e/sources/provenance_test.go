//go:build cluster

package sources_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// gnupg is a GnuPG home folder with people's keys.
type gnupg struct {
	t   testing.TB
	dir string
}

func newGnuPG(t testing.TB, people ...string) gnupg {
	t.Helper()
	g := gnupg{t: t, dir: filepath.Join(t.TempDir(), "g")}
	must(t, os.Mkdir(g.dir, 0o700))
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--homedir", g.dir, "--kill", "gpg-agent").Run() })
	for _, name := range people {
		g.run("--passphrase", "", "--quick-gen-key", name+" <"+strings.ToLower(name)+"@example.com>", "rsa2048", "sign", "never")
	}
	return g
}

func (g gnupg) run(args ...string) []byte {
	g.t.Helper()
	c := exec.Command("gpg", append([]string{"--homedir", g.dir, "--batch", "--quiet", "--no-tty"}, args...)...)
	out, err := c.Output()
	if err != nil {
		g.t.Fatalf("gpg %q: %v", args, err)
	}
	return out
}

// keys writes the public and the secret keys that gpg has to files, both as gpg exports them.
func (g gnupg) keys(h *home) (public, secret string) {
	return h.write("public.gpg", string(g.run("--export"))), h.write("secret.gpg", string(g.run("--export-secret-keys")))
}

const metadataOfAlpha = "apiVersion: v2\nname: alpha\nversion: 1.0.0\nappVersion: \"1\"\nkubeVersion: '>=1.20.0-0'\ndescription: >-\n  a long description, with \"quotes\" and ünïcode\nkeywords: [b, a]\nhome: https://h\nsources: [https://s]\nicon: https://i\nmaintainers: [{name: me, email: me@h}, {name: you}]\nannotations: {b: c, a: \"1\"}\ntype: application\n"

// signedText returns the signed part of a provenance.
func signedText(provenance string) string {
	text, _, _ := strings.Cut(provenance, "\n-----BEGIN PGP SIGNATURE")
	return text
}

func TestCheck46SignaturesBothWays(t *testing.T) {
	g, h := newGnuPG(t, "Anna", "Bert"), newHome(t)
	public, secret := g.keys(h)
	h.write("alpha/Chart.yaml", metadataOfAlpha)
	h.write("alpha/templates/cm.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n")
	h.ok("package", "alpha", "--sign", "--key", "Anna", "--keyring", secret)
	const file = "alpha-1.0.0.tgz"
	if fromArchive, fromFolder := h.helm("template", file), h.helm("template", "alpha"); !same(fromArchive, fromFolder) {
		t.Errorf("Helm renders our package otherwise:\n%s\n%s", fromArchive.out, fromFolder.out)
	}
	ours := h.ok("verify", file, "--keyring", public)
	if theirs := h.helm("verify", file, "--keyring", public); theirs.out != ours.out || !strings.Contains(ours.out, "Signed by: Anna <anna@example.com>\n") {
		t.Errorf("ours %q, Helm's %q", ours.out, theirs.out)
	}
	g.run("--verify", h.path(file+".prov"))
	// The signed text is Helm's, byte for byte, for the same archive.
	was := h.read(file + ".prov")
	helms := newHome(t)
	helms.write("alpha/Chart.yaml", metadataOfAlpha)
	helms.helm("package", "alpha", "--sign", "--key", "Anna", "--keyring", secret)
	theirs := strings.ReplaceAll(helms.read(file+".prov"), sourcetest.Digest([]byte(helms.read(file))), sourcetest.Digest([]byte(h.read(file))))
	if signedText(was) != signedText(theirs) {
		t.Errorf("ours:\n%s\nHelm's:\n%s", signedText(was), signedText(theirs))
	}
	if out := helms.ok("verify", file, "--keyring", public).out; !strings.Contains(out, "Anna") {
		t.Error(out)
	}
	b, err := binaries()
	must(t, err)
	if r := h.run("", b.Helm3, "verify", file, "--keyring", public); r.code != 0 {
		t.Errorf("Helm 3 refuses it: %s", r.err)
	}
	// gpg's signature is as good as Helm's.
	h.write("text", strings.SplitN(signedText(was), "\n\n", 2)[1]+"\n")
	h.write(file+".prov", string(g.run("--local-user", "Bert", "--clear-sign", "--output", "-", h.path("text"))))
	if out := h.ok("verify", file, "--keyring", public).out; !strings.Contains(out, "Signed by: Bert") {
		t.Error(out)
	}
}

func TestSigningKeys(t *testing.T) {
	g, h := newGnuPG(t, "Anna", "Annabel"), newHome(t)
	public, secret := g.keys(h)
	g.run("--passphrase", "letmein", "--pinentry-mode", "loopback", "--quick-gen-key", "Carl", "ed25519", "sign", "never")
	h.write("secret-carl.gpg", string(g.run("--passphrase", "letmein", "--pinentry-mode", "loopback", "--export-secret-keys", "Carl")))
	h.write("alpha/Chart.yaml", "apiVersion: v2\nname: alpha\nversion: 1.0.0\n")
	h.fails(1, "2 secret keys", "package", "alpha", "--sign", "--key", "example.com", "--keyring", secret)
	h.fails(1, "no secret key", "package", "alpha", "--sign", "--key", "Dora", "--keyring", secret)
	h.fails(1, "no secret key", "package", "alpha", "--sign", "--key", "Anna", "--keyring", public)
	h.fails(1, "--key", "package", "alpha", "--sign")
	h.write("passphrase", "wrong\n")
	carl := []string{"package", "alpha", "--sign", "--key", "Carl", "--keyring", "secret-carl.gpg", "--passphrase-file"}
	h.fails(1, "passphrase", append(carl, "passphrase")...)
	if h.exists("alpha-1.0.0.tgz") {
		t.Error("what could not be signed was written")
	}
	if r := h.runProgram("letmein\n", append(carl, "-")...); r.code != 0 {
		t.Fatal(r.err)
	}
	h.write("all.gpg", string(g.run("--export")))
	if out := h.ok("verify", "alpha-1.0.0.tgz", "--keyring", "all.gpg").out; !strings.Contains(out, "Signed by: Carl\n") {
		t.Error(out)
	}
	if r := h.helm("verify", "alpha-1.0.0.tgz", "--keyring", "all.gpg"); !strings.Contains(r.out, "Carl") {
		t.Error(r.out)
	}
}

func TestCheck47Verify(t *testing.T) {
	g, h := newGnuPG(t, "Anna", "Bert"), newHome(t)
	_, secret := g.keys(h)
	h.write("alpha/Chart.yaml", metadataOfAlpha)
	h.ok("package", "alpha", "--sign", "--key", "Anna", "--keyring", secret)
	const file = "alpha-1.0.0.tgz"
	archive, provenance := h.read(file), h.read(file+".prov")
	bert := string(g.run("--armor", "--export", "Bert"))
	rings := map[string]string{
		"packets": string(g.run("--export", "Anna")), "armour": string(g.run("--armor", "--export", "Anna")),
		"two blocks": bert + string(g.run("--armor", "--export", "Anna")),
	}
	box, err := os.ReadFile(filepath.Join(g.dir, "pubring.kbx"))
	must(t, err)
	rings["keybox"] = string(box)
	for name, ring := range rings {
		h.write("ring", ring)
		if out := h.ok("verify", file, "--keyring", "ring").out; !strings.Contains(out, "Anna") {
			t.Errorf("%s: %s", name, out)
		}
		h.helm("verify", file, "--keyring", "ring")
	}
	h.env = append(h.env, "GNUPGHOME="+g.dir)
	h.ok("verify", file) // GnuPG's own keyring
	h.write("bert", bert)
	h.fails(8, "none of the keys", "verify", file, "--keyring", "bert")
	h.write("other-1.0.0.tgz", archive)
	h.write("other-1.0.0.tgz.prov", provenance)
	h.fails(8, "says nothing about a file named other-1.0.0.tgz", "verify", "other-1.0.0.tgz")
	h.write(file, archive[:len(archive)-1]+string(archive[len(archive)-1]^1))
	h.fails(8, "it has sha256:", "verify", file)
	h.write(file, archive)
	for _, bad := range []string{"", "<!doctype html><title>404</title>", strings.Replace(provenance, "alpha", "alphb", 1)} {
		h.write(file+".prov", bad)
		h.fails(8, "can't be verified", "verify", file)
		h.fails(8, "can't be verified", "template", file, "--verify")
	}
	must(t, os.Remove(h.path(file+".prov")))
	h.fails(8, "there is no "+file+".prov", "verify", file)
	h.fails(1, "is a folder", "verify", "alpha")
	old := newGnuPG(t)
	old.run("--faked-system-time", "20200101T000000", "--passphrase", "", "--quick-gen-key", "Old", "rsa2048", "sign", "1d")
	h.write("text", strings.SplitN(signedText(provenance), "\n\n", 2)[1]+"\n")
	h.write(file+".prov", string(old.run("--faked-system-time", "20200101T010000", "--clear-sign", "--output", "-", h.path("text"))))
	h.write("old.gpg", string(old.run("--export")))
	h.fails(8, "has expired", "verify", file, "--keyring", "old.gpg")
}

// A .prov is fetched with the credentials of its chart, which Helm 4.3.1 forgets, and nothing is
// rendered if it is not right.
func TestCheck47VerifyFetched(t *testing.T) {
	g, h := newGnuPG(t, "Anna"), newHome(t)
	public, secret := g.keys(h)
	b := repositoryA(t, sourcetest.Options{User: "u", Password: "p"})
	h.ok("repo", "add", "b", b.URL, "--username", "u", "--password", "p")
	const file = "alpha-1.0.0.tgz"
	h.write(file, string(b.File("/"+file)))
	h.ok("pull", "b/alpha", "--untar")
	h.ok("package", "alpha", "--sign", "--key", "Anna", "--keyring", secret)
	for _, f := range []string{file, file + ".prov"} {
		b.Put("/"+f, []byte(h.read(f)))
	}
	b.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: file, Digest: sourcetest.Digest(b.File("/" + file))},
		sourcetest.Entry{Name: "beta", Version: "2.0.0", URL: "beta-2.0.0.tgz", Digest: sourcetest.Digest(b.File("/beta-2.0.0.tgz"))}))
	h.ok("repo", "update")
	verified := []string{"--verify", "--keyring", public}
	if r := h.ok(append([]string{"template", "b/alpha"}, verified...)...); !strings.Contains(r.out, "kind: ConfigMap") || !strings.Contains(r.err, "signed by Anna <anna@example.com>") {
		t.Errorf("%s%s", r.out, r.err)
	}
	h.fails(8, "there is no "+b.URL+"/beta-2.0.0.tgz.prov", append([]string{"template", "b/beta"}, verified...)...)
	pin := h.pinned(append([]string{"b/alpha", "--against-version", "1.0.0"}, verified...)...)
	if s := pin.Signature; s == nil || s.Method != "pgp" || s.Signer != "Anna <anna@example.com>" || len(s.Key) != 40 {
		t.Errorf("the plan says %+v", pin.Signature)
	}
	if text := h.ok("plan", "show", "web.plan").out; !strings.Contains(text, "signed by Anna <anna@example.com>,") {
		t.Error(text)
	}
	h.ok(append([]string{"template", "b/alpha", "--offline"}, verified...)...)
	b.Put("/"+file+".prov", []byte("unsigned"))
	r := h.fails(8, "not a text signed with OpenPGP", append([]string{"template", "b/alpha"}, verified...)...)
	if r.out != "" {
		t.Errorf("it was rendered: %s", r.out)
	}
}

// A rule in sources.yaml applies without any flag, to dependencies, too.
func TestRulesForSignatures(t *testing.T) {
	g, h := newGnuPG(t, "Anna", "Bert"), newHome(t)
	public, secret := g.keys(h)
	r := repositoryA(t, sourcetest.Options{})
	h.ok("repo", "add", "a", r.URL)
	h.ok("pull", "a/alpha", "--untar")
	h.ok("package", "alpha", "--sign", "--key", "Bert", "--keyring", secret)
	h.write(".config/helm/kubectl-release/ring.gpg", h.read("public.gpg"))
	rule := "verify: [{prefix: " + strings.ToUpper(r.URL[:4]) + r.URL[4:] + "/, keyring: ring.gpg, signers: [SIGNER]}]\n"
	settings := func(signer string) {
		h.write(".config/helm/kubectl-release/sources.yaml", strings.ReplaceAll(rule, "SIGNER", signer))
	}
	settings("Anna <anna@example.com>")
	h.umbrella("um", "{name: alpha, version: ^1, repository: "+r.URL+"}")
	h.fails(8, "there is no "+r.URL+"/alpha-1.0.0.tgz.prov", "template", "a/alpha")
	h.fails(8, "there is no", "dependency", "update", "um")
	h.fails(8, "there is no", "pull", r.URL+"/alpha-1.0.0.tgz")
	if h.exists("um/charts") {
		t.Error("an unsigned dependency was taken")
	}
	for _, f := range []string{"/alpha-1.0.0.tgz", "/alpha-1.0.0.tgz.prov"} {
		r.Put(f, []byte(h.read(f)))
	}
	r.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz", Digest: sourcetest.Digest(r.File("/alpha-1.0.0.tgz"))}))
	h.ok("repo", "update")
	h.fails(8, "who is not one of the signers", "template", "a/alpha")
	settings("Bert <bert@example.com>")
	h.ok("template", "a/alpha")
	h.ok("dependency", "update", "um")
	r.Requests()
	h.ok("dependency", "build", "um")
	if asked := r.Asked(); !slices.Contains(asked, "GET /alpha-1.0.0.tgz.prov OK") {
		t.Errorf("asked %q", asked)
	}
	// Flags do not replace a rule.
	settings("Anna <anna@example.com>")
	h.fails(8, "who is not one of the signers", "template", "a/alpha", "--verify", "--keyring", public)
}

func TestCheck28ProvenanceIsPushed(t *testing.T) {
	g, r, h := newGnuPG(t, "Anna"), plainRegistry(t), newHome(t)
	public, secret := g.keys(h)
	h.write("alpha/Chart.yaml", strings.Replace(metadataOfAlpha, "1.0.0", "1.0.0+b.1", 1))
	h.ok("package", "alpha", "--sign", "--key", "Anna", "--keyring", secret)
	const file = "alpha-1.0.0+b.1.tgz"
	to := "oci://" + r.Host + "/charts"
	h.ok("push", file, to)
	var manifest struct{ Layers []struct{ MediaType string } }
	must(t, json.Unmarshal(fetchManifest(t, "http://"+r.Host+"/v2/charts/alpha/manifests/1.0.0_b.1"), &manifest))
	if len(manifest.Layers) != 2 {
		t.Errorf("%+v", manifest)
	}
	pull := []string{"pull", to + "/alpha", "--version", "1.0.0+b.1", "--verify", "--keyring", public, "-d"}
	must(t, os.Mkdir(h.path("theirs"), 0o755))
	must(t, os.Mkdir(h.path("ours"), 0o755))
	h.helm(append(pull, "theirs", "--plain-http")...)
	h.ok(append(pull, "ours")...)
	for _, f := range []string{file, file + ".prov"} {
		if h.read("theirs/"+f) != h.read(f) || h.read("ours/"+f) != h.read(f) {
			t.Errorf("%s was pulled as something else", f)
		}
	}
	h.ok("template", to+"/alpha:1.0.0+b.1", "--verify", "--keyring", public, "--offline")
	// A chart that Helm has pushed, and one without a signature.
	h.write("beta/Chart.yaml", "apiVersion: v2\nname: beta\nversion: 1.0.0\n")
	h.helm("package", "beta", "--sign", "--key", "Anna", "--keyring", secret)
	h.helm("push", "beta-1.0.0.tgz", to, "--plain-http")
	if out := h.ok("verify", to+"/beta", "--keyring", public).out; !strings.Contains(out, "Signed by: Anna") {
		t.Error(out)
	}
	h.ok("push", h.chartFile("gamma", "1.0.0", ""), to)
	h.fails(8, "without a provenance", "template", to+"/gamma", "--verify", "--keyring", public)
}

func TestCheck48PullLeavesNothing(t *testing.T) {
	a, h := repositoryA(t, sourcetest.Options{}), newHome(t)
	g := newGnuPG(t, "Anna")
	public, _ := g.keys(h)
	must(t, os.Mkdir(h.path("to"), 0o755))
	for _, name := range []string{".", "..", "a/b", `a\b`, "../x"} {
		a.Put("/odd.tgz", sourcetest.Archive(t, "odd", map[string]string{"Chart.yaml": "apiVersion: v2\nname: '" + name + "'\nversion: 1.0.0\n"}))
		h.fails(1, "", "pull", a.URL+"/odd.tgz", "--untar", "-d", "to")
	}
	h.fails(8, "there is no", "pull", a.URL+"/alpha-1.0.0.tgz", "--verify", "--keyring", public, "-d", "to")
	h.fails(8, "there is no", "pull", a.URL+"/alpha-1.0.0.tgz", "--verify", "--keyring", public, "-d", "to", "--untar")
	a.Put("/alpha-1.0.0.tgz.prov", []byte("unsigned"))
	h.fails(8, "not a text signed with OpenPGP", "pull", a.URL+"/alpha-1.0.0.tgz", "--verify", "--keyring", public, "-d", "to")
	left, err := os.ReadDir(h.path("to"))
	must(t, err)
	if len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if r := h.ok("pull", a.URL+"/beta-2.0.0.tgz", "--prov", "-d", "to"); !strings.Contains(r.err, "Warning: ") || !h.exists("to/beta-2.0.0.tgz") {
		t.Error(r.err)
	}
	h.ok("pull", a.URL+"/alpha-1.0.0.tgz", "--prov", "-d", "to")
	if h.read("to/alpha-1.0.0.tgz.prov") != "unsigned" {
		t.Error("--prov has written something else")
	}
}
