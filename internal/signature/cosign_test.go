package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
)

func subject(text string) Subject {
	sum := sha256.Sum256([]byte(text))
	return Subject{Digest: "sha256:" + hex.EncodeToString(sum[:]), Data: []byte(text)}
}

// sign does what cosign does with a key.
func sign(t *testing.T, key crypto.Signer, message []byte) []byte {
	t.Helper()
	sum, hash := sha256.Sum256(message), crypto.SHA256
	digest := sum[:]
	if _, pure := key.(ed25519.PrivateKey); pure {
		digest, hash = message, 0
	}
	out, err := key.Sign(rand.Reader, digest, hash)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func publicPEM(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// attested returns a bundle of cosign sign, as text, with the given parts of the statement.
func attested(t *testing.T, key crypto.Signer, payloadType, predicate, digest string) string {
	t.Helper()
	payload := fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":%q,"predicate":{}}`, strings.TrimPrefix(digest, "sha256:"), predicate)
	sig := sign(t, key, fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload))
	return bundled(t, map[string]any{"dsseEnvelope": map[string]any{
		"payload": []byte(payload), "payloadType": payloadType, "signatures": []any{map[string]any{"sig": sig, "keyid": ""}},
	}})
}

func bundled(t *testing.T, content map[string]any) string {
	t.Helper()
	content["mediaType"] = BundleType + ".v0.3+json"
	content["verificationMaterial"] = map[string]any{"publicKey": map[string]any{"hint": "x"}}
	out, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestVerifyBundle(t *testing.T) {
	key := ecdsaKey(t, elliptic.P256())
	other := ecdsaKey(t, elliptic.P256())
	s := subject("manifest")
	good := attested(t, key, inTotoType, signPredicate, s.Digest)
	for name, tc := range map[string]struct{ bundle, err string }{
		"cosign sign":       {good, ""},
		"cosign sign-blob":  {bundled(t, map[string]any{"messageSignature": map[string]any{"signature": sign(t, key, s.Data)}}), ""},
		"another blob":      {bundled(t, map[string]any{"messageSignature": map[string]any{"signature": sign(t, key, []byte("x"))}}), "the signature was not made with this key"},
		"another key":       {attested(t, other, inTotoType, signPredicate, s.Digest), "the signature was not made with this key"},
		"another digest":    {attested(t, key, inTotoType, signPredicate, subject("x").Digest), "another digest"},
		"no digest":         {attested(t, key, inTotoType, signPredicate, ""), "another digest"},
		"an SBOM":           {attested(t, key, inTotoType, "https://spdx.dev/Document", s.Digest), "https://spdx.dev/Document"},
		"another type":      {attested(t, key, "text/plain", signPredicate, s.Digest), "not a statement"},
		"nothing signed":    {bundled(t, map[string]any{"dsseEnvelope": map[string]any{"payloadType": inTotoType}}), "the signature was not made with this key"},
		"no signature":      {bundled(t, map[string]any{}), "holds no signature"},
		"no bundle":         {`{"mediaType":"application/json"}`, "not a Sigstore bundle"},
		"a page":            {"<html>", "not a Sigstore bundle"},
		"nothing":           {"", "not a Sigstore bundle"},
		"an empty envelope": {`{"mediaType":"` + BundleType + `.v0.3+json","dsseEnvelope":null}`, "holds no signature"},
	} {
		public, err := ParsePublicKey(publicPEM(t, key))
		if err != nil {
			t.Fatal(err)
		}
		got, err := VerifyBundle([]byte(tc.bundle), s, public)
		switch {
		case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		case tc.err == "" && (err != nil || got.Method != Cosign || len(got.Key) != 71):
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func ecdsaKey(t *testing.T, c elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKindsOfKeys(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := subject("manifest")
	for name, key := range map[string]crypto.Signer{
		"P-256": ecdsaKey(t, elliptic.P256()), "P-384": ecdsaKey(t, elliptic.P384()), "P-521": ecdsaKey(t, elliptic.P521()), "Ed25519": edwards, "RSA": long,
	} {
		public, err := ParsePublicKey(publicPEM(t, key))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := VerifyBundle([]byte(attested(t, key, inTotoType, signPredicate, s.Digest)), s, public); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if public.signed([]byte("x"), sign(t, key, []byte("y"))) || public.signed(nil, nil) {
			t.Errorf("%s: any signature will do", name)
		}
	}
	for name, text := range map[string]string{"nothing": "", "another block": "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", "no key": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
		if _, err := ParsePublicKey([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The form of cosign 2 and before.
func TestVerifySimple(t *testing.T) {
	key, s := ecdsaKey(t, elliptic.P256()), subject("manifest")
	public, err := ParsePublicKey(publicPEM(t, key))
	if err != nil {
		t.Fatal(err)
	}
	payload := func(kind, digest string) []byte {
		return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"h/web"},"image":{"docker-manifest-digest":%q},"type":%q},"optional":null}`, digest, kind)
	}
	for name, tc := range map[string]struct {
		payload, signed []byte
		err             string
	}{
		"right":          {payload(simpleType, s.Digest), payload(simpleType, s.Digest), ""},
		"another digest": {payload(simpleType, "sha256:00"), payload(simpleType, "sha256:00"), "another digest"},
		"another kind":   {payload("x", s.Digest), payload("x", s.Digest), "says \"x\""},
		"changed":        {payload(simpleType, s.Digest), payload(simpleType, "sha256:00"), "the signature was not made with this key"},
	} {
		_, err := VerifySimple(Simple{Payload: tc.payload, Signature: base64.StdEncoding.EncodeToString(sign(t, key, tc.signed))}, s, public)
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
	}
}
