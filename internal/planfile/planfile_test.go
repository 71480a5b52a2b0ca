package planfile_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"golang.org/x/crypto/ssh"

	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

const secret = "canary-4711"

func aPlan() *plan.Plan {
	return &plan.Plan{Document: plan.Document{
		FormatVersion: plan.FormatVersion, Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, Stages: []plan.Stage{},
	}, Bundle: plan.Bundle{Notes: secret}}
}

func encoded(t *testing.T) []byte {
	t.Helper()
	_, data, err := planfile.Encode(aPlan(), plan.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// keyPair is a recipient and the file of its identity.
type keyPair struct{ recipient, identity string }

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func ageKey(t *testing.T) keyPair {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return keyPair{id.Recipient().String(), write(t, "key.txt", "# created for a test\n"+id.String()+"\n")}
}

func postQuantumKey(t *testing.T) keyPair {
	t.Helper()
	id, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return keyPair{id.Recipient().String(), write(t, "key.txt", id.String()+"\n")}
}

// sshKey makes an SSH key pair; with a passphrase, the private key is encrypted.
func sshKey(t *testing.T, private any, public any, passphrase string) keyPair {
	t.Helper()
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(private, "somebody")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "somebody", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " somebody@example.com"
	return keyPair{line, write(t, "id", string(pem.EncodeToMemory(block)))}
}

func ed25519Key(t *testing.T, passphrase string) keyPair {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return sshKey(t, private, public, passphrase)
}

func rsaKey(t *testing.T) keyPair {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return sshKey(t, private, private.Public(), "")
}

func says(passphrase string) func(string) (string, error) {
	return func(string) (string, error) { return passphrase, nil }
}

// Whoever a plan is encrypted for can read it, and the file as such is not readable.
func TestSealedPlansComeBack(t *testing.T) {
	one, other := ageKey(t), ed25519Key(t, "")
	locked, rsa, pq := ed25519Key(t, "open sesame"), rsaKey(t), postQuantumKey(t)
	list := write(t, "recipients.txt", "# the team\n\n"+one.recipient+"\r\n"+other.recipient+"\n")
	for name, test := range map[string]struct {
		seal planfile.Seal
		keys planfile.Keys
	}{
		"plain":                     {planfile.Seal{}, planfile.Keys{}},
		"age":                       {planfile.Seal{Recipients: []string{one.recipient}}, planfile.Keys{Identities: []string{one.identity}}},
		"age, post-quantum":         {planfile.Seal{Recipients: []string{pq.recipient}}, planfile.Keys{Identities: []string{pq.identity}}},
		"SSH, ed25519":              {planfile.Seal{Recipients: []string{other.recipient}}, planfile.Keys{Identities: []string{other.identity}}},
		"SSH, RSA":                  {planfile.Seal{Recipients: []string{rsa.recipient}}, planfile.Keys{Identities: []string{rsa.identity}}},
		"SSH with a passphrase":     {planfile.Seal{Recipients: []string{locked.recipient}}, planfile.Keys{Identities: []string{locked.identity}, Ask: says("open sesame")}},
		"a file of recipients":      {planfile.Seal{Recipients: []string{list}}, planfile.Keys{Identities: []string{other.identity}}},
		"one of several identities": {planfile.Seal{Recipients: []string{one.recipient}}, planfile.Keys{Identities: []string{other.identity, one.identity}}},
		"passphrase":                {planfile.Seal{Passphrase: "open sesame"}, planfile.Keys{Ask: says("open sesame")}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "web.plan")
			if err := planfile.Write(file, encoded(t), test.seal); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			plain := name == "plain"
			if planfile.Encrypted(data) == plain || bytes.Contains(data, []byte(secret)) != plain {
				t.Error("the file is not what it should be, encrypted or not")
			}
			back, err := planfile.Read(file, test.keys)
			if err != nil {
				t.Fatal(err)
			}
			if back.Notes != secret || back.Release != aPlan().Release {
				t.Errorf("it came back as %+v", back)
			}
		})
	}
}

// The digest is that of the file's plaintext, which everybody who may read the plan can
// check with sha256sum, and tells nobody else what is in the plan: the same plan saved
// twice has two digests.
func TestDigestIsOfThePlaintextAndOfThisFileAlone(t *testing.T) {
	key := ageKey(t)
	stamped, data, err := planfile.Encode(aPlan(), plan.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(data)); stamped.PlanDigest != want {
		t.Errorf("the digest is %s, want %s", stamped.PlanDigest, want)
	}
	file := filepath.Join(t.TempDir(), "web.plan")
	if err := planfile.Write(file, data, planfile.Seal{Recipients: []string{key.recipient}}); err != nil {
		t.Fatal(err)
	}
	back, err := planfile.Read(file, planfile.Keys{Identities: []string{key.identity}})
	if err != nil {
		t.Fatal(err)
	}
	if back.PlanDigest != stamped.PlanDigest {
		t.Errorf("read back, the digest is %s, want %s", back.PlanDigest, stamped.PlanDigest)
	}
	if other, _, _ := planfile.Encode(aPlan(), plan.Stamp{}); other.PlanDigest == stamped.PlanDigest {
		t.Error("two files of the same plan have one digest: a guess at what is in it could be tested")
	}
}

// The armored form, which age -a writes, is read as well.
func TestArmoredPlansAreRead(t *testing.T) {
	key := ageKey(t)
	recipients, err := age.ParseRecipients(strings.NewReader(key.recipient))
	if err != nil {
		t.Fatal(err)
	}
	data, err := plan.Encode(aPlan())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := armor.NewWriter(&out)
	w, err := age.Encrypt(a, recipients...)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := planfile.Parse("web.plan", out.Bytes(), planfile.Keys{Identities: []string{key.identity}}); err != nil {
		t.Error(err)
	}
}

