package signature

import (
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"time"

	"golang.org/x/crypto/cryptobyte"
	tags "golang.org/x/crypto/cryptobyte/asn1"
)

// token is the content of a timestamp (RFC 3161, 2.4.2), not yet verified.
type token struct {
	// imprint is the digest of what existed at a time.
	imprint digested
	at      time.Time
	// content is the encoded TSTInfo, which has both; digest is its digest as signed.
	content []byte
	digest  digested
	// signer is the digest of the signer's certificate (RFC 5035, 3).
	signer digested
	// signed is what the signature covers, including digest and signer.
	signed, signature []byte
	algorithm         x509.SignatureAlgorithm
	// certificates came with the token, and are not trusted.
	certificates []*x509.Certificate
}

// digested is a digest with its hash algorithm.
type digested struct {
	by  crypto.Hash
	sum []byte
}

func (d digested) of(data []byte) bool {
	h := d.by.New()
	h.Write(data)
	return string(h.Sum(nil)) == string(d.sum)
}

var (
	signedData         = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	timestampInfo      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	contentTypeAttr    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	messageDigestAttr  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	signerCertificates = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	rsaEncryption      = "1.2.840.113549.1.1.1"

	hashes = map[string]crypto.Hash{
		"2.16.840.1.101.3.4.2.1": crypto.SHA256, "2.16.840.1.101.3.4.2.2": crypto.SHA384, "2.16.840.1.101.3.4.2.3": crypto.SHA512,
	}
	signatureAlgorithms = map[string]x509.SignatureAlgorithm{
		"1.2.840.10045.4.3.2": x509.ECDSAWithSHA256, "1.2.840.10045.4.3.3": x509.ECDSAWithSHA384, "1.2.840.10045.4.3.4": x509.ECDSAWithSHA512,
		"1.2.840.113549.1.1.11": x509.SHA256WithRSA, "1.2.840.113549.1.1.12": x509.SHA384WithRSA, "1.2.840.113549.1.1.13": x509.SHA512WithRSA,
		"1.3.101.112": x509.PureEd25519,
	}
	rsaAlgorithms = map[crypto.Hash]x509.SignatureAlgorithm{crypto.SHA256: x509.SHA256WithRSA, crypto.SHA384: x509.SHA384WithRSA, crypto.SHA512: x509.SHA512WithRSA}
)

var (
	errBadToken = errors.New("its timestamp can't be read")
	tag0        = tags.Tag(0).ContextSpecific().Constructed()
	tag1        = tags.Tag(1).ContextSpecific().Constructed()
)

// parseToken parses the response of a timestamp authority, in DER: CMS SignedData (RFC 5652, 5)
// with one signature.
func parseToken(der []byte) (token, error) {
	var t token
	input := cryptobyte.String(der)
	var answer, state, info, wrapped, data, encapsulated, list, signers, signer cryptobyte.String
	var status, version int
	if !input.ReadASN1(&answer, tags.SEQUENCE) || !input.Empty() || !answer.ReadASN1(&state, tags.SEQUENCE) || !state.ReadASN1Integer(&status) {
		return t, errBadToken
	}
	if status != 0 && status != 1 { // granted, grantedWithMods
		return t, errors.New("its timestamp was refused")
	}
	if !answer.ReadASN1(&info, tags.SEQUENCE) || !readOID(&info, signedData) || !info.ReadASN1(&wrapped, tag0) || !wrapped.ReadASN1(&data, tags.SEQUENCE) ||
		!data.ReadASN1Integer(&version) || !data.SkipASN1(tags.SET) || !data.ReadASN1(&encapsulated, tags.SEQUENCE) ||
		!data.ReadOptionalASN1(&list, nil, tag0) || !data.SkipOptionalASN1(tag1) || !data.ReadASN1(&signers, tags.SET) || !data.Empty() ||
		!signers.ReadASN1(&signer, tags.SEQUENCE) || !signers.Empty() {
		return t, errBadToken
	}
	for _, read := range []func() bool{
		func() bool { return t.readContent(encapsulated) },
		func() bool { return t.readCertificates(list) },
		func() bool { return t.readSigner(signer) },
	} {
		if !read() {
			return t, errBadToken
		}
	}
	return t, nil
}

func readOID(s *cryptobyte.String, want asn1.ObjectIdentifier) bool {
	var got asn1.ObjectIdentifier
	return s.ReadASN1ObjectIdentifier(&got) && got.Equal(want)
}

// readAlgorithm reads an algorithm. Its parameters are ignored: they mean nothing in the
// supported ones.
func readAlgorithm(s *cryptobyte.String, name *string) bool {
	var algorithm cryptobyte.String
	var id asn1.ObjectIdentifier
	if !s.ReadASN1(&algorithm, tags.SEQUENCE) || !algorithm.ReadASN1ObjectIdentifier(&id) {
		return false
	}
	*name = id.String()
	return true
}

