package command

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/signature"
)

const signingCategory = "Signing"

// signingFlags have a provenance file written, with Helm's names.
func signingFlags() []cli.Flag {
	text := func(name, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage, Category: signingCategory}
	}
	return []cli.Flag{
		&cli.BoolFlag{Name: "sign", Usage: "write a provenance file, signed with OpenPGP, beside the archive", Category: signingCategory},
		text("key", "whose key: a name, a part of one, or a fingerprint"),
		text("keyring", "`FILE` with the secret key, as gpg --export-secret-keys writes it; with --verify, its keys count for dependencies"),
		text("passphrase-file", "`FILE` with the key's passphrase, - for standard input; else it is asked for"),
	}
}

// signingKey is the secret key that flags name, ready to sign; nil when nothing is to be
// signed.
func (p *program) signingKey(c *cli.Context) (*signature.Key, error) {
	switch {
	case !c.Bool("sign"):
		return nil, nil
	case c.Bool("check"):
		return nil, usage("--check writes nothing, and --sign does: choose one")
	case c.String("key") == "", c.String("keyring") == "":
		return nil, usage("--sign needs --key, whose key it is, and --keyring, the file that has it")
	}
	data, err := p.readFile(c.String("keyring"))
	if err != nil {
		return nil, fmt.Errorf("--keyring: %w", err)
	}
	keys, err := signature.ParseKeyring(data)
	if err != nil {
		return nil, fmt.Errorf("--keyring %s: %w", c.String("keyring"), err)
	}
	key, err := keys.Secret(c.String("key"))
	if err != nil {
		return nil, fmt.Errorf("--keyring %s: %w", c.String("keyring"), err)
	}
	if key.Locked() {
		passphrase, err := p.passphrase(c, "Passphrase of "+c.String("key"))
		if err != nil {
			return nil, err
		}
		if err := key.Unlock(passphrase); err != nil {
			return nil, err
		}
	}
	return &key, nil
}
