package signature

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"time"

	"golang.org/x/crypto/cryptobyte"
	tags "golang.org/x/crypto/cryptobyte/asn1"
)

// sctExtension holds the signed certificate timestamps, which logs issue before the certificate
// itself is made: RFC 6962, 3.3.
var sctExtension = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}

// extensionsTag is the tag of a certificate's extensions: RFC 5280, 4.1.
var extensionsTag = tags.Tag(3).ContextSpecific().Constructed()

const (
	// sctVersion, sctType and precertificate are v1, certificate_timestamp and
	// precert_entry of RFC 6962, 3.2.
	sctVersion     = 0
	sctType        = 0
	precertificate = 1
	maxTimestamps  = 10
)

// sct is a signed certificate timestamp: a log's promise to include a certificate.
type sct struct {
	log, extensions, signature []byte
	// timestamp is in milliseconds since 1970.
	timestamp uint64
}

var (
	errNoSCT  = errors.New("it is in no certificate log that the trusted root knows")
	errBadSCT = errors.New("its entries from certificate logs can't be read")
)

// certificateLogged returns an error unless the certificate has the promise of a log that the
// root trusts.
func (r *TrustedRoot) certificateLogged(leaf, issuer *x509.Certificate) error {
	promises, err := sctsOf(leaf)
	if err != nil {
		return err
	}
	tbs, err := withoutSCTs(leaf.RawTBSCertificate)
	if err != nil {
		return err
	}
	by := sha256.Sum256(issuer.RawSubjectPublicKeyInfo)
	for _, one := range promises[:min(len(promises), maxTimestamps)] {
		log, err := logAt(r.certificates, one.log, time.UnixMilli(int64(one.timestamp)))
		if err != nil {
			continue
		}
		message, err := one.message(by[:], tbs)
		if err == nil && log.key.signed(message, one.signature) {
			return nil
		}
	}
	return errNoSCT
}

// message returns what a log signs for a precertificate.
func (s sct) message(issuer, tbs []byte) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddUint8(sctVersion)
	b.AddUint8(sctType)
	b.AddUint64(s.timestamp)
	b.AddUint16(precertificate)
	b.AddBytes(issuer)
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(tbs) })
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(s.extensions) })
	return b.Bytes()
}

// sctsOf reads the promises in a certificate, skipping unknown versions.
func sctsOf(leaf *x509.Certificate) ([]sct, error) {
	var out []sct
	for _, e := range leaf.Extensions {
		if !e.Id.Equal(sctExtension) {
			continue
		}
		value := cryptobyte.String(e.Value)
		var octets, list cryptobyte.String
		if !value.ReadASN1(&octets, tags.OCTET_STRING) || !octets.ReadUint16LengthPrefixed(&list) {
			return nil, errBadSCT
		}
		for !list.Empty() {
			var one, extensions, signature cryptobyte.String
			var version uint8
			var algorithm uint16
			var s sct
			if !list.ReadUint16LengthPrefixed(&one) || !one.ReadUint8(&version) {
				return nil, errBadSCT
			}
			if version != sctVersion {
				continue
			}
			if !one.ReadBytes(&s.log, sha256.Size) || !one.ReadUint64(&s.timestamp) || !one.ReadUint16LengthPrefixed(&extensions) ||
				!one.ReadUint16(&algorithm) || !one.ReadUint16LengthPrefixed(&signature) || !one.Empty() {
				return nil, errBadSCT
			}
			s.extensions, s.signature = extensions, signature
			out = append(out, s)
		}
	}
	return out, nil
}

// withoutSCTs returns the signed part of a certificate as the log saw it, without the promises.
func withoutSCTs(tbs []byte) ([]byte, error) {
	input := cryptobyte.String(tbs)
	var fields cryptobyte.String
	if !input.ReadASN1(&fields, tags.SEQUENCE) {
		return nil, errBadSCT
	}
	var b cryptobyte.Builder
	b.AddASN1(tags.SEQUENCE, func(b *cryptobyte.Builder) {
		for !fields.Empty() {
			var field cryptobyte.String
			var tag tags.Tag
			if !fields.ReadAnyASN1Element(&field, &tag) {
				b.SetError(errBadSCT)
				return
			}
			if tag == extensionsTag {
				addExtensions(b, field)
			} else {
				b.AddBytes(field)
			}
		}
	})
	return b.Bytes()
}

// addExtensions adds the extensions in field, except the promises.
func addExtensions(b *cryptobyte.Builder, field cryptobyte.String) {
	var wrapped, list cryptobyte.String
	if !field.ReadASN1(&wrapped, extensionsTag) || !wrapped.ReadASN1(&list, tags.SEQUENCE) {
		b.SetError(errBadSCT)
		return
	}
	b.AddASN1(extensionsTag, func(b *cryptobyte.Builder) {
		b.AddASN1(tags.SEQUENCE, func(b *cryptobyte.Builder) {
			for !list.Empty() {
				var element cryptobyte.String
				var id asn1.ObjectIdentifier
				if !list.ReadASN1Element(&element, tags.SEQUENCE) {
					b.SetError(errBadSCT)
					return
				}
				whole, inner := element, cryptobyte.String(nil)
				if !element.ReadASN1(&inner, tags.SEQUENCE) || !inner.ReadASN1ObjectIdentifier(&id) {
					b.SetError(errBadSCT)
					return
				}
				if !id.Equal(sctExtension) {
					b.AddBytes(whole)
				}
			}
		})
	})
}
