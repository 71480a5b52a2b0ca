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
	"slices"
)

// PublicKey is a key that verifies cosign signatures.
type PublicKey struct {
	key crypto.PublicKey
	// sum is the SHA-256 of the key in DER.
	sum [sha256.Size]byte
}

func (k PublicKey) fingerprint() string { return "sha256:" + hex.EncodeToString(k.sum[:]) }

// ParsePublicKey parses an ECDSA, Ed25519 or RSA key in PEM, as cosign generate-key-pair
// writes it.
func ParsePublicKey(data []byte) (PublicKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PUBLIC KEY" {
		return PublicKey{}, errors.New("it is not a public key in PEM")
	}
	return newPublicKey(block.Bytes)
}

// newPublicKey parses a key in DER (SubjectPublicKeyInfo).
func newPublicKey(der []byte) (PublicKey, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return PublicKey{}, fmt.Errorf("the public key can't be read: %w", err)
	}
	switch key.(type) {
	case *ecdsa.PublicKey, ed25519.PublicKey, *rsa.PublicKey:
	default:
		return PublicKey{}, fmt.Errorf("a public key of type %T is not supported: use ECDSA, Ed25519 or RSA", key)
	}
	return PublicKey{key: key, sum: sha256.Sum256(der)}, nil
}

// signer implements Party. Any signature made by the key will do; no transparency log is
// consulted.
func (k PublicKey) signer(s signedMessage) (Signature, error) {
	if !slices.ContainsFunc(s.signatures, func(one []byte) bool { return k.signed(s.message, one) }) {
		return Signature{}, errors.New("the signature was not made with this key")
	}
	return Signature{Method: Cosign, Key: k.fingerprint()}, nil
}

// signed reports whether the key has signed a message, with one of the algorithms that
// Sigstore's clients use for its type:
// https://github.com/sigstore/architecture-docs/blob/main/algorithm-registry.md
func (k PublicKey) signed(message, signature []byte) bool {
	short, long, middle := sha256.Sum256(message), sha512.Sum512(message), sha512.Sum384(message)
	switch key := k.key.(type) {
	case *ecdsa.PublicKey:
		// cosign uses SHA-256 for every curve; the algorithm registry matches the hash to the curve.
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
