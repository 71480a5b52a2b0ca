package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// maxEntries is how many entries of a signature are looked at; Sigstore's clients make one.
const maxEntries = 10

// logEntry is Rekor's word that it has taken in a signature:
// https://github.com/sigstore/protobuf-specs/blob/main/protos/sigstore_rekor.proto
type logEntry struct {
	LogIndex int64 `json:"logIndex,string"`
	LogID    struct {
		KeyID []byte `json:"keyId"`
	} `json:"logId"`
	// IntegratedTime is in seconds since 1970. The promise signs it, the proof does not.
	IntegratedTime int64 `json:"integratedTime,string"`
	Promise        struct {
		Signature []byte `json:"signedEntryTimestamp"`
	} `json:"inclusionPromise"`
	Proof *inclusionProof `json:"inclusionProof"`
	Body  []byte          `json:"canonicalizedBody"`
}

type inclusionProof struct {
	// LogIndex is that in the log's present tree; an entry's counts those before, too.
	LogIndex   int64    `json:"logIndex,string"`
	TreeSize   int64    `json:"treeSize,string"`
	RootHash   []byte   `json:"rootHash"`
	Hashes     [][]byte `json:"hashes"`
	Checkpoint struct {
		Envelope string `json:"envelope"`
	} `json:"checkpoint"`
}

// logged finds the entry of a signature. Errors: none is signed by a log that the root
// trusts, proven, and about this signature.
func (r *TrustedRoot) logged(s signedMessage) (logEntry, error) {
	err := errors.New("there is none")
	for _, e := range s.entries[:min(len(s.entries), maxEntries)] {
		if err = e.check(r.signatures, s); err == nil {
			return e, nil
		}
	}
	return logEntry{}, err
}

func (e logEntry) check(logs []transparencyLog, s signedMessage) error {
	if len(e.Promise.Signature) == 0 {
		return errors.New("the log has not signed when it was made (RFC 3161 timestamps, which Rekor 2 needs, are not read)")
	}
	log, err := logAt(logs, e.LogID.KeyID, time.Unix(e.IntegratedTime, 0))
	if err != nil {
		return err
	}
	if err := e.promised(log); err != nil {
		return err
	}
	if e.Proof != nil || !s.promiseEnough {
		if err := e.proven(log); err != nil {
			return err
		}
	}
	return e.about(s)
}

// promised checks the signed entry timestamp: the log's signature of this JSON, whose keys
// are in the order of RFC 8785.
func (e logEntry) promised(log transparencyLog) error {
	message, err := json.Marshal(struct {
		Body           []byte `json:"body"`
		IntegratedTime int64  `json:"integratedTime"`
		LogID          string `json:"logID"`
		LogIndex       int64  `json:"logIndex"`
	}{e.Body, e.IntegratedTime, hex.EncodeToString(e.LogID.KeyID), e.LogIndex})
	if err != nil {
		return err
	}
	if !log.key.signed(message, e.Promise.Signature) {
		return errors.New("the log has not signed it")
	}
	return nil
}

// proven checks that the entry is in a tree (RFC 6962, 2.1.1) whose root the log has
// signed.
func (e logEntry) proven(log transparencyLog) error {
	p := e.Proof
	if p == nil {
		return errors.New("there is no proof that the log holds it")
	}
	checkpoint, err := note.Open([]byte(p.Checkpoint.Envelope), log)
	if err != nil {
		return fmt.Errorf("the log has not signed the checkpoint: %w", err)
	}
	size, root, err := treeOf(checkpoint.Text)
	if err != nil {
		return err
	}
	if size != p.TreeSize || !bytes.Equal(root[:], p.RootHash) {
		return errors.New("the proof is about another tree than the checkpoint")
	}
	hashes := make(tlog.RecordProof, len(p.Hashes))
	for i, h := range p.Hashes {
		if copy(hashes[i][:], h) != tlog.HashSize || len(h) != tlog.HashSize {
			return errors.New("a hash of the proof has not the right length")
		}
	}
	if err := tlog.CheckRecord(hashes, size, root, p.LogIndex, tlog.RecordHash(e.Body)); err != nil {
		return errors.New("the proof does not show that the log holds it")
	}
	return nil
}

// treeOf is the size and the root of a tree, by the text of a checkpoint: origin, size and
// root, a line each, and perhaps more:
// https://github.com/C2SP/C2SP/blob/main/tlog-checkpoint.md
func treeOf(text string) (size int64, root tlog.Hash, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 {
		return 0, root, errors.New("the checkpoint is too short")
	}
	size, err = strconv.ParseInt(lines[1], 10, 64)
	sum, errRoot := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || errRoot != nil || len(sum) != tlog.HashSize {
		return 0, root, errors.New("the checkpoint can't be read")
	}
	return size, tlog.Hash(sum), nil
}

// Verifier lets note.Open find the log among those that have signed a checkpoint, by the
// hint that Rekor gives: the beginning of the log's id.
func (l transparencyLog) Verifier(name string, hint uint32) (note.Verifier, error) {
	if hint != binary.BigEndian.Uint32(l.id[:]) {
		return nil, &note.UnknownVerifierError{Name: name, KeyHash: hint}
	}
	return checkpointKey{l, name}, nil
}

type checkpointKey struct {
	transparencyLog
	name string
}

func (k checkpointKey) Name() string                       { return k.name }
func (k checkpointKey) KeyHash() uint32                    { return binary.BigEndian.Uint32(k.id[:]) }
func (k checkpointKey) Verify(message, signed []byte) bool { return k.key.signed(message, signed) }

type hash struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"value"`
}

func (h hash) of(data []byte) bool {
	sum := sha256.Sum256(data)
	return h.Algorithm == "sha256" && h.Value == hex.EncodeToString(sum[:])
}

// about says whether the entry is that of a signature, of what was signed, and of the
// certificate; else anybody's entry would do for its time.
func (e logEntry) about(s signedMessage) error {
	var body struct {
		Kind    string `json:"kind"`
		Version string `json:"apiVersion"`
		Spec    struct {
			Data struct {
				Hash hash `json:"hash"`
			} `json:"data"`
			Signature struct {
				Content   []byte `json:"content"`
				PublicKey struct {
					Content []byte `json:"content"`
				} `json:"publicKey"`
			} `json:"signature"`
			PayloadHash hash `json:"payloadHash"`
			Signatures  []struct {
				Signature []byte `json:"signature"`
				Verifier  []byte `json:"verifier"`
			} `json:"signatures"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return fmt.Errorf("it can't be read: %w", err)
	}
	var digest bool
	var signature, certificate []byte
	switch spec := body.Spec; body.Kind + " " + body.Version {
	case "hashedrekord 0.0.1":
		digest, signature, certificate = spec.Data.Hash.of(s.message), spec.Signature.Content, spec.Signature.PublicKey.Content
	case "dsse 0.0.1":
		if len(spec.Signatures) != 1 {
			return errors.New("it has not one signature")
		}
		digest = s.payload != nil && spec.PayloadHash.of(s.payload)
		signature, certificate = spec.Signatures[0].Signature, spec.Signatures[0].Verifier
	default:
		return fmt.Errorf("it is of kind %q, not hashedrekord 0.0.1 or dsse 0.0.1", body.Kind+" "+body.Version)
	}
	block, _ := pem.Decode(certificate)
	switch {
	case !digest:
		return errors.New("it is about another digest")
	case !bytes.Equal(signature, s.signatures[0]):
		return errors.New("it is about another signature")
	case block == nil || !bytes.Equal(block.Bytes, s.certificate):
		return errors.New("it is about another certificate")
	}
	return nil
}