func readHash(s *cryptobyte.String, by *crypto.Hash) bool {
	var name string
	if !readAlgorithm(s, &name) {
		return false
	}
	*by = hashes[name]
	return *by != 0
}

// readContent reads the signed content, a TSTInfo. One with extensions is refused: they might
// change its meaning.
func (t *token) readContent(encapsulated cryptobyte.String) bool {
	var wrapped, content, info, imprint, at cryptobyte.String
	var version int
	if !readOID(&encapsulated, timestampInfo) || !encapsulated.ReadASN1(&wrapped, tag0) || !wrapped.ReadASN1(&content, tags.OCTET_STRING) {
		return false
	}
	t.content = content
	if !content.ReadASN1(&info, tags.SEQUENCE) || !content.Empty() || !info.ReadASN1Integer(&version) || version != 1 || !info.SkipASN1(tags.OBJECT_IDENTIFIER) ||
		!info.ReadASN1(&imprint, tags.SEQUENCE) || !readHash(&imprint, &t.imprint.by) || !imprint.ReadASN1((*cryptobyte.String)(&t.imprint.sum), tags.OCTET_STRING) ||
		!info.SkipASN1(tags.INTEGER) || !info.ReadASN1(&at, tags.GeneralizedTime) {
		return false
	}
	for !info.Empty() {
		var field cryptobyte.String
		var tag tags.Tag
		if !info.ReadAnyASN1(&field, &tag) || tag == tag1 {
			return false
		}
	}
	var err error
	t.at, err = time.Parse("20060102150405Z", string(at))
	return err == nil
}

func (t *token) readCertificates(list cryptobyte.String) bool {
	for !list.Empty() {
		var der cryptobyte.String
		if !list.ReadASN1Element(&der, tags.SEQUENCE) {
			return false
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return false
		}
		t.certificates = append(t.certificates, c)
	}
	return true
}

// readSigner reads a SignerInfo. The signer's certificate is taken from the signed attribute,
// not from the sid field, which is not signed.
func (t *token) readSigner(s cryptobyte.String) bool {
	var version int
	var attributes, signature cryptobyte.String
	var sid cryptobyte.String
	var sidTag tags.Tag
	var algorithm string
	if !s.ReadASN1Integer(&version) || !s.ReadAnyASN1(&sid, &sidTag) || !readHash(&s, &t.digest.by) || !s.ReadASN1(&attributes, tag0) ||
		!readAlgorithm(&s, &algorithm) || !s.ReadASN1(&signature, tags.OCTET_STRING) {
		return false
	}
	t.signature, t.algorithm = signature, signatureAlgorithms[algorithm]
	if algorithm == rsaEncryption {
		t.algorithm = rsaAlgorithms[t.digest.by]
	}
	// The attributes are signed as a SET, and stored under another tag: RFC 5652, 5.4.
	var b cryptobyte.Builder
	b.AddASN1(tags.SET, func(b *cryptobyte.Builder) { b.AddBytes(attributes) })
	var err error
	t.signed, err = b.Bytes()
	return err == nil && t.algorithm != x509.UnknownSignatureAlgorithm && t.readAttributes(attributes)
}

// readAttributes reads the required attributes, each of which must occur once and have one value.
func (t *token) readAttributes(attributes cryptobyte.String) bool {
	seen := map[string]bool{}
	for !attributes.Empty() {
		var attribute, values cryptobyte.String
		var id asn1.ObjectIdentifier
		if !attributes.ReadASN1(&attribute, tags.SEQUENCE) || !attribute.ReadASN1ObjectIdentifier(&id) || !attribute.ReadASN1(&values, tags.SET) || seen[id.String()] {
			return false
		}
		seen[id.String()] = true
		known, ok := true, true
		switch {
		case id.Equal(contentTypeAttr):
			ok = readOID(&values, timestampInfo)
		case id.Equal(messageDigestAttr):
			ok = values.ReadASN1((*cryptobyte.String)(&t.digest.sum), tags.OCTET_STRING)
		case id.Equal(signerCertificates):
			ok = t.readSignerCertificate(&values)
		default:
			known = false
		}
		if !ok || known && !values.Empty() {
			return false
		}
	}
	return seen[contentTypeAttr.String()] && seen[messageDigestAttr.String()] && seen[signerCertificates.String()]
}

// readSignerCertificate reads a SigningCertificateV2, whose first digest is that of the
// signer's certificate, with SHA-256 unless it says otherwise.
func (t *token) readSignerCertificate(values *cryptobyte.String) bool {
	var value, list, first cryptobyte.String
	if !values.ReadASN1(&value, tags.SEQUENCE) || !value.ReadASN1(&list, tags.SEQUENCE) || !list.ReadASN1(&first, tags.SEQUENCE) {
		return false
	}
	t.signer.by = crypto.SHA256
	if first.PeekASN1Tag(tags.SEQUENCE) && !readHash(&first, &t.signer.by) {
		return false
	}
	return first.ReadASN1((*cryptobyte.String)(&t.signer.sum), tags.OCTET_STRING)
}
