package redact

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/credential"
	"github.com/kubectl-release/kubectl-release/internal/haystack"
)

// isCredentialPath is credential.Named for the path of a change. The value of an environment variable
// is judged by the variable's name.
func isCredentialPath(parts []string) bool {
	n := len(parts)
	if n == 0 {
		return false
	}
	if n > 1 && parts[n-1] == "value" {
		return credential.Named(parts[n-2])
	}
	return credential.Named(parts[n-1])
}

// assignment recognises "--password=x", "-password=x" and "DB_PASSWORD=x" and returns where the
// value begins; 0 for any other text.
func assignment(s string) int {
	name, value, ok := strings.Cut(s, "=")
	if !ok || value == "" || strings.ContainsAny(name, " \t\n") || !credential.Named(name) {
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
