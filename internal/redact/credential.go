package redact

import (
	"regexp"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/credential"
	"github.com/kubectl-release/kubectl-release/internal/haystack"
)

// assignment recognises "--password=x", "-password=x" and "DB_PASSWORD=x" and returns where the
// value begins; 0 for any other text.
func assignment(s string) int {
	name, value, ok := strings.Cut(s, "=")
	if !ok || value == "" || strings.ContainsAny(name, " \t\n") || !credential.Named(name) {
		return 0
	}
	return len(name) + 1
}

// reference matches the beginning of $(PASSWORD), ${PASSWORD} and $PASSWORD; a password may begin
// with a dollar sign, too.
var reference = regexp.MustCompile(`^\$([({]|[A-Z_][A-Z0-9_]*$)`)

// isReference reports whether a value refers to a variable.
func isReference(s string) bool { return s[0] == '$' && reference.MatchString(s) }

// urlPasswords finds the passwords in URLs: "scheme://user:HERE@host". References such as
// $(PASSWORD) are not passwords. A password may have a slash, question mark or number sign that should
// have been escaped, but what follows a port is no password.
func urlPasswords(s string) []haystack.Span {
	var found []haystack.Span
	for from := 0; ; {
		i := strings.Index(s[from:], "://")
		if i < 0 {
			return found
		}
		from += i + len("://")
		rest := before(s[from:], " \t\r\n\"'")
		authority := before(rest, "/?#")
		at, colon := strings.LastIndexByte(authority, '@'), strings.IndexByte(authority, ':')
		if at < 0 && colon > 0 && authority[0] != '[' && strings.Trim(authority[colon+1:], "0123456789") != "" {
			at = strings.IndexByte(rest, '@')
		}
		if colon >= 0 && colon+1 < at && !isReference(rest[colon+1:at]) {
			found = append(found, haystack.Span{From: from + colon + 1, To: from + at, Part: true})
		}
	}
}

// before returns s up to the first of the characters.
func before(s, characters string) string {
	if end := strings.IndexAny(s, characters); end >= 0 {
		return s[:end]
	}
	return s
}
