package signature

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"sigs.k8s.io/yaml"
)

// separator separates the chart's metadata from the file digests in a provenance file:
// https://helm.sh/docs/topics/provenance/
const separator = "\n...\n"

// files is the second part of a provenance file.
type files struct {
	Files map[string]string `json:"files"`
}

// Archive is what a provenance file signs.
type Archive struct {
	// Name is the archive's file name; if it is "", any file that the provenance names with the
	// digest will do.
	Name string
	// Digest is "sha256:" and hex.
	Digest string
}

// VerifyProvenance returns the signature of an archive in its provenance file. Errors: it is not
// signed text; the signature is not valid at that time, or was not made by any of the keys; it
// is for other files.
func VerifyProvenance(provenance []byte, a Archive, keys Keyring, now time.Time) (Signature, error) {
	block, _ := clearsign.Decode(provenance)
	if block == nil {
		return Signature{}, errors.New("it is not a text signed with OpenPGP")
	}
	signer, err := block.VerifySignature(keys.keys, &packet.Config{Time: func() time.Time { return now }})
	if err != nil {
		return Signature{}, explained(err)
	}
	_, text, ok := strings.Cut(string(block.Plaintext), separator)
	if !ok {
		return Signature{}, errors.New("it is signed, but is not the provenance of a chart")
	}
	var named files
	if err := yaml.Unmarshal([]byte(text), &named); err != nil {
		return Signature{}, fmt.Errorf("it is signed, but its files can't be read: %w", err)
	}
	if err := named.vouchFor(a); err != nil {
		return Signature{}, err
	}
	return Signature{Method: PGP, Signers: signersOf(signer), Key: fmt.Sprintf("%X", signer.PrimaryKey.Fingerprint)}, nil
}

func (f files) vouchFor(a Archive) error {
	if a.Name == "" {
		for _, digest := range f.Files {
			if digest == a.Digest {
				return nil
			}
		}
		return &OtherContentError{fmt.Sprintf("other files: none has digest %s", a.Digest)}
	}
	switch digest, ok := f.Files[a.Name]; {
	case !ok:
		return fmt.Errorf("it is signed, but says nothing about a file named %s", a.Name)
	case digest != a.Digest:
		return &OtherContentError{fmt.Sprintf("another %s: one with digest %s; it has %s", a.Name, digest, a.Digest)}
	}
	return nil
}

// signersOf returns a key's names, the primary one first, without those that were revoked.
func signersOf(key *openpgp.Entity) []string {
	var names []string
	for name, identity := range key.Identities {
		if len(identity.Revocations) == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if main := key.PrimaryIdentity(); main != nil && len(main.Revocations) == 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == main.Name })
		names = append([]string{main.Name}, names...)
	}
	return names
}

// By reports whether a signature is by one of the signers, given as fingerprints or full names.
func (s Signature) By(signers []string) bool {
	return slices.ContainsFunc(signers, func(one string) bool {
		fingerprint := strings.ToUpper(strings.ReplaceAll(one, " ", ""))
		return fingerprint == strings.ToUpper(s.Key) || slices.Contains(s.Signers, one)
	})
}

// Unclear returns an error if a signature is by one of the signers only by a name that several keys
// have with which charts can be signed at that time. A key names itself: whoever has one of the
// keys can give it the name of another one, but not its fingerprint.
func (k Keyring) Unclear(s Signature, signers []string, now time.Time) error {
	var name string
	for _, one := range signers {
		switch byName := slices.Contains(s.Signers, one); {
		case byName && k.named(one, now) > 1:
			name = one
		case byName || s.By([]string{one}):
			return nil
		}
	}
	if name == "" {
		return nil
	}
	return fmt.Errorf("%d keys in the keyring are named %s: give the signer's fingerprint, which is %s if it is the key that made this signature", k.named(name, now), name, s.Key)
}

// named counts the keys that have a name and can sign at a time.
func (k Keyring) named(name string, now time.Time) int {
	found := map[string]bool{}
	for _, e := range k.keys {
		if _, valid := e.SigningKey(now); valid && slices.Contains(signersOf(e), name) {
			found[string(e.PrimaryKey.Fingerprint)] = true
		}
	}
	return len(found)
}

// provenanceText returns what is signed: the chart's metadata and the archive's digest, as in
// Helm 4.3.1 (pkg/provenance/sign.go, messageBlock).
func provenanceText(metadata any, a Archive) ([]byte, error) {
	var b bytes.Buffer
	about, err := yaml.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	named, err := yaml.Marshal(files{Files: map[string]string{a.Name: a.Digest}})
	if err != nil {
		return nil, err
	}
	b.Write(about)
	b.WriteString(separator)
	b.Write(named)
	return b.Bytes(), nil
}
