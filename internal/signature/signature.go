// Package signature checks who has signed a chart, and signs charts: OpenPGP provenance
// files in Helm's format, and cosign's signatures with a public key.
//
// It is pure: signatures, keys, the time and randomness are passed in. It says who has
// signed what; whether that is enough is the caller's to decide.
package signature

// Method is how a chart is signed.
type Method string

const (
	// PGP is a provenance file: an OpenPGP clear-signed text.
	PGP Method = "pgp"
	// Cosign is a signature as cosign makes them, by a key of one's own.
	Cosign Method = "cosign"
)

// Signature is one that was found to be right.
type Signature struct {
	Method Method
	// Signers are the names that the key has, the first one its main name; a key of
	// cosign's has none.
	Signers []string
	// Key is which key has signed: an OpenPGP fingerprint in upper-case hex, or for cosign
	// "sha256:" and the SHA-256 of the public key in DER (SubjectPublicKeyInfo).
	Key string
}

// Signer is the main name of the key, "" where it has none.
func (s Signature) Signer() string {
	if len(s.Signers) == 0 {
		return ""
	}
	return s.Signers[0]
}

// String is "Some Name <some@example.com>, key 9C5A…".
func (s Signature) String() string {
	if len(s.Signers) == 0 {
		return "key " + s.Key
	}
	return s.Signers[0] + ", key " + s.Key
}
