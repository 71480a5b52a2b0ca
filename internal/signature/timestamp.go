package signature

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"time"
)

// maxStamps is how many timestamps of a signature are checked; Sigstore's clients ask for
// one.
const maxStamps = 10

// timestampAuthority signs that something existed at a certain time: RFC 3161.
type timestampAuthority struct {
	authority
	// signer is the certificate that must have signed; nil if the trusted root has none.
	signer *x509.Certificate
}

// newTimestampAuthority returns the authority with a chain, whose first certificate may be the
// signer's.
func newTimestampAuthority(chain []rawBytes, valid period) (timestampAuthority, error) {
	var t timestampAuthority
	if len(chain) > 0 {
		first, err := x509.ParseCertificate(chain[0].Bytes)
		if err != nil {
			return t, err
		}
		if !first.IsCA {
			t.signer, chain = first, chain[1:]
		}
	}
	var err error
	t.authority, err = newAuthority(chain, valid)
	return t, err
}

// stamped returns the time at which a signature existed, from the first valid timestamp by an
// authority that the root trusts.
func (r *TrustedRoot) stamped(s signedMessage) (time.Time, error) {
	err := errors.New("neither the log nor a timestamp says when it was made")
	for _, one := range s.timestamps[:min(len(s.timestamps), maxStamps)] {
		var t token
		if t, err = parseToken(one); err != nil {
			continue
		}
		err = errors.New("the trusted root has no authority for timestamps")
		for _, a := range r.timestamps {
			if err = a.made(t, s.signatures[0]); err == nil {
				return t.at, nil
			}
		}
	}
	return time.Time{}, err
}

// made returns an error unless the authority issued the timestamp for this message.
func (a timestampAuthority) made(t token, message []byte) error {
	if !t.imprint.of(message) {
		return errors.New("its timestamp is for something else")
	}
	if !t.digest.of(t.content) {
		return errors.New("its timestamp was signed for other content")
	}
	candidates := t.certificates
	if a.signer != nil {
		candidates = []*x509.Certificate{a.signer}
	}
	at := slices.IndexFunc(candidates, func(c *x509.Certificate) bool { return t.signer.of(c.Raw) })
	switch {
	case at < 0:
		return errors.New("the trusted root does not know who signed its timestamp")
	case !a.valid.has(t.at):
		return fmt.Errorf("the trusted root does not trust the authority of its timestamp at %s", t.at.Format(time.RFC3339))
	}
	signer := candidates[at]
	if err := signer.CheckSignature(t.algorithm, t.signed, t.signature); err != nil {
		return fmt.Errorf("its timestamp is not valid: %w", err)
	}
	if !onlyForTimestamps(signer) {
		return errors.New("the certificate of its timestamp is not for timestamps only")
	}
	if _, err := signer.Verify(x509.VerifyOptions{Roots: a.roots, Intermediates: a.intermediates, CurrentTime: t.at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}}); err != nil {
		return fmt.Errorf("the certificate of its timestamp is not valid: %w", err)
	}
	return nil
}

var extKeyUsageExtension = asn1.ObjectIdentifier{2, 5, 29, 37}

// onlyForTimestamps reports whether a certificate meets RFC 3161, 2.3: the extended key usage is
// time stamping alone, and critical.
func onlyForTimestamps(c *x509.Certificate) bool {
	return slices.Equal(c.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}) && len(c.UnknownExtKeyUsage) == 0 &&
		slices.ContainsFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(extKeyUsageExtension) && e.Critical })
}
