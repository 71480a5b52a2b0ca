package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

// PublicKey is one that checks cosign's signatures.
type PublicKey struct {
	key crypto.PublicKey
	// fingerprint is "sha256:" and the SHA-256 of the key in DER.
	fingerprint string
}

// ParsePublicKey reads a key in PEM, as cosign generate-key-pair writes it: ECDSA, Ed25519
// or RSA.
func ParsePublicKey(data []byte) (PublicKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PUBLIC KEY" {
		return PublicKey{}, errors.New("it is no public key in PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, fmt.Errorf("the public key can't be read: %w", err)
	}
	switch key.(type) {
	case *ecdsa.PublicKey, ed25519.PublicKey, *rsa.PublicKey:
	default:
		return PublicKey{}, fmt.Errorf("a public key of type %T is not supported: it is ECDSA, Ed25519 or RSA", key)
	}
	sum := sha256.Sum256(block.Bytes)
	return PublicKey{key: key, fingerprint: "sha256:" + hex.EncodeToString(sum[:])}, nil
}

// signed says whether the key has signed a message, by the algorithms that Sigstore's
// clients use for each kind of key:
// https://github.com/sigstore/architecture-docs/blob/main/algorithm-registry.md
func (k PublicKey) signed(message, signature []byte) bool {
	short, long, middle := sha256.Sum256(message), sha512.Sum512(message), sha512.Sum384(message)
	switch key := k.key.(type) {
	case *ecdsa.PublicKey:
		// cosign takes SHA-256 for every curve, the registry what fits the curve.
		return ecdsa.VerifyASN1(key, short[:], signature) ||
			key.Curve.Params().BitSize == 384 && ecdsa.VerifyASN1(key, middle[:], signature) ||
			key.Curve.Params().BitSize == 521 && ecdsa.VerifyASN1(key, long[:], signature)
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature) ||
			ed25519.VerifyWithOptions(key, long[:], signature, &ed25519.Options{Hash: crypto.SHA512}) == nil
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, short[:], signature) == nil
	}
	return false
}
