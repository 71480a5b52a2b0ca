package signature

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
)

// hash is a digest as Rekor 1 writes it, in hex.
type hash struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"value"`
}

func (h hash) of(data []byte) bool {
	sum := sha256.Sum256(data)
	return h.Algorithm == "sha256" && h.Value == hex.EncodeToString(sum[:])
}

// hashOutput is a digest as Rekor 2 writes it, with an algorithm that depends on the key:
// https://github.com/sigstore/protobuf-specs/blob/main/protos/sigstore_common.proto
type hashOutput struct {
	Algorithm string `json:"algorithm"`
	Digest    []byte `json:"digest"`
}

func (h hashOutput) of(data []byte) bool {
	short, middle, long := sha256.Sum256(data), sha512.Sum384(data), sha512.Sum512(data)
	sum, known := map[string][]byte{"SHA2_256": short[:], "SHA2_384": middle[:], "SHA2_512": long[:]}[h.Algorithm]
	return known && bytes.Equal(h.Digest, sum)
}

// entryBody is the canonicalized body of a log entry. For Rekor 2:
// https://github.com/sigstore/rekor-tiles/tree/main/api/proto/rekor/v2
type entryBody struct {
	Kind    string `json:"kind"`
	Version string `json:"apiVersion"`
	Spec    struct {
		// For hashedrekord 0.0.1.
		Data struct {
			Hash hash `json:"hash"`
		} `json:"data"`
		Signature struct {
			Content   []byte `json:"content"`
			PublicKey struct {
				Content []byte `json:"content"`
			} `json:"publicKey"`
		} `json:"signature"`
		// For dsse 0.0.1.
		PayloadHash hash `json:"payloadHash"`
		Signatures  []struct {
			Signature []byte `json:"signature"`
			Verifier  []byte `json:"verifier"`
		} `json:"signatures"`
		// For hashedrekord 0.0.2, the only kind in Rekor 2, also used for DSSE envelopes.
		HashedRekord struct {
			Data      hashOutput `json:"data"`
			Signature struct {
				Content  []byte `json:"content"`
				Verifier struct {
					Certificate rawBytes `json:"x509Certificate"`
				} `json:"verifier"`
			} `json:"signature"`
		} `json:"hashedRekordV002"`
	} `json:"spec"`
}

// about returns an error unless the entry is for the signature, what it signs, and the
// certificate. Otherwise anybody's entry could prove the time.
func (e logEntry) about(s signedMessage) error {
	var body entryBody
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return fmt.Errorf("it can't be read: %w", err)
	}
	var digest bool
	var signature, certificate []byte
	switch spec := body.Spec; body.Kind + " " + body.Version {
	case "hashedrekord 0.0.1":
		digest, signature, certificate = spec.Data.Hash.of(s.message), spec.Signature.Content, fromPEM(spec.Signature.PublicKey.Content)
	case "dsse 0.0.1":
		if len(spec.Signatures) != 1 {
			return errors.New("it does not have exactly one signature")
		}
		digest = s.payload != nil && spec.PayloadHash.of(s.payload)
		signature, certificate = spec.Signatures[0].Signature, fromPEM(spec.Signatures[0].Verifier)
	case "hashedrekord 0.0.2":
		one := spec.HashedRekord.Signature
		digest, signature, certificate = spec.HashedRekord.Data.of(s.message), one.Content, one.Verifier.Certificate.Bytes
	default:
		return fmt.Errorf("it is of kind %q, not hashedrekord 0.0.1 or 0.0.2, or dsse 0.0.1", body.Kind+" "+body.Version)
	}
	switch {
	case !digest:
		return errors.New("it is for another digest")
	case !bytes.Equal(signature, s.signatures[0]):
		return errors.New("it is for another signature")
	case !bytes.Equal(certificate, s.certificate):
		return errors.New("it is for another certificate")
	}
	return nil
}

// fromPEM returns the DER of a certificate in PEM, or nil if there is none.
func fromPEM(data []byte) []byte {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil
	}
	return block.Bytes
}
