package plansign

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	predicate = "https://example.com/plan"
	digest    = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	stated    = `{"_type": "https://in-toto.io/Statement/v1", "predicateType": "` + predicate + `", "subject": [{"name": "web", "digest": {"sha256": "` + digest + `"}}]}`
)

// keyFile writes a private key, encrypted if there is a passphrase, and returns the file and the public key.
func keyFile(t *testing.T, passphrase string) (file, public string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return file, string(ssh.MarshalAuthorizedKey(key))
}

// A statement counts if one of the signers has signed it, and only for the digest and the type that it is
// about.
func TestAStatementCountsForWhatItIsAbout(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "web.plan")
	file, public := keyFile(t, "")
	key, err := ReadKey(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(saved, []byte(stated), key); err != nil {
		t.Fatal(err)
	}
	_, other := keyFile(t, "")
	allowed := filepath.Join(t.TempDir(), "allowed_signers")
	for name, c := range map[string]struct {
		keys, principal, digest, predicate, want string
	}{
		"signed":         {"ci@shop " + public, "", digest, predicate, ""},
		"by the one":     {"ci@shop " + public, "ci@shop", digest, predicate, ""},
		"by another one": {"ci@shop " + public + "boss@shop " + other, "boss@shop", digest, predicate, "the signature " + saved + ".sig: "},
		"by a stranger":  {"ci@shop " + other, "", digest, predicate, "the signature " + saved + ".sig: "},
		"another digest": {"ci@shop " + public, "", strings.Repeat("0", 64), predicate, "is about something else"},
		"another type":   {"ci@shop " + public, "", digest, "https://example.com/set", saved + ".statement: it is not a statement of the type"},
		"no keys":        {"", "", digest, predicate, "--allowed-signers " + allowed},
	} {
		if err := os.WriteFile(allowed, []byte(c.keys), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Signers{File: allowed, Principal: c.principal}.Check(saved, Read, "sha256:"+c.digest, c.predicate, time.Now())
		if c.want == "" && err != nil || c.want != "" && !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A key with a passphrase asks for it, and says which key it is.
func TestALockedKeyAsksForItsPassphrase(t *testing.T) {
	file, _ := keyFile(t, "open sesame")
	for typed, want := range map[string]string{"open sesame": "<nil>", "wrong": "--sign " + file + ": unlock the key: x509: decryption password incorrect"} {
		_, err := ReadKey(file, func(question string) (string, error) {
			if question != "Passphrase of the key "+file {
				t.Errorf("it asks for %q", question)
			}
			return typed, nil
		})
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
}
