package sourcetest

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// rekor2Name is the name of the second log, which its ID depends on:
// https://github.com/C2SP/C2SP/blob/main/signed-note.md#signatures
const rekor2Name = "log2.test"

func (s *Sigstore) newEdwards() ed25519.PrivateKey {
	s.t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	s.must(err)
	return key
}

// rekor2ID returns the ID of the second log.
func (s *Sigstore) rekor2ID() []byte {
	key, _ := s.rekor2.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(append([]byte(rekor2Name+"\n\x01"), key...))
	return sum[:]
}

// log2 adds to signed an entry of Rekor 2, which has no time, and a timestamp:
// https://github.com/sigstore/rekor-tiles/blob/main/CLIENTS.md
func (s *Sigstore) log2(who Keyless, signed *Signed, message []byte) {
	s.t.Helper()
	sum := sha256.Sum256(message)
	body := s.json(map[string]any{"kind": "hashedrekord", "apiVersion": "0.0.2", "spec": map[string]any{"hashedRekordV002": map[string]any{
		"data":      map[string]any{"algorithm": "SHA2_256", "digest": sum[:]},
		"signature": map[string]any{"content": signed.Signature, "verifier": map[string]any{"keyDetails": "PKIX_ECDSA_P256_SHA_256", "x509Certificate": map[string]any{"rawBytes": signed.Certificate}}},
	}}})
	proof, text := s.proof(body, cmp.Or(who.Origin, rekor2Name))
	by := base64.StdEncoding.EncodeToString(append(s.rekor2ID()[:4:4], ed25519.Sign(s.rekor2, []byte(text))...))
	witness := base64.StdEncoding.EncodeToString(make([]byte, 76))
	proof["checkpoint"] = map[string]any{"envelope": fmt.Sprintf("%s\n— witness.test %s\n— %s %s\n", text, witness, rekor2Name, by)}
	signed.Entry = map[string]any{
		"logIndex": "1", "logId": map[string]any{"keyId": s.rekor2ID()}, "kindVersion": map[string]any{"kind": "hashedrekord", "version": "0.0.2"},
		"canonicalizedBody": body, "inclusionProof": proof,
	}
	if !who.Stamp.None {
		at, of := who.Logged, signed.Signature
		if !who.Stamp.At.IsZero() {
			at = who.Stamp.At
		}
		if who.Stamp.Of != nil {
			of = who.Stamp.Of
		}
		signed.Timestamp = s.stamp(of, at, who.Stamp)
	}
}
