package planfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/armor"
	"golang.org/x/crypto/ssh"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
)

// Keys open encrypted plans.
type Keys struct {
	// Identities are files with private keys of age or SSH.
	Identities []string
	// Ask is called when a passphrase is needed; what says for what.
	Ask func(what string) (string, error)
}

const (
	header       = "age-encryption.org/v1\n"
	byPassphrase = header + "-> scrypt "
)

// Encrypted reports whether data is an age file, binary or armored.
func Encrypted(data []byte) bool {
	return bytes.HasPrefix(data, []byte(header)) || bytes.HasPrefix(bytes.TrimSpace(data), []byte(armor.Header))
}

// plain returns data, decrypted if it is encrypted.
func (k Keys) plain(file string, data []byte) ([]byte, error) {
	if !Encrypted(data) {
		return data, nil
	}
	data, err := k.open(file, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return data, nil
}

// open decrypts a file.
func (k Keys) open(file string, data []byte) ([]byte, error) {
	var r io.Reader = bytes.NewReader(data)
	if !bytes.HasPrefix(data, []byte(header)) {
		r = armor.NewReader(r)
	}
	in := bufio.NewReader(r)
	start, _ := in.Peek(len(byPassphrase))
	asks := bytes.Equal(start, []byte(byPassphrase))
	identities, err := k.identities(file, asks)
	if err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(in, identities...)
	var none *age.NoIdentityMatchError
	var locked *lockedKeyError
	switch {
	case errors.As(err, &locked):
		return nil, locked
	case err != nil && strings.Contains(err.Error(), "scrypt work factor too large"):
		return nil, fmt.Errorf("it is encrypted with more work than the factor of %d that plans have", maxWorkFactor)
	case errors.As(err, &none) && asks:
		return nil, errors.New("the passphrase is wrong")
	case errors.As(err, &none):
		return nil, errors.New("it is encrypted for others: none of the identities opens it")
	case err != nil:
		return nil, fmt.Errorf("the encrypted plan was cut short or changed: %w", err)
	}
	out, err := io.ReadAll(plain)
	if err != nil {
		return nil, fmt.Errorf("the encrypted plan was cut short or changed: %w", err)
	}
	return out, nil
}

func (k Keys) identities(file string, asks bool) ([]age.Identity, error) {
	if asks {
		passphrase, err := k.ask("the plan " + file)
		if err != nil {
			return nil, err
		}
		identity, err := age.NewScryptIdentity(passphrase)
		if err != nil {
			return nil, err
		}
		identity.SetMaxWorkFactor(maxWorkFactor)
		return []age.Identity{identity}, nil
	}
	if len(k.Identities) == 0 {
		return nil, errors.New("it is encrypted: name the private key with --identity FILE")
	}
	var all []age.Identity
	for _, name := range k.Identities {
		some, err := k.identity(name)
		if err != nil {
			return nil, fmt.Errorf("identity %s: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

func (k Keys) identity(name string) ([]age.Identity, error) {
	data, err := inputfile.Read(name, maxKeysBytes)
	switch {
	case err != nil:
		return nil, err
	case Encrypted(data):
		return nil, errors.New("it is itself encrypted: decrypt it first")
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN")):
		identity, err := k.sshIdentity(name, data)
		return []age.Identity{identity}, err
	}
	return age.ParseIdentities(bytes.NewReader(data))
}

// sshIdentity reads a private SSH key. If it has a passphrase, that is asked for once
// the key turns out to be the right one.
func (k Keys) sshIdentity(name string, pem []byte) (age.Identity, error) {
	identity, err := agessh.ParseIdentity(pem)
	var locked *ssh.PassphraseMissingError
	if !errors.As(err, &locked) {
		return identity, err
	}
	if locked.PublicKey == nil {
		return nil, errors.New("it is in the old format with a passphrase: convert it with ssh-keygen -p")
	}
	inner, err := agessh.NewEncryptedSSHIdentity(locked.PublicKey, pem, func() ([]byte, error) {
		passphrase, err := k.ask("the key " + name)
		return []byte(passphrase), err
	})
	return lockedKey{Identity: inner, name: name}, err
}

// lockedKey is a private key with a passphrase. It distinguishes a key that can't be
// unlocked from a file that was damaged.
type lockedKey struct {
	age.Identity
	name string
}

// Unwrap implements age.Identity.
func (k lockedKey) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	key, err := k.Identity.Unwrap(stanzas)
	if err != nil && !errors.Is(err, age.ErrIncorrectIdentity) {
		err = &lockedKeyError{name: k.name, err: err}
	}
	return key, err
}

// lockedKeyError says that a key could not be unlocked.
type lockedKeyError struct {
	name string
	err  error
}

func (e *lockedKeyError) Error() string { return fmt.Sprintf("unlock the key %s: %v", e.name, e.err) }

func (e *lockedKeyError) Unwrap() error { return e.err }

func (k Keys) ask(what string) (string, error) {
	if k.Ask == nil {
		return "", fmt.Errorf("a passphrase is required for %s", what)
	}
	passphrase, err := k.Ask(what)
	if err == nil && passphrase == "" {
		err = errors.New("the passphrase is empty")
	}
	return passphrase, err
}
