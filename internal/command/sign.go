package command

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/signature"
)

const signingCategory = "Signing"

// signFlags ask for a provenance file, with Helm's names.
type signFlags struct {
	sign                bool
	key, passphraseFile string
}

// flags returns the flags. Their --keyring is for both the secret key and the keys that verify
// dependencies.
func (o *signFlags) flags(verify *verifyFlags) []cli.Flag {
	text := func(name string, to *string, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Destination: to, Usage: usage, Category: signingCategory}
	}
	return []cli.Flag{
		&cli.BoolFlag{Name: "sign", Destination: &o.sign, Usage: "write a provenance file, signed with OpenPGP, beside the archive", Category: signingCategory},
		text("key", &o.key, "key to sign with: a name, a part of one, or a fingerprint"),
		text("keyring", &verify.keyring, "`FILE` with the secret key, as gpg --export-secret-keys writes it; with --verify, its keys are trusted for dependencies"),
		text("passphrase-file", &o.passphraseFile, "`FILE` with the key's passphrase, - for standard input; the default is a prompt"),
	}
}

// signingKey returns the secret key that the flags name, ready to sign, or nil if nothing is to be
// signed.
func (p *program) signingKey(o *packageFlags) (*signature.Key, error) {
	name, keyring := o.sign.key, o.bring.verify.keyring
	switch {
	case !o.sign.sign:
		return nil, nil
	case o.check:
		return nil, usage("--check writes nothing, but --sign does: choose one")
	case name == "", keyring == "":
		return nil, usage("--sign needs --key, the key to sign with, and --keyring, the file that contains it")
	}
	data, err := p.readFile("--keyring", keyring)
	if err != nil {
		return nil, fmt.Errorf("--keyring: %w", err)
	}
	keys, err := signature.ParseKeyring(data)
	if err != nil {
		return nil, fmt.Errorf("--keyring %s: %w", keyring, err)
	}
	key, err := keys.Secret(name)
	if err != nil {
		return nil, fmt.Errorf("--keyring %s: %w", keyring, err)
	}
	if key.Locked() {
		passphrase, err := p.passphrase(o.sign.passphraseFile, "Passphrase of "+name)
		if err != nil {
			return nil, err
		}
		if err := key.Unlock(passphrase); err != nil {
			return nil, err
		}
	}
	return &key, nil
}
