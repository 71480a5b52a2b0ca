package signature_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/kubectl-release/kubectl-release/internal/signature"
)

const namespace = "kubectl-release-plan"

func sshSigners(t *testing.T) map[string]ssh.Signer {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	old, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]ssh.Signer{}
	for name, key := range map[string]any{"ed25519": ed, "ecdsa": ec, "rsa": old} {
		if out[name], err = ssh.NewSignerFromKey(key); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func signerLine(principals, options string, key ssh.Signer) string {
	return strings.TrimSpace(principals+" "+options) + " " + string(ssh.MarshalAuthorizedKey(key.PublicKey()))
}

// What is signed here is verified by ssh-keygen, for each type of key.
func TestSSHKeygenAcceptsOurSignatures(t *testing.T) {
	for name, key := range sshSigners(t) {
		t.Run(name, func(t *testing.T) {
			made, err := signature.SignSSH(key, namespace, []byte("text"), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for file, content := range map[string]string{"sig": string(made), "signers": signerLine("ci@shop", "", key)} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			keygen := exec.Command("ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "ci@shop", "-n", namespace, "-s", "sig")
			keygen.Dir, keygen.Stdin = dir, strings.NewReader("text")
			if out, err := keygen.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			found, err := signature.VerifySSH(made, namespace, []byte("text"))
			if err != nil || string(found.Marshal()) != string(key.PublicKey().Marshal()) {
				t.Errorf("we ourselves find %v, %v", found, err)
			}
		})
	}
}

func TestVerifySSHRefuses(t *testing.T) {
	key := sshSigners(t)["ed25519"]
	made, err := signature.SignSSH(key, namespace, []byte("text"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(made), "\n")
	for name, test := range map[string]struct{ file, namespace, text, says string }{
		"another text":    {string(made), namespace, "other", "it is for something else"},
		"another purpose": {string(made), "git", "text", `it was made for "kubectl-release-plan", not for "git"`},
		"no signature":    {"hello", namespace, "text", "it is not a signature by an SSH key"},
		"cut short":       {strings.Join(append(lines[:2:2], lines[len(lines)-2:]...), "\n"), namespace, "text", "it is not a signature by an SSH key"},
		"another PEM":     {strings.ReplaceAll(string(made), "SSH SIGNATURE", "SSH THING"), namespace, "text", "it is not a signature by an SSH key"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := signature.VerifySSH([]byte(test.file), test.namespace, []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want an error with %q", err, test.says)
			}
		})
	}
}

// Who may sign what, and when, is as ssh-keygen(1) says under ALLOWED SIGNERS.
func TestAllowedSigners(t *testing.T) {
	keys := sshSigners(t)
	key, other := keys["ed25519"], keys["ecdsa"]
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct{ file, want, is, says string }{
		"anybody who is listed":         {signerLine("ci@shop", "", key), "", "ci@shop", ""},
		"one by name":                   {signerLine("ci@shop,root", "", key), "root", "root", ""},
		"one by a pattern":              {signerLine("*@shop", "", key), "ci@shop", "ci@shop", ""},
		"all but one":                   {signerLine("*@shop,!ci@shop", "", key), "ci@shop", "", "is not allowed to sign this as ci@shop"},
		"another name":                  {signerLine("ci@shop", "", key), "root", "", "is not allowed to sign this as root"},
		"another key":                   {signerLine("ci@shop", "", other), "", "", "is not among the allowed signers"},
		"the second line":               {"# keys\n\n" + signerLine("a", "", other) + signerLine("b", "", key), "", "b", ""},
		"for plans":                     {signerLine("ci", `namespaces="git,kubectl-release-*"`, key), "", "ci", ""},
		"for something else":            {signerLine("ci", `namespaces="git"`, key), "", "", "is not allowed to sign this now"},
		"from then on":                  {signerLine("ci", `valid-after="20261122"`, key), "", "ci", ""},
		"too early":                     {signerLine("ci", `valid-after="202611221201Z"`, key), "", "", "is not allowed to sign this now"},
		"too late":                      {signerLine("ci", `valid-before="20261122115959"`, key), "", "", "is not allowed to sign this now"},
		"a time that is none":           {signerLine("ci", `valid-before="soon"`, key), "", "", `line 1: "soon" is not a time`},
		"an authority":                  {signerLine("ci", "cert-authority", key), "", "", "line 1: the option cert-authority is not supported"},
		"no key":                        {"ci ssh-ed25519\n", "", "", "line 1: expected PRINCIPALS"},
		"one word":                      {"ci\n", "", "", "line 1: expected PRINCIPALS"},
		"nobody":                        {"# nobody\n", "", "", "it contains no signers"},
		"brackets, which are no ranges": {signerLine("[a-z]i", "", key), "ci", "", "is not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			allowed, err := signature.ParseAllowedSigners([]byte(test.file))
			is := ""
			if err == nil {
				is, err = allowed.Principal(key.PublicKey(), namespace, test.want, now)
			}
			if is != test.is || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %q, %v; want %q and an error with %q", is, err, test.is, test.says)
			}
		})
	}
}
