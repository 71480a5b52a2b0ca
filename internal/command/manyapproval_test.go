package command

import (
	"archive/tar"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/kubectl-release/kubectl-release/plan"
)

// sshKey writes a new private key to the file ci, and its public key to the file signers.
func (d *desk) sshKey() {
	d.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		d.t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		d.t.Fatal(err)
	}
	allowed, err := ssh.NewPublicKey(public)
	if err != nil {
		d.t.Fatal(err)
	}
	d.file("ci", string(pem.EncodeToMemory(block)))
	d.file("signers", "ci@shop "+string(ssh.MarshalAuthorizedKey(allowed)))
}

// read returns the content of a file.
func (d *desk) read(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// A set is approved as a plan is: by its digest, its commit, its age and its signature. What was not approved
// is refused before any request is made.
func TestASetIsApprovedAsAPlanIs(t *testing.T) {
	d := atDesk(t)
	d.file("own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
	d.file("set.yaml", "version: 1\nreleases: [{name: web, namespace: shop, chart: own}]\n")
	d.sshKey()
	made := d.must("plan many set.yaml --out set --sign ci --commit 0123abc")
	digest := plan.Digest([]byte(d.read("set/set.json")))
	if !strings.Contains(made.err, "apply many set --expect-digest "+digest+"\n") {
		t.Errorf("it says\n%s", made.err)
	}
	for _, file := range []string{"set/set.json", "set/set.json.statement"} {
		if text := d.read(file); !regexp.MustCompile(`"origin": {\s+"created": "20[^"]+",\s+"commit": "0123abc"`).MatchString(text) {
			t.Errorf("%s has no origin:\n%s", file, text)
		}
	}
	other := "sha256:" + strings.Repeat("0", 64)
	d.contexts = nil
	for flags, want := range map[string]string{
		"--expect-digest " + other: "Error: set is not the set that was approved: its digest is " + digest + ", but " + other + " is expected\nHint: nothing was written; have it reviewed again\n",
		"--expect-commit 4567def":  "Error: set was planned from commit 0123abc, but 4567def is expected\nHint: nothing was written",
		"--max-age 1ns":            ", more than 1ns ago\nHint: nothing was written",
	} {
		if a := d.types("apply many set " + flags); a.code != exitStale || !strings.Contains(a.err, want) {
			t.Errorf("%s: exit code %d\n%s", flags, a.code, a.err)
		}
	}
	for flags, want := range map[string]string{
		"--expect-digest " + strings.TrimPrefix(digest, "sha256:"): "a digest is sha256: followed by 64 hex digits",
		"--max-age -1h": "must be a duration, such as 24h",
	} {
		if a := d.types("apply many set " + flags); a.code != exitError || !strings.Contains(a.err, want) {
			t.Errorf("%s: exit code %d\n%s", flags, a.code, a.err)
		}
	}
	if len(d.contexts) > 0 {
		t.Errorf("connected to %q", d.contexts)
	}
	d.file("set/set.json", regexp.MustCompile(`"created": "20`).ReplaceAllString(d.read("set/set.json"), `"created": "99`))
	if a := d.types("apply many set --max-age 24h"); a.code != exitStale || !strings.Contains(a.err, "Error: set is dated 99") {
		t.Errorf("from the future: exit code %d\n%s", a.code, a.err)
	}
	// One that was saved before sets had an origin can be applied if nothing is demanded of that.
	d.file("set/set.json", regexp.MustCompile(`(?s) *"origin": {.*?},\n`).ReplaceAllString(d.read("set/set.json"), ""))
	if a := d.types("apply many set --max-age 24h"); a.code != exitStale || !strings.Contains(a.err, "it was saved by an older version") {
		t.Errorf("without an origin: exit code %d\n%s", a.code, a.err)
	}
	d.must("apply many set")
	d.must("uninstall web")
	d.must("plan many set.yaml --out set --sign ci --commit 0123abc")
	d.must("apply many set --allowed-signers signers --expect-commit 0123abc --max-age 24h --expect-digest " + plan.Digest([]byte(d.read("set/set.json"))))
}

// A set's table shows the beginning of each plan's digest; with a key, effect digests cover secrets.
func TestDigestsOfASet(t *testing.T) {
	d := atDesk(t)
	d.file("key", strings.Repeat("k", 16))
	set := func(password string) {
		d.file("own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
		d.file("own/templates/all.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: web}, stringData: {password: {{ .Values.password | quote }}}}")
		d.file("set.yaml", "version: 1\nreleases: [{name: web, namespace: shop, chart: own, values: [{password: "+password+"}]}]\n")
	}
	effect := func(flags string) string {
		t.Helper()
		a := d.must("plan many set.yaml -o json" + flags)
		return regexp.MustCompile(`"effectDigest": "sha256:[0-9a-f]{64}"`).FindString(a.out)
	}
	set("first-secret")
	bare, keyed := effect(""), effect(" --effect-key-file key")
	set("other-secret")
	if effect("") != bare || effect(" --effect-key-file key") == keyed || bare == "" || keyed == "" {
		t.Errorf("without a key %s and %s, with one %s and %s", bare, effect(""), keyed, effect(" --effect-key-file key"))
	}
	a := d.must("plan many set.yaml --out set -o markdown")
	saved := regexp.MustCompile(`"digest": "sha256:([0-9a-f]{12})`).FindStringSubmatch(d.read("set/set.json"))
	if saved == nil || !strings.Contains(a.out, "| `"+saved[1]+"` |") {
		t.Errorf("%q is not in\n%s", saved, a.out)
	}
	if a := d.types("plan many set.yaml --effect-key-file set.yaml --effect-key-file ci"); a.code != exitError {
		t.Errorf("a key that is not there: exit code %d", a.code)
	}
}

// set.json is written after all else, its signature included: until then a folder is no set.
func TestASetIsCompleteWithItsSignature(t *testing.T) {
	d := atDesk(t)
	d.file("own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
	d.file("set.yaml", "version: 1\nreleases: [{name: web, namespace: shop, chart: own}]\n")
	d.sshKey()
	d.must("plan many set.yaml --out-file set.tar --sign ci")
	var names []string
	for r := tar.NewReader(strings.NewReader(d.read("set.tar"))); ; {
		header, err := r.Next()
		if err != nil {
			break
		}
		names = append(names, header.Name)
	}
	if len(names) != 4 || names[3] != "set.json" {
		t.Errorf("the files are %q", names)
	}
}
