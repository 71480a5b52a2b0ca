package signature

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// AllowedSigners says which SSH keys may sign what and for whom: the content of an
// allowed signers file, as in ssh-keygen(1).
type AllowedSigners []allowedSigner

type allowedSigner struct {
	// principals and namespaces are patterns; nil namespaces allow any.
	principals, namespaces []string
	key                    ssh.PublicKey
	after, before          time.Time
}

// ParseAllowedSigners parses an allowed signers file. Errors: it has no signers; a line,
// which the error names, is invalid or has an unsupported option, such as cert-authority.
func ParseAllowedSigners(data []byte) (AllowedSigners, error) {
	var out AllowedSigners
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		s, err := parseAllowedSigner(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, errors.New("it contains no signers")
	}
	return out, nil
}

func parseAllowedSigner(line string) (allowedSigner, error) {
	cut := strings.IndexAny(line, " \t")
	if cut < 0 {
		return allowedSigner{}, errors.New("expected PRINCIPALS [OPTIONS] KEYTYPE KEY")
	}
	s := allowedSigner{principals: strings.Split(strings.Trim(line[:cut], `"`), ",")}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(line[cut:])))
	if err != nil {
		return s, errors.New("expected PRINCIPALS [OPTIONS] KEYTYPE KEY, but there is no key")
	}
	s.key = key
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "namespaces":
			s.namespaces = strings.Split(value, ",")
		case "valid-after":
			s.after, err = signerTime(value)
		case "valid-before":
			s.before, err = signerTime(value)
		default:
			err = fmt.Errorf("the option %s is not supported", name)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// signerTime parses YYYYMMDD[HHMM[SS]][Z]. Without Z, OpenSSH uses local time; here it is
// UTC, so the result is the same on every machine.
func signerTime(text string) (time.Time, error) {
	text = strings.TrimSuffix(text, "Z")
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(layout) == len(text) {
			return time.Parse(layout, text)
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time in the form YYYYMMDDHHMMSS", text)
}

// Principal returns who may sign with the key for the namespace at a time: want, or, if that
// is "", the key's principals. Errors: the key is not allowed, or not for want.
func (a AllowedSigners) Principal(key ssh.PublicKey, namespace, want string, now time.Time) (string, error) {
	known := false
	for _, s := range a {
		if !bytes.Equal(s.key.Marshal(), key.Marshal()) {
			continue
		}
		known = true
		inTime := (s.after.IsZero() || !now.Before(s.after)) && (s.before.IsZero() || now.Before(s.before))
		if !inTime || s.namespaces != nil && !matches(s.namespaces, namespace) {
			continue
		}
		switch {
		case want == "":
			return strings.Join(s.principals, ","), nil
		case matches(s.principals, want):
			return want, nil
		}
	}
	who := "the key " + ssh.FingerprintSHA256(key)
	switch {
	case !known:
		return "", errors.New(who + " is not among the allowed signers")
	case want != "":
		return "", errors.New(who + " is not allowed to sign this as " + want)
	}
	return "", errors.New(who + " is not allowed to sign this now")
}

// matches is OpenSSH's match_pattern_list: it reports whether a pattern matches, and none
// negated by an exclamation mark does.
func matches(patterns []string, text string) bool {
	found := false
	match := func(pattern string) bool {
		// OpenSSH's patterns have only * and ?, and * also matches a slash.
		pattern = strings.NewReplacer(`\`, `\\`, "[", `\[`, "/", "\x00").Replace(pattern)
		ok, err := path.Match(pattern, strings.ReplaceAll(text, "/", "\x00"))
		return ok && err == nil
	}
	for _, p := range patterns {
		if not, negated := strings.CutPrefix(p, "!"); negated && match(not) {
			return false
		}
		found = found || !strings.HasPrefix(p, "!") && match(p)
	}
	return found
}
