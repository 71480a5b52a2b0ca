package signature

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Key is a secret OpenPGP key.
type Key struct{ entity *openpgp.Entity }

// Secret returns the secret key identified by a full name, a fingerprint, or a part of a name
// that no other key has. Errors: there is none, or more than one.
func (k Keyring) Secret(id string) (Key, error) {
	var exact, vague []*openpgp.Entity
	for _, e := range k.keys {
		if e.PrivateKey == nil {
			continue
		}
		names := signersOf(e)
		switch s := (Signature{Signers: names, Key: fmt.Sprintf("%X", e.PrimaryKey.Fingerprint)}); {
		case s.By([]string{id}):
			exact = append(exact, e)
		case strings.Contains(strings.Join(names, "\n"), id):
			vague = append(vague, e)
		}
	}
	if len(exact) > 0 {
		vague = exact
	}
	switch len(vague) {
	case 0:
		return Key{}, fmt.Errorf("the keyring has no secret key for %q", id)
	case 1:
		return Key{vague[0]}, nil
	}
	return Key{}, fmt.Errorf("the keyring has %d secret keys for %q: give a full name or a fingerprint", len(vague), id)
}

// Locked reports whether a passphrase is needed.
func (k Key) Locked() bool { return k.entity.PrivateKey.Encrypted }

// Unlock decrypts the key in memory. Errors: the passphrase is wrong.
func (k Key) Unlock(passphrase string) error {
	if err := k.entity.DecryptPrivateKeys([]byte(passphrase)); err != nil {
		return errors.New("the passphrase does not match the key")
	}
	return nil
}

// SignArchive returns the content of an archive's provenance file, as in Helm 4.3.1
// (pkg/provenance/sign.go, ClearSign): OpenPGP clear-signed text, with SHA-512. random is the source of
// randomness for the signature. Errors: the key can't sign at that time.
func (k Key) SignArchive(metadata *chart.Metadata, a Archive, now time.Time, random io.Reader) ([]byte, error) {
	signing, ok := k.entity.SigningKey(now)
	if !ok || signing.PrivateKey == nil || signing.PrivateKey.Dummy() {
		return nil, errors.New("the key can't sign: it has expired, was revoked, or its secret part is not in the keyring")
	}
	text, err := provenanceText(metadata, a)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := clearsign.Encode(&b, signing.PrivateKey, &packet.Config{DefaultHash: crypto.SHA512, Rand: random, Time: func() time.Time { return now }})
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
