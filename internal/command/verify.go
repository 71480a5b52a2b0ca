package command

import (
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// verifyFlags demand signatures; the first two are Helm's.
func verifyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "verify", Usage: "use charts only when they are signed by a key of --keyring", Category: chartCategory},
		chartText("keyring", "`FILE` of the OpenPGP keys that count (default: GnuPG's)"),
		chartText("verify-key", "`FILE` with the public key of cosign that counts instead; implies --verify"),
		chartText("certificate-identity", "`IDENTITY`, an email address or a URI, whose keyless cosign signatures count instead; implies --verify"),
		chartText("certificate-identity-regexp", "`REGEXP` that finds such identities; it may match anywhere, so begin it with ^"),
		chartText("certificate-oidc-issuer", "`URL` of the OpenID provider that knows the identity"),
		chartText("trusted-root", "`FILE` of the Sigstore that certifies it (default: trusted_root.json beside sources.yaml)"),
	}
}

// cosignFlags say whose signatures count in the place of the keyring's keys.
var cosignFlags = []string{"verify-key", "certificate-identity", "certificate-identity-regexp", "certificate-oidc-issuer", "trusted-root"}

// demandSignatures demands what flags say. One that is given with no text, as of a variable
// that is not set, is an error: it must not mean that no signature is demanded.
func demandSignatures(c *cli.Context, v *source.Verification) error {
	v.Rule = resolve.Rule{
		Key: c.String("verify-key"), Identity: c.String("certificate-identity"), IdentityRegexp: c.String("certificate-identity-regexp"),
		Issuer: c.String("certificate-oidc-issuer"), TrustedRoot: c.String("trusted-root"),
	}
	if !slices.ContainsFunc(cosignFlags, c.IsSet) {
		v.Wanted, v.Rule.Keyring = c.Bool("verify"), c.String("keyring")
		return nil
	}
	v.Wanted = true
	if err := v.Rule.Check(); err != nil {
		return usage("the flags for signatures: %v", err)
	}
	return nil
}

func (p *program) verifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "find who has signed a chart", ArgsUsage: "CHART",
		Description: describe("Checks the signature of a chart and says whose it is: of an archive by the .prov file\nbeside it, or with --verify-key or\n--certificate-identity by a signature of cosign's; wherever the chart is. Exits\nwith 8 when it is not signed by a key that counts.",
			"kubectl release verify web-1.4.2.tgz --keyring keys.gpg\nkubectl release verify stable/web --version '^1'\nkubectl release verify oci://ghcr.io/acme/charts/web:1.4.2 --verify-key cosign.pub"),
		Flags: chartFlags(),
		Action: p.readOnly(func(c *cli.Context) error {
			args, err := arguments(c, 1, 1)
			if err != nil {
				return err
			}
			s, err := sources(c)
			if err != nil {
				return err
			}
			s.Verification.Wanted = true
			fetched, err := p.verified(c, s, args[0])
			if err != nil {
				return err
			}
			p.tellSignature(fetched)
			return nil
		}),
	}
}

// verified is a chart whose signature is right, wherever it is.
func (p *program) verified(c *cli.Context, s *source.Sources, name string) (source.Fetched, error) {
	ref, err := understood(s, chartRequest(c, name), isThere)
	if err != nil {
		return source.Fetched{}, err
	}
	if ref.Kind == resolve.Local {
		return readVerified(s, ref.Path)
	}
	return p.fetch(c, s, ref)
}

// readVerified reads an archive that is here, when its signature is right.
func readVerified(s *source.Sources, path string) (source.Fetched, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return source.Fetched{}, usage("%s is a folder, and only archives are signed: package --sign makes one", path)
	}
	return s.ReadVerified(path)
}

// tellSignature says whose it is, in Helm's words where Helm has them.
func (p *program) tellSignature(f source.Fetched) {
	for _, name := range f.Signature.Signers {
		fmt.Fprintf(p.streams.Out, "Signed by: %s\n", name)
	}
	switch f.Signature.Method {
	case signature.PGP:
		fmt.Fprintf(p.streams.Out, "Using Key With Fingerprint: %s\n", f.Signature.Key)
	case signature.Cosign:
		if f.Signature.Issuer != "" {
			fmt.Fprintf(p.streams.Out, "Identity of: %s\nEntry in Rekor's log: %d\n", f.Signature.Issuer, f.Signature.LogIndex)
			break
		}
		fmt.Fprintf(p.streams.Out, "Signed with cosign key: %s\n", f.Signature.Key)
	}
	fmt.Fprintf(p.streams.Out, "Chart Hash Verified: %s\n", f.Digest)
}
