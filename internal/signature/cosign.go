package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// BundleType is the media type of Sigstore bundles, without the version:
// https://docs.sigstore.dev/about/bundle/
const BundleType = "application/vnd.dev.sigstore.bundle"

// bundleVersions lists what follows BundleType in the supported versions.
var bundleVersions = []string{".v0.3+json", "+json;version=0.3", "+json;version=0.2", "+json;version=0.1"}

const (
	inTotoType = "application/vnd.in-toto+json"
	// signPredicate is the predicate type of cosign sign. Others, such as an SBOM's, say
	// something about a chart, but not that it may be used.
	signPredicate = "https://sigstore.dev/cosign/sign/v1"
)

// Subject is what is to be signed: a registry's manifest, or an archive.
type Subject struct {
	// Digest is the SHA-256 of Data, "sha256:" and hex.
	Digest string
	Data   []byte
}

// Party is whose cosign signatures count: a PublicKey, or an Identity.
type Party interface {
	// signer returns the party's signature. Errors: the party has not signed.
	signer(signedMessage) (Signature, error)
}

// signedMessage is a message with its signatures, and what came with it to show whose they are.
type signedMessage struct {
	message    []byte
	signatures [][]byte
	// payload is the payload of the DSSE envelope that the message is made from; nil if there
	// is none.
	payload []byte
	// certificate is the signer's, in DER; nil if a key has signed.
	certificate []byte
	entries     []logEntry
	// timestamps holds the responses of timestamp authorities, in DER.
	timestamps [][]byte
	// promiseEnough accepts the log's promise without an inclusion proof: cosign 2 stored
	// none.
	promiseEnough bool
}

// bundle is a Sigstore bundle:
// https://github.com/sigstore/protobuf-specs/blob/main/protos/sigstore_bundle.proto
type bundle struct {
	MediaType string `json:"mediaType"`
	Material  struct {
		Certificate rawBytes `json:"certificate"`
		// Chain is what versions before 0.3 have; the signer's certificate comes first.
		Chain struct {
			Certificates []rawBytes `json:"certificates"`
		} `json:"x509CertificateChain"`
		Entries    []logEntry `json:"tlogEntries"`
		Timestamps struct {
			RFC3161 []struct {
				Signed []byte `json:"signedTimestamp"`
			} `json:"rfc3161Timestamps"`
		} `json:"timestampVerificationData"`
	} `json:"verificationMaterial"`
	Envelope *envelope `json:"dsseEnvelope"`
	Message  *message  `json:"messageSignature"`
}

// message is a signature over plain bytes.
type message struct {
	// Digest is optional, and not signed.
	Digest *struct {
		Algorithm string `json:"algorithm"`
		Digest    []byte `json:"digest"`
	} `json:"messageDigest"`
	Signature []byte `json:"signature"`
}

// names reports whether a message's digest, if it has one, is that of data.
func (m message) names(data []byte) bool {
	sum := sha256.Sum256(data)
	return m.Digest == nil || m.Digest.Algorithm == "SHA2_256" && bytes.Equal(m.Digest.Digest, sum[:])
}

// envelope is a DSSE envelope: https://github.com/secure-systems-lab/dsse
type envelope struct {
	Payload     []byte `json:"payload"`
	PayloadType string `json:"payloadType"`
	Signatures  []struct {
		Sig []byte `json:"sig"`
	} `json:"signatures"`
}

// VerifyBundle checks a Sigstore bundle made by cosign sign or sign-blob. Errors: it is not a
// bundle; the party has not signed it; it is for a different subject.
func VerifyBundle(data []byte, s Subject, by Party) (Signature, error) {
	var b bundle
	if err := json.Unmarshal(data, &b); err != nil {
		return Signature{}, fmt.Errorf("it is not a Sigstore bundle: %w", err)
	}
	if version, ok := strings.CutPrefix(b.MediaType, BundleType); !ok || !slices.Contains(bundleVersions, version) {
		return Signature{}, fmt.Errorf("it is not a Sigstore bundle that can be read: its media type is %q", b.MediaType)
	}
	what := signedMessage{certificate: b.Material.Certificate.Bytes, entries: b.Material.Entries}
	if chain := b.Material.Chain.Certificates; what.certificate == nil && len(chain) > 0 {
		what.certificate = chain[0].Bytes
	}
	for _, one := range b.Material.Timestamps.RFC3161 {
		what.timestamps = append(what.timestamps, one.Signed)
	}
	switch {
	case b.Envelope != nil:
		what.message, what.payload, what.signatures = b.Envelope.message(), b.Envelope.Payload, b.Envelope.signatures()
	case b.Message != nil && !b.Message.names(s.Data):
		return Signature{}, errors.New("it is for another digest")
	case b.Message != nil:
		what.message, what.signatures = s.Data, [][]byte{b.Message.Signature}
	default:
		return Signature{}, errors.New("the bundle holds no signature")
	}
	found, err := by.signer(what)
	if err == nil && b.Envelope != nil {
		err = b.Envelope.about(s)
	}
	if err != nil {
		return Signature{}, err
	}
	return found, nil
}

var errOtherDigest = &OtherContentError{"something else: another digest"}

// statement is an in-toto statement: https://in-toto.io/Statement/v1
type statement struct {
	PredicateType string `json:"predicateType"`
	Subject       []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
}

// message returns what is signed.
func (e envelope) message() []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
}

func (e envelope) signatures() [][]byte {
	var out [][]byte
	for _, one := range e.Signatures {
		out = append(out, one.Sig)
	}
	return out
}

// about returns an error unless the envelope, whose signature was checked, signs the subject.
func (e envelope) about(s Subject) error {
	var what statement
	if err := json.Unmarshal(e.Payload, &what); err != nil || e.PayloadType != inTotoType {
		return fmt.Errorf("it is signed, but not a statement that can be read (%s)", e.PayloadType)
	}
	if what.PredicateType != signPredicate {
		return fmt.Errorf("it is signed, but says %s, not %s", what.PredicateType, signPredicate)
	}
	for _, subject := range what.Subject {
		if s.Digest == "sha256:"+subject.Digest["sha256"] {
			return nil
		}
	}
	return errOtherDigest
}
