package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-release/kubectl-release/internal/credential"
	"github.com/kubectl-release/kubectl-release/internal/haystack"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// credentialsIn finds the credentials that any text may have, prose as well as a script.
func credentialsIn(s string) []haystack.Span {
	return slices.Concat(urlPasswords(s), assignments(s), arguments(s), privateKeys(s))
}

// privateKey matches a private key in PEM, in one text with blanks or escaped line breaks, too.
var privateKey = regexp.MustCompile(`PRIVATE KEY-----(?:\s|\\+[nrt])*((?:(?:\s|\\+[nrt])*[A-Za-z0-9+/]{20,}={0,2})+(?:(?:\s|\\+[nrt])+[A-Za-z0-9+/]+={0,2})?)(?:\s|\\+[nrt])*-----END`)

// privateKeys finds what is between the first and the last line of private keys.
func privateKeys(s string) []haystack.Span {
	if !strings.Contains(s, "PRIVATE KEY-----") {
		return nil
	}
	var found []haystack.Span
	for _, at := range privateKey.FindAllStringSubmatchIndex(s, -1) {
		found = append(found, haystack.Span{From: at[2], To: at[3], Part: true})
	}
	return found
}

// assignments finds the values in "--password=x", "-password=x" and "DB_PASSWORD=x", where that is the
// whole text or a word of a command line, and in "?token=x". References to variables are not found, nor
// what a program assigns or compares. Only an option that is the whole text, an argument, has a value with
// blanks without quotes.
func assignments(s string) []haystack.Span {
	var found []haystack.Span
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '=')
		if i < 0 {
			return found
		}
		equals := from + i
		start := from + strings.LastIndexAny(s[from:equals], " \t\r\n\"'`;&|?(,") + 1
		from = equals + 1
		if !credential.Named(s[start:equals]) {
			continue
		}
		value := word(s, from)
		if whole := (haystack.Span{From: from, To: len(s), Part: true}); start == 0 && s[0] == '-' && !isReference(s[from:]) && !isCode(s, whole) {
			value = whole
		}
		if value.From < value.To {
			found = append(found, value)
			from = value.To
		}
	}
}

// word returns the part of s that a shell takes as a value from a place on, without quotes; it is empty
// for what is no constant.
func word(s string, from int) haystack.Span {
	ends := " \t\r\n\"'`;&|()<>"
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		ends = s[from:from+1] + "\r\n"
		from++
	}
	value := haystack.Span{From: from, To: from, Part: true}
	if from < len(s) && !strings.Contains("$=>~<{", s[from:from+1]) {
		value.To += len(before(s[from:], ends))
	}
	if isCode(s, value) {
		value.To = from
	}
	return value
}

// substitution matches what a shell runs within a word. "$(PASSWORD)" is a reference.
var substitution = regexp.MustCompile(`\$\([\w.-]*([^\w.)-]|$)`)

// isCode reports whether a shell may run a part of a value: what is masked must not hide commands from a reviewer, nor
// from the digest of an effect. Where quotes begin and end depends on all that is before them, so a value with blanks
// must not have anything that separates commands either. "${IFS}" is as good as a blank.
func isCode(s string, at haystack.Span) bool {
	value, quote := s[at.From:at.To], s[at.From-1]
	if i := strings.IndexByte(value, '`'); i >= 0 && strings.IndexByte(s, '`') == strings.LastIndexByte(s, '`') { // one alone runs nothing
		value = value[:i] + value[i+1:]
	}
	return quote == '"' && (strings.Contains(value, "$(") || strings.Contains(value, "`")) || substitution.MatchString(value) ||
		(strings.ContainsAny(value, " \t\r\n") || strings.Contains(value, "${")) &&
			(strings.ContainsAny(value, ";&|<>`\"'\r\n") || strings.TrimSpace(value) != value)
}

// followsOption reports whether item i of a command line is the value of the item before it, an option such
// as "--password".
func followsOption(line []any, i int) bool {
	if i == 0 || !isSecretScalar(line[i]) {
		return false
	}
	option, _ := line[i-1].(string)
	value, _ := line[i].(string)
	return strings.HasPrefix(option, "-") && !strings.Contains(option, "=") && credential.Named(option) && !isOption(value)
}

