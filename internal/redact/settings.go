package redact

import (
	"regexp"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/credential"
	"github.com/kubectl-release/kubectl-release/internal/haystack"
)

// expansion matches what a shell fills in, behind the equals sign of an assignment.
var expansion = regexp.MustCompile(`^"?\$(\w+"?(\s|$)|\(\w+ )`)

// settings finds the credentials in a configuration file: `"password": "x"` in JSON, "password: x" in YAML and
// properties files, "password = x" and "password=x" in INI, TOML and properties files. Prose and code have colons and
// equals signs, too: a key without quotes has to begin its line, and a value without quotes has to be all of the rest, one
// word that is neither a call nor the beginning of a structure; after a key in quotes that does not begin its line it is a
// number. What may be code is none. In prose, as in errors and logs, only keys in quotes count: what follows "token:" there is no secret.
func settings(s string, prose bool) []haystack.Span {
	var found []haystack.Span
	if strings.IndexByte(s, ':') < 0 && strings.IndexByte(s, '=') < 0 {
		return found // most texts have neither, which IndexByte sees sooner than IndexAny
	}
	for from := 0; ; {
		i := strings.IndexAny(s[from:], ":=")
		if i < 0 {
			return found
		}
		key, first, separator := s[from:from+i], from == 0, s[from+i]
		from += i + 1
		if !credential.Named(key) {
			continue
		}
		value := haystack.Span{}
		switch trimmed := strings.TrimRight(key, " \t"); {
		case strings.HasSuffix(trimmed, `"`), strings.HasSuffix(trimmed, "'"):
			yaml := !prose && beginsLine(trimmed, first) && !closesLine(s[from:])
			value = settingOf(s, from, !yaml)
		case prose, !beginsLine(trimmed, first):
		case separator == '=' && trimmed == key && expansion.MatchString(s[from:]):
		case separator == ':' && before(s[from:min(from+1, len(s))], " \t") != "": // "token:x" is no setting in YAML
		default:
			value = settingOf(s, from, false)
		}
		if value.From < value.To && (prose || !isCode(s, value)) {
			found = append(found, value)
			from = value.To
		}
	}
}

// beginsLine reports whether the last line of what is before a separator is a key, possibly in quotes or that of a
// list's item. first says that the text begins there.
func beginsLine(s string, first bool) bool {
	line := strings.LastIndexByte(s, '\n')
	key := strings.TrimLeft(s[line+1:], " \t-")
	if n := len(key); n > 1 && key[0] == key[n-1] && (key[0] == '"' || key[0] == '\'') {
		key = key[1 : n-1]
	}
	return (first || line >= 0) && !strings.ContainsAny(key, " \t\"'`#;&|?(,{<")
}

// closesLine reports whether a line ends as one in JSON can, not in YAML: after a value that another one follows, or
// that is the last.
func closesLine(s string) bool {
	line := strings.TrimRight(before(s, "\r\n"), " \t")
	return line != "" && strings.ContainsAny(line[len(line)-1:], ",]}")
}

// settingOf returns the value of a setting from a place on, without quotes; it is empty for what is no constant. In
// JSON, a value without quotes is a number.
func settingOf(s string, from int, json bool) haystack.Span {
	from += len(s[from:]) - len(strings.TrimLeft(s[from:], " \t"))
	to := from
	if quote := quoteAt(s[from:]); quote != "" {
		from += len(quote)
		to = from + lengthQuoted(s[from:], quote)
		if isReference(s[from:to]) {
			to = from
		}
	} else if json {
		to += len(s[from:]) - len(strings.TrimLeft(s[from:], "-.0123456789"))
	} else if value := withoutComment(before(s[from:], "\r\n")); isConstant(value) {
		to += len(value)
	}
	return haystack.Span{From: from, To: to, Part: true}
}

// quoteAt returns the quote with which a text begins, together with the backslashes before it that it has in JSON
// within JSON.
func quoteAt(s string) string {
	rest := strings.TrimLeft(s, `\`)
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	return s[:len(s)-len(rest)+1]
}

// lengthQuoted returns the length of what is before the closing quote, 0 if that is not on the same line. A quote is
// escaped by as many backslashes as stand before the opening one, and one more.
func lengthQuoted(s, quote string) int {
	escapes := len(quote) - 1
	for at := 0; ; at++ {
		i := strings.IndexAny(s[at:], quote[escapes:]+"\n")
		if i < 0 || s[at+i] == '\n' {
			return 0
		}
		backslashes := len(s[at:at+i]) - len(strings.TrimRight(s[at:at+i], `\`))
		at += i
		if backslashes%(2*(escapes+1)) == escapes {
			return at - escapes
		}
	}
}

// withoutComment returns a value without the comment after it and the blanks around that.
func withoutComment(value string) string {
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimRight(value, " \t")
}

// isConstant reports whether a value without quotes can be a credential: booleans, references, code and what begins
// a structure, an alias or a text of several lines can't.
func isConstant(value string) bool {
	switch strings.ToLower(value) {
	case "", "true", "false", "yes", "no", "on", "off", "null", "none", "nil", "~":
		return false
	}
	return !strings.ContainsAny(value, " \t(") && !strings.ContainsAny(value[:1], "=>{[|*&!") &&
		!strings.ContainsAny(value[len(value)-1:], ",;") && !isReference(value)
}
