package signature

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

const trustedRootType = "application/vnd.dev.sigstore.trustedroot"

// TrustedRoot is the trusted root of a Sigstore instance: Fulcio's certificate authorities,
// which certify identities, the certificate transparency logs, Rekor's logs of signatures, and,
// optionally, timestamp authorities.
type TrustedRoot struct {
	authorities  []authority
	certificates []transparencyLog
	signatures   []transparencyLog
	timestamps   []timestampAuthority
}

type authority struct {
	roots, intermediates *x509.CertPool
	valid                period
}

// transparencyLog is a log whose ID is the SHA-256 of its key unless the trusted root says
// otherwise: in Rekor 2 the ID may depend on the name too.
type transparencyLog struct {
	id    [32]byte
	key   PublicKey
	valid period
}

// period is when something is valid; a zero End means no end.
type period struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

func (p period) has(at time.Time) bool {
	return !p.Start.IsZero() && !at.Before(p.Start) && (p.End.IsZero() || !at.After(p.End))
}

type rawBytes struct {
	Bytes []byte `json:"rawBytes"`
}

type authorityFile struct {
	Chain struct {
		Certificates []rawBytes `json:"certificates"`
	} `json:"certChain"`
	ValidFor period `json:"validFor"`
}

type logFile struct {
	ID struct {
		KeyID []byte `json:"keyId"`
	} `json:"logId"`
	PublicKey struct {
		rawBytes
		ValidFor period `json:"validFor"`
	} `json:"publicKey"`
}

// ParseTrustedRoot parses a file in the format of Sigstore's trusted_root.json:
// https://github.com/sigstore/protobuf-specs/blob/main/protos/sigstore_trustroot.proto.
// Logs with keys of unknown types are skipped. Errors: it is not a trusted root; it has no
// certificate authority, no certificate log, or no signature log.
func ParseTrustedRoot(data []byte) (*TrustedRoot, error) {
	var file struct {
		MediaType    string          `json:"mediaType"`
		Signatures   []logFile       `json:"tlogs"`
		Certificates []logFile       `json:"ctlogs"`
		Authorities  []authorityFile `json:"certificateAuthorities"`
		Timestamps   []authorityFile `json:"timestampAuthorities"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("it is not a Sigstore trusted root: %w", err)
	}
	if !strings.HasPrefix(file.MediaType, trustedRootType) {
		return nil, fmt.Errorf("it is not a Sigstore trusted root: its media type is %q", file.MediaType)
	}
	r := &TrustedRoot{certificates: logsOf(file.Certificates), signatures: logsOf(file.Signatures)}
	for _, a := range file.Authorities {
		one, err := newAuthority(a.Chain.Certificates, a.ValidFor)
		if err != nil {
			return nil, fmt.Errorf("the trusted root has an authority that can't be read: %w", err)
		}
		r.authorities = append(r.authorities, one)
	}
	for _, a := range file.Timestamps {
		one, err := newTimestampAuthority(a.Chain.Certificates, a.ValidFor)
		if err != nil {
			return nil, fmt.Errorf("the trusted root has an authority for timestamps that can't be read: %w", err)
		}
		r.timestamps = append(r.timestamps, one)
	}
	switch {
	case len(r.authorities) == 0:
		return nil, errors.New("the trusted root has no certificate authority")
	case len(r.certificates) == 0:
		return nil, errors.New("the trusted root has no certificate log (ctlogs) whose key can be read")
	case len(r.signatures) == 0:
		return nil, errors.New("the trusted root has no signature log (tlogs) whose key can be read")
	}
	return r, nil
}

// newAuthority returns the authority with a chain, whose last certificate is the root.
func newAuthority(chain []rawBytes, valid period) (authority, error) {
	a := authority{roots: x509.NewCertPool(), intermediates: x509.NewCertPool(), valid: valid}
	if len(chain) == 0 {
		return a, errors.New("it has no certificate")
	}
	for i, raw := range chain {
		cert, err := x509.ParseCertificate(raw.Bytes)
		if err != nil {
			return a, err
		}
		if i == len(chain)-1 {
			a.roots.AddCert(cert)
		} else {
			a.intermediates.AddCert(cert)
		}
	}
	return a, nil
}

func logsOf(files []logFile) []transparencyLog {
	var out []transparencyLog
	for _, f := range files {
		key, err := newPublicKey(f.PublicKey.Bytes)
		if err != nil {
			continue
		}
		log := transparencyLog{id: key.sum, key: key, valid: f.PublicKey.ValidFor}
		if len(f.ID.KeyID) == len(log.id) {
			log.id = [32]byte(f.ID.KeyID)
		}
		out = append(out, log)
	}
	return out
}

// logAt returns the log with an ID, which must be valid at a time.
func logAt(logs []transparencyLog, id []byte, at time.Time) (transparencyLog, error) {
	for _, l := range logs {
		if bytes.Equal(l.id[:], id) {
			if !l.valid.has(at) {
				return l, fmt.Errorf("the trusted root does not trust the log at %s", at.UTC().Format(time.RFC3339))
			}
			return l, nil
		}
	}
	return transparencyLog{}, errors.New("the trusted root does not know the log")
}
