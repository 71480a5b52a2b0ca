package signature

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// BundleType is the media type of Sigstore's bundles, without their version:
// https://docs.sigstore.dev/about/bundle/
const BundleType = "application/vnd.dev.sigstore.bundle"

const (
	inTotoType = "application/vnd.in-toto+json"
	// signPredicate is the statement of cosign sign. Others, such as an SBOM's, say
	// something about a chart, and not that it is meant to be used.
	signPredicate = "https://sigstore.dev/cosign/sign/v1"
	simpleType    = "cosign container image signature"
)

// Subject is what is to be signed: a registry's manifest, or an archive.
type Subject struct {
	// Digest is "sha256:" and hex, of Data.
	Digest string
	Data   []byte
}

// bundle is the part of a Sigstore bundle that a public key is enough for.
type bundle struct {
	MediaType string    `json:"mediaType"`
	Envelope  *envelope `json:"dsseEnvelope"`
	Message   *struct {
		Signature []byte `json:"signature"`
	} `json:"messageSignature"`
}

// envelope is signed as DSSE says: https://github.com/secure-systems-lab/dsse
type envelope struct {
	Payload     []byte `json:"payload"`
	PayloadType string `json:"payloadType"`
	Signatures  []struct {
		Sig []byte `json:"sig"`
	} `json:"signatures"`
}

// VerifyBundle checks a Sigstore bundle of cosign sign or sign-blob by a public key. No
// transparency log is asked: the key says whose signature it is. Errors: it is no bundle;
// the key has not signed it; it is about something else.
func VerifyBundle(data []byte, s Subject, key PublicKey) (Signature, error) {
	var b bundle
	if err := json.Unmarshal(data, &b); err != nil {
		return Signature{}, fmt.Errorf("it is no Sigstore bundle: %w", err)
	}
	if !strings.HasPrefix(b.MediaType, BundleType) {
		return Signature{}, fmt.Errorf("it is no Sigstore bundle: its media type is %q", b.MediaType)
	}
	var err error
	switch {
	case b.Envelope != nil:
		err = b.Envelope.verify(s, key)
	case b.Message == nil:
		err = errors.New("the bundle holds no signature")
	case !key.signed(s.Data, b.Message.Signature):
		err = errNotByKey
	}
	return key.found(err)
}

// VerifySimple checks a signature of cosign 2 and before: a payload that names an image,
// and the signature that stands beside it.
func VerifySimple(payload, signature []byte, s Subject, key PublicKey) (Signature, error) {
	if !key.signed(payload, signature) {
		return Signature{}, errNotByKey
	}
	var p struct {
		Critical struct {
			Type  string `json:"type"`
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
		} `json:"critical"`
	}
	err := json.Unmarshal(payload, &p)
	switch {
	case err != nil:
		err = fmt.Errorf("it is signed, and can't be read: %w", err)
	case p.Critical.Type != simpleType:
		err = fmt.Errorf("it is signed, and says %q, not %q", p.Critical.Type, simpleType)
	case p.Critical.Image.Digest != s.Digest:
		err = errOtherDigest
	}
	return key.found(err)
}

var (
	errNotByKey    = errors.New("the key has not made the signature")
	errOtherDigest = errors.New("it is signed, and about something else: another digest")
)

func (k PublicKey) found(err error) (Signature, error) {
	if err != nil {
		return Signature{}, err
	}
	return Signature{Method: Cosign, Key: k.fingerprint}, nil
}

// statement is an in-toto statement: https://in-toto.io/Statement/v1
type statement struct {
	PredicateType string `json:"predicateType"`
	Subject       []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
}

func (e envelope) verify(s Subject, key PublicKey) error {
	encoded := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
	signed := false
	for _, one := range e.Signatures {
		signed = signed || key.signed(encoded, one.Sig)
	}
	if !signed {
		return errNotByKey
	}
	var what statement
	if err := json.Unmarshal(e.Payload, &what); err != nil || e.PayloadType != inTotoType {
		return fmt.Errorf("it is signed, and no statement that can be read (%s)", e.PayloadType)
	}
	if what.PredicateType != signPredicate {
		return fmt.Errorf("it is signed, and says %s, not %s", what.PredicateType, signPredicate)
	}
	for _, subject := range what.Subject {
		if s.Digest == "sha256:"+subject.Digest["sha256"] {
			return nil
		}
	}
	return errOtherDigest
}
