package sourcetest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// Sigstore is a private Sigstore instance: a certificate authority, a certificate log, two
// signature logs and a timestamp authority. Their output is made here, in the formats of
// Fulcio, Rekor 1 and 2, and RFC 3161.
type Sigstore struct {
	t         testing.TB
	authority *x509.Certificate
	ca        *ecdsa.PrivateKey
	ctlog     *ecdsa.PrivateKey
	rekor     *ecdsa.PrivateKey
	rekor2    ed25519.PrivateKey
	stamper   stamper
}

// Keyless is who signs, and when.
type Keyless struct {
	// Identity is an email address or a URI.
	Identity, Issuer string
	// Certified is the start of the certificate's validity, which lasts ten minutes, and
	// Logged when the signature is logged.
	Certified, Logged time.Time
	// Unlisted omits the certificate log's promise, and Mislisted makes it for another
	// certificate.
	Unlisted, Mislisted bool
	// Forged signs with another key than that of the certificate, and Usage replaces code
	// signing as the certificate's usage.
	Forged bool
	Usage  x509.ExtKeyUsage
	// Rekor2 logs the signature in the second log, with a timestamp for Logged, in which
	// Stamp introduces errors. Origin replaces the log's name in the checkpoint.
	Rekor2 bool
	Stamp  Stamp
	Origin string
}

// Signed is a message that was signed keylessly.
type Signed struct {
	Signature, Certificate []byte
	// Entry is the log entry, as in a bundle.
	Entry map[string]any
	// Timestamp is needed in addition with Rekor 2.
	Timestamp []byte
}

const bundleMediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// founded is when the instance begins to be valid; anything signed before does not count.
var founded = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// NewSigstore returns a new instance with keys of its own.
func NewSigstore(t testing.TB) *Sigstore {
	t.Helper()
	s := &Sigstore{t: t, ca: newECDSA(t), ctlog: newECDSA(t), rekor: newECDSA(t)}
	s.rekor2 = s.newEdwards()
	s.stamper = s.newStamper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Fulcio of the test"}, NotBefore: founded, NotAfter: founded.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	s.authority = s.certificate(template, template, &s.ca.PublicKey)
	return s
}

