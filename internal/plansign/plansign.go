// Package plansign signs statements about saved plans and sets with SSH keys, and checks whose signature
// it is and what about. A statement and its signature are files beside what they are about.
//
// It does not decide whether a plan may be applied, and prints nothing.
package plansign

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/plan"
)

// signatureNamespace is the namespace of plan signatures, which keeps them apart from other SSH
// signatures; see ssh-keygen -Y verify -n kubectl-release-plan.
const signatureNamespace = "kubectl-release-plan"

// ReadKey reads a private SSH key from a file, and asks for its passphrase if it has one.
func ReadKey(file string, ask func(question string) (string, error)) (ssh.Signer, error) {
	data, err := inputfile.Read(file, inputfile.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("--sign: %w", err)
	}
	key, err := ssh.ParsePrivateKey(data)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		word, err := ask("Passphrase of the key " + file)
		if err != nil {
			return nil, fmt.Errorf("--sign %s: %w", file, err)
		}
		if key, err = ssh.ParsePrivateKeyWithPassphrase(data, []byte(word)); err != nil {
			return nil, fmt.Errorf("--sign %s: unlock the key: %w", file, err)
		}
		return key, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--sign %s: not an SSH private key: %w", file, err)
	}
	return key, nil
}

// Statement returns the statement that is attested about a saved plan.
func Statement(saved *plan.Plan) ([]byte, error) {
	var text bytes.Buffer
	err := report.Statement(&text, &redact.Plan(saved).Document)
	return text.Bytes(), err
}

// These suffixes name the files beside a signed file.
const (
	StatementEnding = ".statement"
	SignatureEnding = ".sig"
)

// Sign returns the signature of a statement.
func Sign(text []byte, key ssh.Signer) ([]byte, error) {
	made, err := signature.SignSSH(key, signatureNamespace, text, rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("sign the statement: %w", err)
	}
	return made, nil
}

// Write writes FILE.statement and its signature FILE.sig.
func Write(file string, text []byte, key ssh.Signer) error {
	made, err := Sign(text, key)
	if err != nil {
		return err
	}
	if err := outputfile.Write(file+StatementEnding, text, 0o644); err != nil {
		return fmt.Errorf("save the statement: %w", err)
	}
	if err := outputfile.Write(file+SignatureEnding, made, 0o644); err != nil {
		return fmt.Errorf("save the signature: %w", err)
	}
	return nil
}

// Read reads FILE.statement or FILE.sig, as Signers.Check needs them.
func Read(name string) ([]byte, error) { return inputfile.Read(name, inputfile.MaxBytes) }

// Signers are the signers of whom one must have signed a statement.
type Signers struct {
	// File has their SSH keys (see ALLOWED SIGNERS in ssh-keygen(1)). It must be Principal, if that is not "".
	File, Principal string
}

// Check checks that FILE.sig is a signature of FILE.statement by one of the signers, and that the
// statement has the given predicate type and is about the digest. Both files are read with read.
func (s Signers) Check(file string, read func(name string) ([]byte, error), digest, predicate string, now time.Time) error {
	keys, err := inputfile.Read(s.File, inputfile.MaxBytes)
	if err != nil {
		return fmt.Errorf("--allowed-signers: %w", err)
	}
	allowed, err := signature.ParseAllowedSigners(keys)
	if err != nil {
		return fmt.Errorf("--allowed-signers %s: %w", s.File, err)
	}
	text, err := read(file + StatementEnding)
	if err != nil {
		return fmt.Errorf("the signature of %s: %w", file, err)
	}
	made, err := read(file + SignatureEnding)
	if err != nil {
		return fmt.Errorf("the signature of %s: %w", file, err)
	}
	key, err := signature.VerifySSH(made, signatureNamespace, text)
	if err != nil {
		return fmt.Errorf("the signature %s.sig: %w", file, err)
	}
	if _, err := allowed.Principal(key, signatureNamespace, s.Principal, now); err != nil {
		return fmt.Errorf("the signature %s.sig: %w", file, err)
	}
	about, err := report.StatedDigest(text, predicate)
	if err != nil {
		return fmt.Errorf("%s.statement: %w", file, err)
	}
	if about != digest {
		return fmt.Errorf("the signature %s.sig is about something else: %s has the digest %s, but %s is signed", file, file, digest, about)
	}
	return nil
}
