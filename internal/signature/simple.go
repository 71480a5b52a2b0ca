package signature

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
)

const simpleType = "cosign container image signature"

// Simple is a signature of cosign 2 and earlier, a layer of an image and its annotations:
// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
type Simple struct {
	// Payload names the image that is signed.
	Payload []byte
	// Signature is in base64.
	Signature string
	// Certificate is the signer's, in PEM, and Entry Rekor's promise, in JSON; both are ""
	// if a key has signed.
	Certificate string
	Entry       string
}

// VerifySimple checks a signature of cosign 2 and earlier. Errors: the party has not signed
// it; it is for a different subject.
func VerifySimple(x Simple, s Subject, by Party) (Signature, error) {
	what, err := x.message()
	if err != nil {
		return Signature{}, err
	}
	found, err := by.signer(what)
	if err != nil {
		return Signature{}, err
	}
	var p struct {
		Critical struct {
			Type  string `json:"type"`
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
		} `json:"critical"`
	}
	err = json.Unmarshal(x.Payload, &p)
	switch {
	case err != nil:
		err = fmt.Errorf("it is signed, but can't be read: %w", err)
	case p.Critical.Type != simpleType:
		err = fmt.Errorf("it is signed, but says %q, not %q", p.Critical.Type, simpleType)
	case p.Critical.Image.Digest != s.Digest:
		err = errOtherDigest
	}
	if err != nil {
		return Signature{}, err
	}
	return found, nil
}

func (x Simple) message() (signedMessage, error) {
	raw, err := base64.StdEncoding.DecodeString(x.Signature)
	if err != nil {
		return signedMessage{}, fmt.Errorf("the signature can't be read: %w", err)
	}
	out := signedMessage{message: x.Payload, signatures: [][]byte{raw}, promiseEnough: true}
	if block, _ := pem.Decode([]byte(x.Certificate)); block != nil {
		out.certificate = block.Bytes
	}
	if x.Entry == "" {
		return out, nil
	}
	var promise struct {
		Signature []byte `json:"SignedEntryTimestamp"`
		Payload   struct {
			Body           []byte `json:"body"`
			IntegratedTime int64  `json:"integratedTime"`
			LogIndex       int64  `json:"logIndex"`
			LogID          string `json:"logID"`
		} `json:"Payload"`
	}
	if err := json.Unmarshal([]byte(x.Entry), &promise); err != nil {
		return out, fmt.Errorf("its entry in the log can't be read: %w", err)
	}
	e := logEntry{Body: promise.Payload.Body, IntegratedTime: promise.Payload.IntegratedTime, LogIndex: promise.Payload.LogIndex}
	e.Promise.Signature = promise.Signature
	if e.LogID.KeyID, err = hex.DecodeString(promise.Payload.LogID); err != nil {
		return out, fmt.Errorf("its entry in the log can't be read: %w", err)
	}
	out.entries = []logEntry{e}
	return out, nil
}