// costly is the header of a plan whose passphrase takes 512 MiB to check.
const costly = "age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 19\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"

// What can't be opened is refused with the reason, and no error contains a key.
func TestReadRefuses(t *testing.T) {
	key, locked := ageKey(t), ed25519Key(t, "open sesame")
	file := func(s planfile.Seal) string {
		file := filepath.Join(t.TempDir(), "web.plan")
		if err := planfile.Write(file, encoded(t), s); err != nil {
			t.Fatal(err)
		}
		return file
	}
	sealed := file(planfile.Seal{Recipients: []string{key.recipient, locked.recipient}})
	data, err := os.ReadFile(sealed)
	if err != nil {
		t.Fatal(err)
	}
	private, err := os.ReadFile(key.identity)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		file string
		keys planfile.Keys
		says string
	}{
		"missing":               {"missing.plan", planfile.Keys{}, "read the plan: open missing.plan"},
		"no key":                {sealed, planfile.Keys{}, "it is encrypted: name the private key with --identity FILE"},
		"another key":           {sealed, planfile.Keys{Identities: []string{ageKey(t).identity}}, "none of the identities opens it"},
		"no such key":           {sealed, planfile.Keys{Identities: []string{"nobody.txt"}}, "identity nobody.txt: open nobody.txt"},
		"a key that is none":    {sealed, planfile.Keys{Identities: []string{write(t, "k", string(private[:60]))}}, "error at line 2: malformed secret key"},
		"an encrypted key":      {sealed, planfile.Keys{Identities: []string{sealed}}, "it is itself encrypted"},
		"a wrong passphrase":    {file(planfile.Seal{Passphrase: "one"}), planfile.Keys{Ask: says("other")}, "the passphrase is wrong"},
		"too much work":         {write(t, "work", costly), planfile.Keys{Ask: says("any")}, "it is encrypted with more work than the factor of 18 that plans have"},
		"nobody to ask":         {sealed, planfile.Keys{Identities: []string{locked.identity}}, "unlock the key"},
		"a wrong key's word":    {sealed, planfile.Keys{Identities: []string{locked.identity}, Ask: says("other")}, "unlock the key"},
		"cut in its content":    {write(t, "cut", string(data[:len(data)-20])), planfile.Keys{Identities: []string{key.identity}}, "cut short or changed"},
		"cut in its header":     {write(t, "cut", string(data[:60])), planfile.Keys{Identities: []string{key.identity}}, "cut short or changed"},
		"followed by something": {write(t, "more", string(data)+"x"), planfile.Keys{Identities: []string{key.identity}}, "cut short or changed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := planfile.Read(test.file, test.keys)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v, want an error with %q", err, test.says)
			}
			if strings.Contains(strings.ToUpper(err.Error()), "SECRET-KEY-1") {
				t.Errorf("a key is in %v", err)
			}
		})
	}
}

// No byte of an encrypted plan can be changed undetected.
func TestEveryChangedByteIsFoundOut(t *testing.T) {
	key := ageKey(t)
	file := filepath.Join(t.TempDir(), "web.plan")
	if err := planfile.Write(file, encoded(t), planfile.Seal{Recipients: []string{key.recipient}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		broken := bytes.Clone(data)
		broken[i] ^= 1
		if _, err := planfile.Parse(file, broken, planfile.Keys{Identities: []string{key.identity}}); err == nil {
			t.Errorf("byte %d of %d can be changed", i, len(data))
		}
	}
}

func TestSealRefuses(t *testing.T) {
	key := ageKey(t)
	private, err := os.ReadFile(key.identity)
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(strings.TrimSpace(string(private)), "\n")
	for name, test := range map[string]struct {
		seal planfile.Seal
		says string
	}{
		"a private key":            {planfile.Seal{Recipients: []string{line}}, "a private key was given as a recipient"},
		"one in lower case":        {planfile.Seal{Recipients: []string{strings.ToLower(line)}}, "a private key was given as a recipient"},
		"a private SSH key":        {planfile.Seal{Recipients: []string{"-----BEGIN OPENSSH PRIVATE KEY-----\n" + line}}, "a private key was given as a recipient"},
		"a file of private keys":   {planfile.Seal{Recipients: []string{key.identity}}, "line 2: it is neither age1…"},
		"a key that is broken":     {planfile.Seal{Recipients: []string{key.recipient + "q"}}, "recipient age1"},
		"no file":                  {planfile.Seal{Recipients: []string{"bob"}}, "a recipient is age1…, ssh-ed25519 …, ssh-rsa … or a file of these"},
		"an empty file":            {planfile.Seal{Recipients: []string{write(t, "r", "# nobody\n")}}, "contains no recipients"},
		"an unsupported SSH key":   {planfile.Seal{Recipients: []string{write(t, "r", "ecdsa-sha2-nistp256 AAAA x\n")}}, "line 1: it is neither age1…"},
		"both ways":                {planfile.Seal{Recipients: []string{key.recipient}, Passphrase: "x"}, "not both"},
		"post-quantum and classic": {planfile.Seal{Recipients: []string{key.recipient, postQuantumKey(t).recipient}}, "can't mix post-quantum and classic"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.seal.Check()
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v, want an error with %q", err, test.says)
			}
			if strings.Contains(strings.ToUpper(err.Error()), line) {
				t.Errorf("the key is in %v", err)
			}
		})
	}
}
