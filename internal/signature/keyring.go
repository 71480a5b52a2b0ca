package signature

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
)

// Keyring is a set of OpenPGP keys, public or secret.
type Keyring struct{ keys openpgp.EntityList }

// ParseKeyring reads the files in which GnuPG keeps or exports keys: packets, a keybox
// (pubring.kbx), or any number of ASCII-armoured blocks. Keys that can't be read, or are
// of unknown kinds, are skipped. Errors: no key can be read.
func ParseKeyring(data []byte) (Keyring, error) {
	var k Keyring
	var err error
	switch {
	case isKeybox(data):
		err = k.addKeybox(data)
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN PGP")):
		err = k.addArmour(data)
	default:
		err = k.add(bytes.NewReader(data))
	}
	if len(k.keys) == 0 && err == nil {
		err = errors.New("it holds no key")
	}
	if len(k.keys) == 0 {
		return k, fmt.Errorf("no OpenPGP key can be read: %w", err)
	}
	return k, nil
}

// add reads the keys in OpenPGP packets.
func (k *Keyring) add(packets io.Reader) error {
	some, err := openpgp.ReadKeyRing(packets)
	k.keys = append(k.keys, some...)
	return err
}

// addArmour reads one armoured block after the other. They are split first, since the decoder
// reads ahead.
func (k *Keyring) addArmour(data []byte) error {
	var errs []error
	end := []byte("-----END PGP")
	for {
		at := bytes.Index(data, end)
		if at < 0 {
			return errors.Join(errs...)
		}
		next := at + len(end)
		if line := bytes.IndexByte(data[next:], '\n'); line >= 0 {
			next += line + 1
		} else {
			next = len(data)
		}
		block, err := armor.Decode(bytes.NewReader(data[:next]))
		switch {
		case err != nil:
			errs = append(errs, err)
		case block.Type != openpgp.PublicKeyType && block.Type != openpgp.PrivateKeyType:
			errs = append(errs, fmt.Errorf("a block of type %q holds no key", block.Type))
		default:
			errs = append(errs, k.add(block.Body))
		}
		data = data[next:]
	}
}

// explained rephrases an error of the OpenPGP library for users.
func explained(err error) error {
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return errors.New("none of the keys in the keyring made the signature")
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return errors.New("the key that made the signature has expired")
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return errors.New("the key that made the signature was revoked")
	case errors.Is(err, pgperrors.ErrSignatureExpired):
		return errors.New("the signature has expired")
	}
	return fmt.Errorf("the signature is not valid: %w", err)
}