// isOption reports whether a word of a command line is an option: "--verbose", "-v" or "-Dport=80", not "-dash44tok".
func isOption(word string) bool {
	return strings.HasPrefix(word, "--") || strings.HasPrefix(word, "-") && (len(word) < minInside || strings.Contains(word, "=") || !hasDigit(word))
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// arguments finds the values in "--password x" within a text. In prose the next word is no value, so it has to have
// quotes or a digit.
func arguments(s string) []haystack.Span {
	var found []haystack.Span
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '-')
		if i < 0 {
			return found
		}
		start := from + i
		option := before(s[start:], " \t\r\n\"'`;&|=()<>")
		from = start + len(option)
		rest := strings.TrimLeft(s[from:], " \t")
		if start > 0 && strings.IndexByte(" \t\n\"'`;&|(", s[start-1]) < 0 || len(rest) == len(s)-from || !credential.Named(option) {
			continue
		}
		value := word(s, len(s)-len(rest))
		text := s[value.From:value.To]
		if quoted := value.From > len(s)-len(rest); quoted && text != "" || hasDigit(text) && !isOption(text) {
			found = append(found, value)
			from = value.To
		}
	}
}

// reference matches $(PASSWORD), ${PASSWORD}, $PASSWORD and {{ .password }}, one or more of them. What else is in a
// value may be a password, such as that of "$(USER):x@db" or the default of "${PASSWORD:-x}"; a password may begin with
// a dollar sign, too.
var reference = regexp.MustCompile(`^(\$\([\w.-]+\)|\$\{[\w.]+\}|\$[A-Z_][A-Z0-9_]*|\{\{[^{}]*\}\})+$`)

// isReference reports whether a value refers to variables, or is a template that somebody else fills in, as in an
// ExternalSecret.
func isReference(s string) bool {
	return s != "" && (s[0] == '$' || s[0] == '{') && reference.MatchString(s)
}

// isNamed reports whether a field of a table is named like a credential; the value of an environment variable has the
// variable's name.
func isNamed(table map[string]any, key string) bool {
	if key != "value" {
		return credential.Named(key)
	}
	name, _ := table["name"].(string)
	return credential.Named(name)
}

// isSecretData reports whether a field holds the data of a Secret, which may be a part of another object or of a text.
// A reference to a Secret has its kind, too, but no metadata: there only a misspelt data or stringData is data.
func isSecretData(object map[string]any, key string) bool {
	if object["kind"] != kinds.Secret.Kind || object["apiVersion"] != "v1" {
		return false
	}
	_, whole := object["metadata"].(map[string]any)
	data := []string{"data", "stringData"}
	return slices.Contains(data, key) || whole && serverfields.IsSecretField(key) || spelling.Namesake(key, data) != ""
}

// isAuth reports whether a field has the "user:password" of Docker's configurations, in base64, or something else that
// occurs nowhere by chance: in other files "auth" can be a word such as "internal", which is masked in place only.
func isAuth(key string, v any) bool {
	if key != "auth" {
		return false
	}
	text, _ := jsontree.ScalarText(v)
	decoded, _ := decode(text)
	return !isLetters(text) || strings.Contains(decoded, ":") && utf8.ValidString(decoded)
}

// urlPasswords finds the passwords in URLs: "scheme://user:HERE@host", and tokens without a user. References such as
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
		rest, _, _ := strings.Cut(s[from:], "://") // so that no part of a long text is read again and again
		rest = before(rest, " \t\r\n\"'")
		authority := before(rest, "/?#")
		at, colon := strings.LastIndexByte(authority, '@'), strings.IndexByte(authority, ':')
		if at < 0 && colon > 0 && authority[0] != '[' && strings.Trim(authority[colon+1:], "0123456789") != "" {
			at = strings.IndexByte(rest, '@')
		}
		if colon >= 0 && colon+1 < at && !isReference(rest[colon+1:at]) {
			found = append(found, haystack.Span{From: from + colon + 1, To: from + at, Part: true})
		}
		if user := rest[:max(at, 0)]; !strings.Contains(user, ":") && isAccessToken(user) {
			found = append(found, haystack.Span{From: from, To: from + at, Part: true})
		}
	}
}

// accessToken matches how the tokens of GitHub and GitLab begin.
var accessToken = regexp.MustCompile(`^(gh[oprsu]_|github_pat_|glpat-)`)

// tokenPart matches what tokens have between dashes, dots and underscores, the last part of a UUID, too. The words of
// most names are shorter, or have no digit.
var tokenPart = regexp.MustCompile(`[A-Za-z0-9]{12,}`)

// isAccessToken reports whether what a URL has for a user is a token.
func isAccessToken(user string) bool {
	return accessToken.MatchString(user) ||
		isRandom(user) && !isReference(user) && slices.ContainsFunc(tokenPart.FindAllString(user, -1), hasDigit)
}

// before returns s up to the first of the characters.
func before(s, characters string) string {
	if end := strings.IndexAny(s, characters); end >= 0 {
		return s[:end]
	}
	return s
}
