// Package signature checks who has signed a chart, and signs charts: OpenPGP provenance
// files in Helm's format, and cosign's signatures, by a public key or an identity. It does
// the same for plans, with SSH keys.
//
// It is pure: signatures, keys, the time and randomness are passed in. It says who has
// signed what; whether that is enough is the caller's to decide.
package signature

// Method is how a chart is signed.
type Method string

const (
	// PGP is a provenance file: an OpenPGP clear-signed text.
	PGP Method = "pgp"
	// Cosign is a signature as cosign makes them, by a key of one's own or by an identity.
	Cosign Method = "cosign"
)

// Signature is one that was found to be right.
type Signature struct {
	Method Method
	// Signers are the names that the key has, the first one its main name. Cosign's have
	// none, but for that of the identity which a certificate names.
	Signers []string
	// Key is which key has signed: an OpenPGP fingerprint in upper-case hex, or for cosign
	// "sha256:" and the SHA-256 of the public key in DER (SubjectPublicKeyInfo).
	Key string
	// Issuer is the URL of the OpenID provider that knows the identity, and LogIndex the
	// number of the signature's entry in Rekor's log; empty where a key has signed.
	Issuer   string
	LogIndex int64
}

// Signer is the main name of the key, "" where it has none.
func (s Signature) Signer() string {
	if len(s.Signers) == 0 {
		return ""
	}
	return s.Signers[0]
}

// String is "Some Name <some@example.com>, key 9C5A…", or for an identity
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
