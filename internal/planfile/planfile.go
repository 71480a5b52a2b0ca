// Package planfile keeps saved plans in files: readable by their owner alone, written
// as a whole or not at all, and encrypted with age on request.
//
// It does not know what a plan says (package plan does), prints nothing and
// asks nobody: passphrases come through functions that it is given.
package planfile

import (
	"crypto/rand"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	// maxPlanBytes is the maximum size of a saved plan: that of an unpacked record,
	// which is most of it.
	maxPlanBytes = 64 << 20
	// maxKeysBytes is the maximum size of a key file.
	maxKeysBytes = 1 << 20
	// maxWorkFactor is the maximum of scrypt's work factor for a passphrase, that of our own files (age 1.3,
	// scrypt.go, NewScryptRecipient): it takes 256 MiB of memory.
	maxWorkFactor = 18
)

// Encode stamps a plan with s and a new nonce of 128 bits, and returns it with its digest,
// and encoded as Write saves it.
func Encode(p *plan.Plan, s plan.Stamp) (stamped *plan.Plan, data []byte, err error) {
	s.Nonce = make([]byte, 16)
	_, _ = rand.Read(s.Nonce) // never fails: it ends the program instead
	return p.Stamped(s)
}

// Sealed returns what Encode returned, as a file holds it: encrypted where the seal says so.
// Errors: those of the seal; it is too large to be read back.
func Sealed(data []byte, s Seal) ([]byte, error) {
	if s.sealed() {
		var err error
		if data, err = s.close(data); err != nil {
			return nil, fmt.Errorf("encrypt the plan: %w", err)
		}
	}
	if len(data) > maxPlanBytes {
		return nil, fmt.Errorf("save the plan: its %d bytes are more than the %d MiB that can be read back", len(data), maxPlanBytes>>20)
	}
	return data, nil
}

// Write saves what Encode returned in a file of mode 0600. Errors: those of the seal
// and the file system; the file is then as it was before.
func Write(file string, data []byte, s Seal) error {
	data, err := Sealed(data, s)
	if err != nil {
		return err
	}
	if err := outputfile.Write(file, data, 0o600); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	return nil
}

// Read reads a saved plan, encrypted or not. Errors name the file: it can't be read, it is
// too large for a plan, no key opens it, it was cut short or changed, or it is not a plan.
func Read(file string, k Keys) (*plan.Plan, error) {
	data, err := Open(file, k)
	if err != nil {
		return nil, err
	}
	return Parse(file, data, k)
}

// Open returns the content of a saved plan's file, decrypted, whatever it is.
// plan.Digest of it is the plan's. Errors name the file: it can't be read, it is too
// large for a plan, or no key opens it.
func Open(file string, k Keys) ([]byte, error) {
	data, err := inputfile.Read(file, maxPlanBytes)
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	return k.plain(file, data)
}

// Parse is Read for a file that has already been read.
func Parse(file string, data []byte, k Keys) (*plan.Plan, error) {
	data, err := k.plain(file, data)
	if err != nil {
		return nil, err
	}
	p, err := plan.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}
