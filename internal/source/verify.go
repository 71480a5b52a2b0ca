package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
)

// trustedRootFile is the name of the trusted root next to sources.yaml, in Sigstore's format.
const trustedRootFile = "trusted_root.json"

// Verification is what a command's flags demand of signatures, in addition to the rules in
// sources.yaml.
type Verification struct {
	// Wanted reports whether every chart must be signed.
	Wanted bool
	// Rule says by whom; if it names nobody, by a key in GnuPG's keyring.
	Rule resolve.Rule
	// Now returns the time at which signatures and keys must be valid. It is required.
	Now func() time.Time
}

// demand is the signature that a chart must have: by one of the keys, and one of the signers if
// there are any; or, with cosign, by a party.
type demand struct {
	keys    signature.Keyring
	signers []string
	party   signature.Party
}

// UnverifiedError says that a chart is not signed as demanded.
type UnverifiedError struct {
	What string
	Err  error
}

func (e *UnverifiedError) Error() string {
	return fmt.Sprintf("%s can't be verified and is not used: %s", e.What, e.Err)
}

func (e *UnverifiedError) Unwrap() error { return e.Err }

// MayDemand reports whether a chart may have to be signed, as far as its reference tells. Only
// its index says where the archive of a chart in an HTTP repository is, on a server or in a
// registry, and a rule for that place counts, so there any rule will do.
func (s *Sources) MayDemand(r resolve.Reference) bool {
	switch {
	case s.Verification.Wanted:
		return true
	case r.Kind == resolve.Registry:
		return resolve.RuleFor(s.Settings.Verify, r.Image.String()) != nil
	}
	return len(s.Settings.Verify) > 0
}

// demands returns what flags and rules demand for a chart; all of them must be met.
func (s *Sources) demands(urls ...string) ([]demand, error) {
	var out []demand
	if v := s.Verification; v.Wanted {
		rule := v.Rule
		if rule.Key == "" && rule.Keyring == "" && !rule.Keyless() {
			rule.Keyring = s.Paths.keyring()
		}
		d, err := s.readDemand(rule, "")
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	if rule := resolve.RuleFor(s.Settings.Verify, urls...); rule != nil {
		d, err := s.readDemand(*rule, filepath.Dir(s.Paths.Settings))
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// readDemand reads the keys of a rule, whose file names are relative to folder.
func (s *Sources) readDemand(r resolve.Rule, folder string) (demand, error) {
	file := cmp.Or(r.Keyring, r.Key, r.TrustedRoot)
	switch {
	case file == "" && (!r.Keyless() || s.Paths.Settings == ""):
		return demand{}, errors.New("read the keys for signatures: no file is named, and without a home folder there is none")
	case file == "":
		file = filepath.Join(filepath.Dir(s.Paths.Settings), trustedRootFile)
	case !filepath.IsAbs(file):
		file = filepath.Join(folder, file)
	}
	data, err := inputfile.Read(file, maxConfigBytes)
	if err != nil {
		return demand{}, fmt.Errorf("read the keys for signatures: %w", err)
	}
	d := demand{signers: r.Signers}
	switch {
	case r.Keyless():
		d.party, err = identity(r, data)
	case r.Key != "":
		d.party, err = signature.ParsePublicKey(data)
	default:
		d.keys, err = signature.ParseKeyring(data)
	}
	if err != nil {
		return demand{}, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// identity returns the identity of a rule, to be checked against a trusted root.
func identity(r resolve.Rule, trustedRoot []byte) (signature.Party, error) {
	root, err := signature.ParseTrustedRoot(trustedRoot)
	if err != nil {
		return nil, err
	}
	who := signature.Identity{Name: r.Identity, Issuer: r.Issuer, Root: root}
	if r.IdentityRegexp != "" {
		who.Pattern, err = regexp.Compile(r.IdentityRegexp)
	}
	return who, err
}

// keyring returns the file with GnuPG's public keys: pubring.gpg, as in Helm, or pubring.kbx if
// only that exists; "" without a folder of GnuPG's.
func (p Paths) keyring() string {
	old, box := below(p.GnuPG, "pubring.gpg"), below(p.GnuPG, "pubring.kbx")
	_, none := os.Stat(old)
	if _, err := os.Stat(box); none != nil && err == nil {
		return box
	}
	return old
}

// verify checks the signatures that are demanded for a chart, and sets f.Signature. Errors:
// *UnverifiedError, *OfflineError.
func (s *Sources) verify(ctx context.Context, f *Fetched) error {
	wanted, err := s.demands(f.home, f.URL)
	if err != nil {
		return err
	}
	for _, d := range wanted {
		var found signature.Signature
		switch {
		case d.party == nil:
			found, err = s.verifyProvenance(ctx, f, d)
		case f.image != nil:
			found, err = s.verifyImage(ctx, f, d.party)
		default:
			found, err = s.verifyArchive(ctx, f, d)
		}
		if err != nil {
			return err
		}
		f.Signature = &found
	}
	return nil
}