func newECDSA(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TrustedRoot returns the trusted_root.json of the instance.
func (s *Sigstore) TrustedRoot() []byte {
	valid := map[string]any{"start": founded}
	log := func(key *ecdsa.PrivateKey) map[string]any {
		return map[string]any{"publicKey": map[string]any{"rawBytes": s.der(&key.PublicKey), "validFor": valid}, "logId": map[string]any{"keyId": s.id(key)}}
	}
	second := map[string]any{
		"baseUrl": "https://" + rekor2Name, "publicKey": map[string]any{"rawBytes": s.der(s.rekor2.Public()), "validFor": valid}, "logId": map[string]any{"keyId": s.rekor2ID()},
	}
	return s.json(map[string]any{
		"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1", "tlogs": []any{log(s.rekor), second}, "ctlogs": []any{log(s.ctlog)},
		"certificateAuthorities": []any{map[string]any{
			"certChain": map[string]any{"certificates": []any{map[string]any{"rawBytes": s.authority.Raw}}}, "validFor": valid,
		}},
		"timestampAuthorities": []any{map[string]any{
			"certChain": map[string]any{"certificates": []any{map[string]any{"rawBytes": s.stamper.certificate.Raw}, map[string]any{"rawBytes": s.stamper.root.Raw}}}, "validFor": valid,
		}},
	})
}

// SignBlob returns a bundle as made by cosign sign-blob.
func (s *Sigstore) SignBlob(who Keyless, data []byte) []byte {
	signed := s.Sign(who, data)
	return s.bundle(signed, "messageSignature", map[string]any{"signature": signed.Signature})
}

// SignManifest returns a bundle as made by cosign sign, for a manifest's digest in hex.
func (s *Sigstore) SignManifest(who Keyless, digest string) []byte {
	const kind = "application/vnd.in-toto+json"
	payload := fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{}}`, digest)
	key := newECDSA(s.t)
	message := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
	signed := Signed{Signature: s.by(key, message), Certificate: s.certify(who, key)}
	if who.Rekor2 {
		s.log2(who, &signed, message)
	} else {
		signed.Entry = s.log(who.Logged, map[string]any{"kind": "dsse", "apiVersion": "0.0.1", "spec": map[string]any{
			"payloadHash": sha256Of([]byte(payload)), "signatures": []any{map[string]any{"signature": signed.Signature, "verifier": inPEM(signed.Certificate)}},
		}})
	}
	return s.bundle(signed, "dsseEnvelope", map[string]any{"payload": []byte(payload), "payloadType": kind, "signatures": []any{map[string]any{"sig": signed.Signature}}})
}

// Sign signs a message and logs the signature.
func (s *Sigstore) Sign(who Keyless, message []byte) Signed {
	key := newECDSA(s.t)
	out := Signed{Signature: s.by(key, message), Certificate: s.certify(who, key)}
	if who.Rekor2 {
		s.log2(who, &out, message)
		return out
	}
	out.Entry = s.log(who.Logged, map[string]any{"kind": "hashedrekord", "apiVersion": "0.0.1", "spec": map[string]any{
		"data": map[string]any{"hash": sha256Of(message)}, "signature": map[string]any{"content": out.Signature, "publicKey": map[string]any{"content": inPEM(out.Certificate)}},
	}})
	return out
}

// Simple returns the annotations with which cosign 2 stores a signature.
func (s *Sigstore) Simple(signed Signed) (signature, certificate, entry string) {
	promise, _ := signed.Entry["inclusionPromise"].(map[string]any)
	at, index := json.Number(fmt.Sprint(signed.Entry["integratedTime"])), json.Number(fmt.Sprint(signed.Entry["logIndex"]))
	return base64.StdEncoding.EncodeToString(signed.Signature), string(inPEM(signed.Certificate)), string(s.json(map[string]any{
		"SignedEntryTimestamp": promise["signedEntryTimestamp"],
		"Payload":              map[string]any{"body": signed.Entry["canonicalizedBody"], "integratedTime": at, "logIndex": index, "logID": hex.EncodeToString(s.id(s.rekor))},
	}))
}

func (s *Sigstore) bundle(signed Signed, kind string, content map[string]any) []byte {
	material := map[string]any{"certificate": map[string]any{"rawBytes": signed.Certificate}, "tlogEntries": []any{signed.Entry}}
	if signed.Timestamp != nil {
		material["timestampVerificationData"] = map[string]any{"rfc3161Timestamps": []any{map[string]any{"signedTimestamp": signed.Timestamp}}}
	}
	return s.json(map[string]any{"mediaType": bundleMediaType, kind: content, "verificationMaterial": material})
}

// certify makes a certificate as Fulcio does: first without, then with the certificate log's
// promise (RFC 6962, 3.2).
func (s *Sigstore) certify(who Keyless, key *ecdsa.PrivateKey) []byte {
	s.t.Helper()
	issuer, err := asn1.MarshalWithParams(who.Issuer, "utf8")
	s.must(err)
	if who.Forged {
		key = newECDSA(s.t)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: who.Certified, NotAfter: who.Certified.Add(10 * time.Minute), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage:     []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}, Value: issuer}},
	}
	if who.Usage != x509.ExtKeyUsageAny {
		template.ExtKeyUsage = []x509.ExtKeyUsage{who.Usage}
	}
	if strings.Contains(who.Identity, "://") {
		u, err := url.Parse(who.Identity)
		s.must(err)
		template.URIs = []*url.URL{u}
	} else {
		template.EmailAddresses = []string{who.Identity}
	}
	before := s.certificate(template, s.authority, &key.PublicKey)
	if who.Unlisted {
		return before.Raw
	}
	if who.Mislisted {
		other := *template
		other.SerialNumber = big.NewInt(3)
		before = s.certificate(&other, s.authority, &key.PublicKey)
	}
	by, tbs := sha256.Sum256(s.authority.RawSubjectPublicKeyInfo), before.RawTBSCertificate
	stamp := binary.BigEndian.AppendUint64(nil, uint64(who.Certified.UnixMilli()))
	signed := append(append([]byte{0, 0}, stamp...), 0, 1)
	signed = append(signed, by[:]...)
	signed = append(append(signed, byte(len(tbs)>>16), byte(len(tbs)>>8), byte(len(tbs))), tbs...)
	sig := s.by(s.ctlog, append(signed, 0, 0))
	sct := append(append([]byte{0}, s.id(s.ctlog)...), stamp...)
	sct = append(append(sct, 0, 0, 4, 3, 0, byte(len(sig))), sig...)
	list := append(binary.BigEndian.AppendUint16(nil, uint16(len(sct)+2)), binary.BigEndian.AppendUint16(nil, uint16(len(sct)))...)
	value, err := asn1.Marshal(append(list, sct...))
	s.must(err)
	template.ExtraExtensions = append(template.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}, Value: value})
	return s.certificate(template, s.authority, &key.PublicKey).Raw
}

func (s *Sigstore) certificate(template, parent *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	s.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, s.ca)
	s.must(err)
	cert, err := x509.ParseCertificate(der)
	s.must(err)
	return cert
}

// log logs an entry in Rekor 1, with promise and proof.
func (s *Sigstore) log(at time.Time, content map[string]any) map[string]any {
	body := s.json(content)
	proof, text := s.proof(body, "rekor.test - 1")
	by := base64.StdEncoding.EncodeToString(append(s.id(s.rekor)[:4:4], s.by(s.rekor, []byte(text))...))
	proof["checkpoint"] = map[string]any{"envelope": text + "\n— rekor.test " + by + "\n"}
	promise := s.json(map[string]any{"body": body, "integratedTime": at.Unix(), "logID": hex.EncodeToString(s.id(s.rekor)), "logIndex": 41})
	return map[string]any{
		"logIndex": "41", "logId": map[string]any{"keyId": s.id(s.rekor)}, "integratedTime": fmt.Sprint(at.Unix()), "canonicalizedBody": body,
		"inclusionPromise": map[string]any{"signedEntryTimestamp": s.by(s.rekor, promise)}, "inclusionProof": proof,
	}
}

// proof returns an inclusion proof for an entry as the second of three, and the text of the
// checkpoint.
func (s *Sigstore) proof(body []byte, origin string) (proof map[string]any, text string) {
	const index, size = 1, 3
	first, last := tlog.RecordHash([]byte("first")), tlog.RecordHash([]byte("last"))
	root := tlog.NodeHash(tlog.NodeHash(first, tlog.RecordHash(body)), last)
	return map[string]any{
		"logIndex": fmt.Sprint(index), "treeSize": fmt.Sprint(size), "rootHash": root[:], "hashes": [][]byte{first[:], last[:]},
	}, fmt.Sprintf("%s\n%d\n%s\n", origin, size, base64.StdEncoding.EncodeToString(root[:]))
}

func (s *Sigstore) by(key *ecdsa.PrivateKey, message []byte) []byte {
	s.t.Helper()
	sum := sha256.Sum256(message)
	out, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	s.must(err)
	return out
}

func (s *Sigstore) der(key crypto.PublicKey) []byte {
	s.t.Helper()
	out, err := x509.MarshalPKIXPublicKey(key)
	s.must(err)
	return out
}

// id returns the ID of a log with a key.
func (s *Sigstore) id(key *ecdsa.PrivateKey) []byte {
	sum := sha256.Sum256(s.der(&key.PublicKey))
	return sum[:]
}

func (s *Sigstore) json(v any) []byte {
	s.t.Helper()
	out, err := json.Marshal(v)
	s.must(err)
	return out
}

func (s *Sigstore) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func sha256Of(data []byte) map[string]any {
	return map[string]any{"algorithm": "sha256", "value": Digest(data)}
}

func inPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
