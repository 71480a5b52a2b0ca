package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// maxEntries is how many log entries of a signature are checked; Sigstore's clients make one.
const maxEntries = 10

// logEntry is what Rekor returns for a signature it has logged:
// https://github.com/sigstore/protobuf-specs/blob/main/protos/sigstore_rekor.proto
type logEntry struct {
	LogIndex int64 `json:"logIndex,string"`
	LogID    struct {
		KeyID []byte `json:"keyId"`
	} `json:"logId"`
	// IntegratedTime is in seconds since 1970. The promise covers it, the proof does not.
	IntegratedTime int64 `json:"integratedTime,string"`
	Promise        struct {
		Signature []byte `json:"signedEntryTimestamp"`
	} `json:"inclusionPromise"`
	Proof *inclusionProof `json:"inclusionProof"`
	Body  []byte          `json:"canonicalizedBody"`
}

type inclusionProof struct {
	// LogIndex is the index in the log's current tree; logEntry.LogIndex also counts the trees
	// before it.
	LogIndex   int64    `json:"logIndex,string"`
	TreeSize   int64    `json:"treeSize,string"`
	RootHash   []byte   `json:"rootHash"`
	Hashes     [][]byte `json:"hashes"`
	Checkpoint struct {
		Envelope string `json:"envelope"`
	} `json:"checkpoint"`
}

// logged returns the log entry of a signature, and a time at which the signature existed.
// Errors: no entry is signed by a trusted log, proven, and for this signature.
func (r *TrustedRoot) logged(s signedMessage) (logEntry, time.Time, error) {
	err := errors.New("there is none")
	for _, e := range s.entries[:min(len(s.entries), maxEntries)] {
		var at time.Time
		if at, err = r.entered(e, s); err == nil {
			return e, at, nil
		}
	}
	return logEntry{}, time.Time{}, err
}

// entered checks a log entry and returns the time at which the signature was logged. A log
// without promises, such as Rekor 2, only proves inclusion, and the time comes from a timestamp.
func (r *TrustedRoot) entered(e logEntry, s signedMessage) (time.Time, error) {
	at, promised := time.Unix(e.IntegratedTime, 0), len(e.Promise.Signature) > 0
	if !promised {
		var err error
		if at, err = r.stamped(s); err != nil {
			return at, err
		}
	}
	log, err := logAt(r.signatures, e.LogID.KeyID, at)
	if err == nil && promised {
		err = e.promised(log)
	}
	if err == nil && (e.Proof != nil || !promised || !s.promiseEnough) {
		err = e.proven(log)
	}
	if err == nil && !promised && e.LogIndex != e.Proof.LogIndex {
		err = errors.New("the proof is for another entry")
	}
	if err == nil {
		err = e.about(s)
	}
	return at, err
}

// promised checks the signed entry timestamp: the log's signature over this JSON, whose keys
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
	if !strings.HasPrefix(checkpoint.Text, checkpoint.Sigs[0].Name) {
		return errors.New("the checkpoint is from another log")
	}
	size, root, err := treeOf(checkpoint.Text)
	if err != nil {
		return err
	}
	if size != p.TreeSize || !bytes.Equal(root[:], p.RootHash) {
		return errors.New("the proof is for a different tree than the checkpoint")
	}
	hashes := make(tlog.RecordProof, len(p.Hashes))
	for i, h := range p.Hashes {
		if copy(hashes[i][:], h) != tlog.HashSize || len(h) != tlog.HashSize {
			return errors.New("a hash in the proof has the wrong length")
		}
	}
	if err := tlog.CheckRecord(hashes, size, root, p.LogIndex, tlog.RecordHash(e.Body)); err != nil {
		return errors.New("the proof does not show that the log holds it")
	}
	return nil
}

// treeOf returns the size and root hash of the tree in a checkpoint, whose lines are origin,
// size, root hash, and optional extensions:
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

// Verifier implements note.Verifiers: it matches the log's signature on a checkpoint by its name
// there and the beginning of the log's ID.
func (l transparencyLog) Verifier(name string, hint uint32) (note.Verifier, error) {
	if hint != binary.BigEndian.Uint32(l.id[:]) || !l.named(name) {
		return nil, &note.UnknownVerifierError{Name: name, KeyHash: hint}
	}
	return checkpointKey{l, name}, nil
}

// named reports whether the log can have a name: in Rekor 2, the IDs of Ed25519 keys depend on it.
// https://github.com/C2SP/C2SP/blob/main/signed-note.md#signatures
func (l transparencyLog) named(name string) bool {
	key, edwards := l.key.key.(ed25519.PublicKey)
	if !edwards || l.id == l.key.sum {
		return true
	}
	return l.id == sha256.Sum256(append([]byte(name+"\n\x01"), key...))
}

// checkpointKey implements note.Verifier for a log under a name.
type checkpointKey struct {
	transparencyLog
	name string
}

func (k checkpointKey) Name() string                       { return k.name }
func (k checkpointKey) KeyHash() uint32                    { return binary.BigEndian.Uint32(k.id[:]) }
func (k checkpointKey) Verify(message, signed []byte) bool { return k.key.signed(message, signed) }
