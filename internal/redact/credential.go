package redact

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/haystack"
)

// credentialSuffixes are endings of the names of keys that hold credentials. Names are compared
// without case, punctuation and trailing digits: DB_PASSWORD, rootPassword and password2 all end in
// "password".
var credentialSuffixes = [...]string{
	"password", "passwd", "passphrase", "pwd",
	"token", "secret", "credential", "credentials",
	"apikey", "privatekey", "accesskey", "secretkey", "signingkey", "encryptionkey", "licensekey", "masterkey", "authkey",
	"connectionstring", "dsn", "dockerconfigjson",
}

// referenceSuffixes are endings of names that look like credentials but refer to where one is kept.
var referenceSuffixes = [...]string{"existingsecret", "pullsecret"}

// isCredential reports whether a key of an object, of values or of the environment is named like a
// credential. It is called for each key of each object, so it has to be fast.
func isCredential(name string) bool {
	for name != "" && letter(name[len(name)-1]) == 0 {
		name = name[:len(name)-1] // punctuation and digits at the end
	}
	return endsInOneOf(name, credentialSuffixes[:]) && !endsInOneOf(name, referenceSuffixes[:])
}

// isCredentialPath is isCredential for the path of a change. The value of an environment variable
// is judged by the variable's name.
func isCredentialPath(parts []string) bool {
	n := len(parts)
	if n == 0 {
		return false
	}
	if n > 1 && parts[n-1] == "value" {
		return isCredential(parts[n-2])
	}
	return isCredential(parts[n-1])
}

func endsInOneOf(name string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if endsIn(name, suffix) {
			return true
		}
	}
	return false
}

// endsIn is strings.HasSuffix without case and punctuation.
func endsIn(name, suffix string) bool {
	at := len(name)
	for left := len(suffix); left > 0; {
		if at--; at < 0 {
			return false
		}
		switch c := letter(name[at]); {
		case c == suffix[left-1]:
			left--
		case c != 0 || name[at] >= '0' && name[at] <= '9':
			return false
		}
	}
	return true
}

// letter returns a letter in lower case, and 0 for any other byte.
func letter(c byte) byte {
	if c |= 0x20; c >= 'a' && c <= 'z' {
		return c
	}
	return 0
}

// assignment recognises "--password=x", "-password=x" and "DB_PASSWORD=x" and returns where the
// value begins; 0 for any other text.
func assignment(s string) int {
	name, value, ok := strings.Cut(s, "=")
	if !ok || value == "" || strings.ContainsAny(name, " \t\n") || !isCredential(name) {
		return 0
	}
	return len(name) + 1
}

// urlPasswords finds the passwords in URLs: "scheme://user:HERE@host". References such as
// $(PASSWORD) are not passwords.
func urlPasswords(s string) []haystack.Span {
	var found []haystack.Span
	for from := 0; ; {
		i := strings.Index(s[from:], "://")
		if i < 0 {
			return found
		}
		from += i + len("://")
		rest := s[from:]
		if end := strings.IndexAny(rest, "/?# \t\r\n\"'"); end >= 0 {
			rest = rest[:end]
		}
		at := strings.LastIndexByte(rest, '@')
		colon := strings.IndexByte(rest, ':')
		if colon >= 0 && colon+1 < at && rest[colon+1] != '$' {
			found = append(found, haystack.Span{From: from + colon + 1, To: from + at, Part: true})
		}
	}
}
