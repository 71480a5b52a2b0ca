package signature

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Identity is whose keyless signatures count: a Fulcio certificate, valid for a few minutes,
// says that a key belongs to the identity, and Rekor's log or a timestamp says that the
// signature was made in those minutes. All of this is checked against the trusted root, without
// network access.
type Identity struct {
	// Name is an email address or a URI. If it is "", Pattern counts, which is not anchored.
	Name    string
	Pattern *regexp.Regexp
	// Issuer is the URL of the OpenID Connect provider of the identity.
	Issuer string
	Root   *TrustedRoot
}

// Extensions of Fulcio certificates:
// https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md
var (
	issuerExtension    = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}
	oldIssuerExtension = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}
)

// signer implements Party with the checks that Sigstore's client specification requires:
// https://github.com/sigstore/architecture-docs/blob/main/client-spec.md#4-verification
func (i Identity) signer(s signedMessage) (Signature, error) {
	if s.certificate == nil || len(s.signatures) != 1 {
		return Signature{}, errors.New("it is not signed with the certificate of an identity")
	}
	leaf, err := x509.ParseCertificate(s.certificate)
	if err != nil {
		return Signature{}, fmt.Errorf("its certificate can't be read: %w", err)
	}
	entry, at, err := i.Root.logged(s)
	if err != nil {
		return Signature{}, fmt.Errorf("its entry in the log is not valid: %w", err)
	}
	if err := i.Root.certified(leaf, at); err != nil {
		return Signature{}, fmt.Errorf("its certificate is not valid: %w", err)
	}
	name, issuer, err := i.found(leaf)
	if err != nil {
		return Signature{}, err
	}
	key, err := newPublicKey(leaf.RawSubjectPublicKeyInfo)
	if err != nil {
		return Signature{}, err
	}
	if !key.signed(s.message, s.signatures[0]) {
		return Signature{}, errors.New("the signature was not made with the key of its certificate")
	}
	return Signature{Method: Cosign, Signers: []string{name}, Key: key.fingerprint(), Issuer: issuer, LogIndex: entry.LogIndex}, nil
}

// found returns the identity in a certificate and its issuer. Errors: they are not the wanted ones.
func (i Identity) found(leaf *x509.Certificate) (name, issuer string, err error) {
	if issuer, err = issuerOf(leaf); err != nil {
		return "", "", err
	}
	names := slices.Clone(leaf.EmailAddresses)
	for _, u := range leaf.URIs {
		names = append(names, u.String())
	}
	at := slices.IndexFunc(names, func(one string) bool {
		if i.Name != "" {
			return one == i.Name
		}
		return i.Pattern != nil && i.Pattern.MatchString(one)
	})
	if at < 0 || issuer != i.Issuer {
		return "", "", fmt.Errorf("it is signed by %q of %q, which is not the required identity", strings.Join(names, ", "), issuer)
	}
	return names[at], issuer, nil
}

func issuerOf(leaf *x509.Certificate) (string, error) {
	old := ""
	for _, e := range leaf.Extensions {
		switch {
		case e.Id.Equal(issuerExtension):
			var issuer string
			if rest, err := asn1.UnmarshalWithParams(e.Value, &issuer, "utf8"); err != nil || len(rest) > 0 {
				return "", errors.New("the issuer in its certificate can't be read")
			}
			return issuer, nil
		case e.Id.Equal(oldIssuerExtension):
			old = string(e.Value)
		}
	}
	if old == "" {
		return "", errors.New("its certificate names no issuer of the identity")
	}
	return old, nil
}

// certified returns an error unless the certificate was issued by one of the authorities, was
// valid for code signing at a time, and is in a certificate transparency log.
func (r *TrustedRoot) certified(leaf *x509.Certificate, at time.Time) error {
	err := fmt.Errorf("the trusted root has no authority at %s", at.UTC().Format(time.RFC3339))
	for _, a := range r.authorities {
		if !a.valid.has(at) {
			continue
		}
		var chains [][]*x509.Certificate
		chains, err = leaf.Verify(x509.VerifyOptions{
			Roots: a.roots, Intermediates: a.intermediates, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		})
		for _, chain := range chains {
			if len(chain) < 2 {
				return errors.New("it is the authority's own")
			}
			if err = r.certificateLogged(leaf, chain[1]); err == nil {
				return nil
			}
		}
	}
	return err
}
