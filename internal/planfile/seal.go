package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
)

// Seal says for whom a plan is encrypted: for recipients, or for everybody who knows a
// passphrase. With the zero value the file is plain.
type Seal struct {
	// Recipients are public keys of age ("age1…") or SSH ("ssh-ed25519 …", "ssh-rsa …"), or names of
	// files with one such key per line.
	Recipients []string
	// Passphrase is a secret that both sides know.
	Passphrase string
}

func (s Seal) sealed() bool { return len(s.Recipients) > 0 || s.Passphrase != "" }

// Check returns an error when the recipients can't be read or don't go together, before
// anything is done.
func (s Seal) Check() error {
	if len(s.Recipients) == 0 {
		return nil
	}
	_, err := s.close(nil)
	return err
}

// close encrypts data.
func (s Seal) close(data []byte) ([]byte, error) {
	recipients, err := s.recipients()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, recipients...)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (s Seal) recipients() ([]age.Recipient, error) {
	if len(s.Recipients) > 0 && s.Passphrase != "" {
		return nil, errors.New("a plan is encrypted for recipients or with a passphrase, not both")
	}
	if s.Passphrase != "" {
		r, err := age.NewScryptRecipient(s.Passphrase)
		return []age.Recipient{r}, err
	}
	var all []age.Recipient
	for _, given := range s.Recipients {
		some, err := parseRecipient(given)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// parseRecipient reads a key, or a file of keys. Errors quote neither the lines of a file nor what
// looks like a private key, given by mistake.
func parseRecipient(given string) ([]age.Recipient, error) {
	if strings.HasPrefix(strings.ToUpper(given), "AGE-SECRET-KEY-") || strings.Contains(given, "PRIVATE KEY") {
		return nil, errors.New("a private key was given as a recipient: give the public one, age1…")
	}
	if r, isKey, err := parseKey(given); isKey {
		if err != nil {
			return nil, fmt.Errorf("recipient %s: %w", given, err)
		}
		return []age.Recipient{r}, nil
	}
	data, err := inputfile.Read(given, maxKeysBytes)
	if err != nil {
		return nil, fmt.Errorf("a recipient is age1…, ssh-ed25519 …, ssh-rsa … or a file of these: %w", err)
	}
	var all []age.Recipient
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, isKey, err := parseKey(line)
		if !isKey {
			err = errors.New("it is neither age1…, ssh-ed25519 … nor ssh-rsa …")
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", given, number, err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s contains no recipients", given)
	}
	return all, nil
}

// parseKey reads a public key; isKey reports whether the text looks like one.
func parseKey(text string) (r age.Recipient, isKey bool, err error) {
	switch {
	case strings.HasPrefix(text, "age1"):
		all, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil {
			return nil, true, err
		}
		return all[0], true, nil
	case strings.HasPrefix(text, "ssh-"):
		r, err := agessh.ParseRecipient(text)
		return r, true, err
	}
	return nil, false, nil
}
