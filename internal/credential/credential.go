// Package credential recognises credentials by the names of their keys, which decides what may be
// printed of values, objects and plans.
package credential

import "strings"

// suffixes are the endings of names of keys that hold credentials. Case, punctuation and trailing
// digits of names are ignored: DB_PASSWORD, rootPassword and password2 all end in "password".
var suffixes = [...]string{
	"password", "passwd", "passphrase", "pwd",
	"token", "secret", "credential", "credentials",
	"apikey", "privatekey", "accesskey", "secretkey", "signingkey", "encryptionkey", "licensekey", "masterkey", "authkey",
	"accountkey", "secretkeybase", "connectionstring", "dsn", "dockerconfigjson", "jwt",
}

// referenceSuffixes are endings of names that look like credentials but only refer to where one is
// kept.
var referenceSuffixes = [...]string{"existingsecret", "pullsecret"}

// Named reports whether a key of an object, of values or of the environment is named like a
// credential. It is called for every key of every object, so it has to be fast.
func Named(name string) bool {
	for name != "" && letter(name[len(name)-1]) == 0 {
		name = name[:len(name)-1] // punctuation and digits at the end
	}
	if name == "" {
		return false
	}
	return endsInOneOf(name, suffixesEndingIn[letter(name[len(name)-1])-'a']) && !endsInOneOf(name, referenceSuffixes[:]) ||
		endsInWord(name, "pass") || endsInWord(name, "pat")
}

// InPath is Named for the path of a field, given as its parts. The value of an environment variable is
// judged by the variable's name.
func InPath(parts []string) bool {
	n := len(parts)
	if n > 1 && parts[n-1] == "value" {
		n--
	}
	return n > 0 && Named(parts[n-1])
}

// suffixesEndingIn holds the suffixes by their last letter, from a to z.
var suffixesEndingIn = func() (out [26][]string) {
	for _, suffix := range suffixes {
		last := suffix[len(suffix)-1] - 'a'
		out[last] = append(out[last], suffix)
	}
	return out
}()

func endsInOneOf(name string, endings []string) bool {
	for _, suffix := range endings {
		if endsIn(name, suffix) {
			return true
		}
	}
	return false
}

// endsIn is strings.HasSuffix, ignoring case and punctuation.
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

// endsInWord reports whether the last word of the name is word, which is in lower case: DB_PASS and
// smtpPass end in "pass", bypass does not.
func endsInWord(name, word string) bool {
	at := len(name) - len(word)
	if at < 0 || !strings.EqualFold(name[at:], word) {
		return false
	}
	return at == 0 || letter(name[at-1]) == 0 || name[at] < 'a' && name[at-1] >= 'a'
}

// letter returns a letter in lower case, and 0 for any other byte.
func letter(c byte) byte {
	if c |= 0x20; c >= 'a' && c <= 'z' {
		return c
	}
	return 0
}
