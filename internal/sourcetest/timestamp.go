package sourcetest

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"time"
)

// Stamp says what is wrong with a timestamp; the zero value is a valid one.
type Stamp struct {
	// None omits the timestamp; Of replaces the message, At the time.
	None bool
	Of   []byte
	At   time.Time
	// Status replaces granted (0), and Changed has other content than is signed.
	Status  int
	Changed bool
	// Version is added to the correct one. Without is the signed attribute to omit:
	// "content type", "digest" or "certificate". Misnamed names another certificate, Extended
	// adds an extension, and Doubled has two signers.
	Version                     int
	Without                     string
	Misnamed, Extended, Doubled bool
	// Enclosed includes the certificate, and Fraction adds a fraction to the time; neither
	// is an error. Broad signs with a certificate that also has other uses.
	Enclosed, Fraction, Broad bool
}

// stamper is a timestamp authority. Its broad certificate also has other uses.
type stamper struct {
	root, certificate, broad *x509.Certificate
	key                      crypto.Signer
}

// stamperYears is how many years its signing certificates are valid.
const stamperYears = 2

func (s *Sigstore) newStamper() stamper {
	s.t.Helper()
	root, key := newECDSA(s.t), newECDSA(s.t)
	made := func(template, parent *x509.Certificate, key crypto.PublicKey) *x509.Certificate {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key, root)
		s.must(err)
		cert, err := x509.ParseCertificate(der)
		s.must(err)
		return cert
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Timestamps of the test"}, NotBefore: founded, NotAfter: founded.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	out := stamper{root: made(template, template, root.Public()), key: key}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: founded, NotAfter: founded.AddDate(stamperYears, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: s.asn1([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})}},
	}
	out.certificate = made(leaf, out.root, key.Public())
	leaf.ExtraExtensions, leaf.ExtKeyUsage = nil, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping, x509.ExtKeyUsageCodeSigning}
	out.broad = made(leaf, out.root, key.Public())
	return out
}

// Object identifiers of RFC 3161, 5652, 5035, 5754 and 5758.
var (
	oidSHA256      = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidECDSA       = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}
	oidSignedData  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidTSTInfo     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidPolicy      = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 2}
	oidContentType = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidDigest      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningCert = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
)

// stamp returns the response to a timestamp request: RFC 3161, 2.4.2, and RFC 5652, 5.
func (s *Sigstore) stamp(message []byte, at time.Time, how Stamp) []byte {
	s.t.Helper()
	time := at.UTC().Format("20060102150405")
	if how.Fraction {
		time += ".5"
	}
	said := func(serial int) []byte {
		parts := [][]byte{
			s.asn1(1 + how.Version), s.asn1(oidPolicy), s.sequence(s.sequence(s.asn1(oidSHA256)), s.asn1(digestOf(message))), s.asn1(serial),
			s.asn1(asn1.RawValue{Tag: asn1.TagGeneralizedTime, Bytes: []byte(time + "Z")}), s.asn1(42),
		}
		if how.Extended {
			parts = append(parts, s.tagged(1, s.asn1(pkix.Extension{Id: oidPolicy, Critical: true, Value: []byte{5, 0}})))
		}
		return s.sequence(parts...)
	}
	info := said(7)
	signer := s.stamper.certificate
	if how.Broad {
		signer = s.stamper.broad
	}
	named := signer
	if how.Misnamed {
		named = s.stamper.root
	}
	var attributes []byte
	for name, one := range map[string][]byte{
		"content type": s.sequence(s.asn1(oidContentType), s.set(s.asn1(oidTSTInfo))),
		"digest":       s.sequence(s.asn1(oidDigest), s.set(s.asn1(digestOf(info)))),
		"certificate":  s.sequence(s.asn1(oidSigningCert), s.set(s.sequence(s.sequence(s.sequence(s.asn1(digestOf(named.Raw))))))),
	} {
		if name != how.Without {
			attributes = append(attributes, one...)
		}
	}
	value, err := s.stamper.key.Sign(rand.Reader, digestOf(s.set(attributes)), crypto.SHA256)
	s.must(err)
	if how.Changed {
		info = said(8)
	}
	data := [][]byte{s.asn1(3), s.set(s.sequence(s.asn1(oidSHA256))), s.sequence(s.asn1(oidTSTInfo), s.tagged(0, s.asn1(info)))}
	if how.Enclosed {
		data = append(data, s.tagged(0, signer.Raw))
	}
	by := s.sequence(
		s.asn1(1), s.sequence(s.stamper.root.RawSubject, s.asn1(2)), s.sequence(s.asn1(oidSHA256)), s.tagged(0, attributes), s.sequence(s.asn1(oidECDSA)), s.asn1(value),
	)
	if how.Doubled {
		by = append(by, by...)
	}
	data = append(data, s.set(by))
	return s.sequence(s.sequence(s.asn1(how.Status)), s.sequence(s.asn1(oidSignedData), s.tagged(0, s.sequence(data...))))
}

func digestOf(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

// asn1 encodes a value in DER; sequence, set and tagged combine such values.
func (s *Sigstore) asn1(v any) []byte {
	s.t.Helper()
	out, err := asn1.Marshal(v)
	s.must(err)
	return out
}

func (s *Sigstore) sequence(parts ...[]byte) []byte {
	return s.asn1(asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: slices.Concat(parts...)})
}

func (s *Sigstore) set(parts ...[]byte) []byte {
	return s.asn1(asn1.RawValue{Tag: asn1.TagSet, IsCompound: true, Bytes: slices.Concat(parts...)})
}

func (s *Sigstore) tagged(tag int, content []byte) []byte {
	return s.asn1(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: true, Bytes: content})
}
