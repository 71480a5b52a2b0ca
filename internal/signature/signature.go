// Package signature checks who has signed a chart, with OpenPGP provenance files in Helm's
// format, or with cosign by a public key or an identity. It signs charts with OpenPGP, and
// checks and signs plans with SSH keys.
//
// It is pure: signatures, keys, the time and randomness are passed in. It says who has
// signed what; the caller decides whether that is enough.
package signature

// Method is how a chart is signed.
type Method string

const (
	// PGP is a provenance file: OpenPGP clear-signed text.
	PGP Method = "pgp"
	// Cosign is a cosign signature, by a key or by an identity.
	Cosign Method = "cosign"
)

// Signature is a signature that was verified.
type Signature struct {
	Method Method
	// Signers holds the names of an OpenPGP key, the primary one first, or the identity in a
	// cosign certificate; cosign keys have no names.
	Signers []string
	// Key identifies the key: an OpenPGP fingerprint in upper-case hex, or for cosign
	// "sha256:" and the SHA-256 of the public key in DER (SubjectPublicKeyInfo).
	Key string
	// Issuer is the URL of the identity's OpenID Connect provider, and LogIndex the index of
	// the signature's entry in Rekor's log; both are empty if a key has signed.
	Issuer   string
	LogIndex int64
}

// Signer returns the first of Signers, or "" if there is none.
func (s Signature) Signer() string {
	if len(s.Signers) == 0 {
		return ""
	}
	return s.Signers[0]
}

// String returns "Some Name <some@example.com>, key 9C5A…", or for an identity
// "some@example.com of https://accounts.example.com".
func (s Signature) String() string {
	if s.Issuer != "" {
		return s.Signer() + " of " + s.Issuer
	}
	if len(s.Signers) == 0 {
		return "key " + s.Key
	}
	return s.Signers[0] + ", key " + s.Key
}

// OtherContentError says that a signature is valid, but was made for other content.
type OtherContentError struct{ signed string }

func (e *OtherContentError) Error() string { return "it is signed, but for " + e.signed }
