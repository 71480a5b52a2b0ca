package command

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// verifyFlags require signatures. --verify and --keyring are Helm's.
type verifyFlags struct {
	verify  bool
	keyring string
	// These say whose cosign signatures count, instead of the keyring's keys.
	key, identity, identityRegexp, issuer, trustedRoot optional[string]
}

func (o *verifyFlags) flags() []cli.Flag {
	cosign := func(name string, to *optional[string], usage string) cli.Flag {
		flag := chartText(name, &to.value, usage)
		flag.Action = to.note
		return flag
	}
	return []cli.Flag{
		&cli.BoolFlag{Name: "verify", Destination: &o.verify, Usage: "use charts only if they are signed by a key of --keyring", Category: chartCategory},
		notEmpty(chartText("keyring", &o.keyring, "`FILE` of the trusted OpenPGP keys (default: GnuPG's)")),
		cosign("verify-key", &o.key, "`FILE` with the cosign public key to trust instead; implies --verify"),
		cosign("certificate-identity", &o.identity, "`IDENTITY`, an email address or a URI, whose keyless cosign signatures are trusted instead; implies --verify"),
		cosign("certificate-identity-regexp", &o.identityRegexp, "`REGEXP` that matches such identities; it may match anywhere, so begin it with ^"),
		cosign("certificate-oidc-issuer", &o.issuer, "`URL` of the OpenID provider of the identity"),
		cosign("trusted-root", &o.trustedRoot, "`FILE` of the Sigstore that certifies it (default: trusted_root.json beside sources.yaml)"),
	}
}

// demand sets what the flags require. An empty value, as of a variable that is not set, is an
// error: it must not mean that no signature is required.
func (o *verifyFlags) demand(v *source.Verification) error {
	v.Rule = resolve.Rule{
		Key: o.key.value, Identity: o.identity.value, IdentityRegexp: o.identityRegexp.value,
		Issuer: o.issuer.value, TrustedRoot: o.trustedRoot.value,
	}
	if !o.key.given && !o.identity.given && !o.identityRegexp.given && !o.issuer.given && !o.trustedRoot.given {
		v.Wanted, v.Rule.Keyring = o.verify, o.keyring
		return nil
	}
	v.Wanted = true
	if err := v.Rule.Check(); err != nil {
		return usage("the flags for signatures: %v", err)
	}
	return nil
}

func (p *program) verifyCommand() *cli.Command {
	var o chartFlags
	return &cli.Command{
		Name: "verify", Usage: "check who signed a chart", ArgsUsage: "CHART",
		Description: describe(`Checks the signature of a chart, wherever the chart is, and prints whose it is: the .prov
file beside an archive or, with --verify-key or --certificate-identity, a cosign signature.
Exits with 8 if the chart is not signed by a trusted key.`,
			"kubectl release verify web-1.4.2.tgz --keyring keys.gpg\nkubectl release verify stable/web --version '^1'\nkubectl release verify oci://ghcr.io/acme/charts/web:1.4.2 --verify-key cosign.pub"),
		Flags: o.flags(&p.paths),
		Action: p.readOnly(takes(1, 1, func(ctx context.Context, args []string) error {
			s, err := p.sources(&o.fetchFlags)
			if err != nil {
				return err
			}
			s.Verification.Wanted = true
			fetched, err := p.verified(ctx, s, o.request(args[0]))
			if err != nil {
				return err
			}
			p.tellSignature(fetched)
			return nil
		})),
	}
}

// verified returns a chart whose signature is valid, wherever the chart is.
func (p *program) verified(ctx context.Context, s *source.Sources, request resolve.Request) (source.Fetched, error) {
	ref, err := understood(s, request, isThere)
	if err != nil {
		return source.Fetched{}, err
	}
	if ref.Kind == resolve.Local {
		return readVerified(s, ref.Path)
	}
	return p.fetch(ctx, s, ref)
}

// readVerified reads a local archive and verifies its signature.
func readVerified(s *source.Sources, path string) (source.Fetched, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return source.Fetched{}, usage("%s is a folder, but only archives are signed: package --sign makes one", path)
	}
	return s.ReadVerified(path)
}

// tellSignature prints who signed a chart, in Helm's words where it has any (Helm 4.3.1,
// pkg/action/verify.go).
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
