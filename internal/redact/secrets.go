package redact

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-release/kubectl-release/internal/haystack"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

const (
	// minSecret is the length from which a value is searched for outside of its Secret. Shorter
	// ones would be found everywhere.
	minSecret = haystack.MinLength
	// minInside is the length from which a value is masked even within a word; shorter ones only
	// where they stand alone. For plain words it is minWordInside: the user "postgres" is no reason
	// to mask "postgresql".
	minInside     = 8
	minWordInside = 12
	// minLine is the length from which a single line of a secret text counts as a secret of its
	// own; minWordyLine is that of lines with blanks, as those of configuration files. Most of the
	// lines that many files have, such as "listen 8080;", are shorter.
	minLine, minWordyLine = 16, 24
	// maxNested is how many levels of credentials within credentials are searched. A value such as
	// "password=password=…" has one for each nine bytes, and each as long as what is left.
	maxNested = 3
)

// secrets are the values of a plan that must not be printed.
type secrets struct {
	// plain maps every searched form of a value to the value itself.
	plain map[string]string
	// weak are forms that are masked in place, but not searched for elsewhere.
	weak map[string]bool
	// added are the values whose forms have been added.
	added map[string]bool
	// read are the texts whose documents have been read: an object is there before and after a change.
	read map[string]bool
	// nested counts the values around the one that is being added.
	nested int
}

func newSecrets() *secrets {
	return &secrets{plain: map[string]string{}, weak: map[string]bool{}, added: map[string]bool{}, read: map[string]bool{}}
}

// addEncoded adds a value of a Secret's data, which is base64.
func (s *secrets) addEncoded(value string) {
	decoded, ok := decode(value)
	if !ok {
		s.add(value)
		return
	}
	s.add(decoded)
	s.form(value, decoded)
}

// add adds a value. For a text of several lines it also adds the long lines, for JSON or YAML the
// credentials in it.
func (s *secrets) add(value string) {
	if s.added[value] || value == "" || IsToken(value) {
		return
	}
	s.added[value] = true
	trimmed := strings.TrimSpace(value)
	s.form(value, value)
	s.form(trimmed, value)
	if !isLong(trimmed) { // long values are found within base64
		for _, v := range []string{trimmed, value} {
			s.form(base64.StdEncoding.EncodeToString([]byte(v)), value)
			s.form(base64.RawStdEncoding.EncodeToString([]byte(v)), value)
			s.form(base64.URLEncoding.EncodeToString([]byte(v)), value)
		}
	}
	if inner, ok := decode(trimmed); ok && len(trimmed) >= minInside {
		s.form(inner, value)
	}
	s.addParts(value, trimmed)
}

func (s *secrets) form(form, value string) {
	if _, known := s.plain[form]; !known && form != "" {
		s.plain[form] = value
	}
}

func (s *secrets) addParts(value, trimmed string) {
	if strings.Contains(trimmed, "\n") {
		for line := range strings.SplitSeq(trimmed, "\n") {
			if line = strings.TrimSpace(line); isTelling(line) {
				s.form(line, value)
			}
		}
	}
	if len(value) > maxParsed || s.nested == maxNested {
		return
	}
	s.nested++
	s.addText(value, isParsed(value) && mentionsCredential(value))
	s.nested--
}

// isTelling reports whether a line of a secret text counts as a secret of its own: logs show single
// lines. Headers of keys don't, nor comments, which many files have.
func isTelling(line string) bool {
	if strings.HasPrefix(line, "-----") {
		return false
	}
	if strings.ContainsAny(line, " \t") {
		return len(line) >= minWordyLine && !strings.HasPrefix(line, "#")
	}
	return len(line) >= minLine
}

// addCredentials adds the values of a tree that are named like credentials. Most trees have none;
// only others are walked in order, which decides which value comes first.
func (s *secrets) addCredentials(v any) {
	if hasCredentials(v) {
		s.addCredentialsInOrder(v)
	}
}

func (s *secrets) addCredentialsInOrder(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value := v[key]
			if (isNamed(v, key) || isAuth(key, value)) && isSecretScalar(value) {
				s.addScalar(value)
			}
			if isSecretData(v, key) {
				s.addTree(value, key == "data")
			}
			s.addCredentialsInOrder(value)
			if object, ok := appliedObject(key, value); ok {
				s.addCredentialsInOrder(object)
			}
		}
	case []any:
		for i, item := range v {
			if followsOption(v, i) {
				s.addScalar(item)
			}
			s.addCredentialsInOrder(item)
		}
	case string:
		s.addText(v, mayHoldCredentials(v))
	}
}

// hasCredentials reports whether a tree has values that addCredentials adds.
func hasCredentials(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if (isNamed(v, key) || isAuth(key, value)) && isSecretScalar(value) || isSecretData(v, key) || hasCredentials(value) {
				return true
			}
			if object, ok := appliedObject(key, value); ok && hasCredentials(object) {
				return true
			}
		}
	case []any:
		for i, item := range v {
			if followsOption(v, i) || hasCredentials(item) {
				return true
			}
		}
	case string:
		return len(credentialsIn(v)) > 0 || len(settings(v, false)) > 0 || mayHoldCredentials(v)
	}
	return false
}

func isLetters(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// addScalar adds a string or number; words such as true are not secrets.
func (s *secrets) addScalar(v any) {
	if text, ok := jsontree.ScalarText(v); ok {
		s.add(text)
	}
}

// addTree adds every scalar of a tree.
func (s *secrets) addTree(v any, encoded bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.addTree(v[key], encoded)
		}
	case []any:
		for _, item := range v {
			s.addTree(item, encoded)
		}
	case string:
		if encoded {
			s.addEncoded(v)
		} else {
			s.add(v)
		}
	default:
		s.addScalar(v)
	}
}

// unify turns values that are the base64 of other values into forms of those.
func (s *secrets) unify() {
	for form, value := range s.plain {
		for {
			decoded, _ := decode(value)
			inner, known := s.plain[decoded]
			if !known || inner == value {
				break
			}
			value = inner
		}
		s.plain[form] = value
	}
}

// inOtherCases adds what templates make of long values with upper and lower. Where this is another
// value, it stays that.
func (s *secrets) inOtherCases() {
	for _, value := range slices.Sorted(maps.Keys(s.added)) {
		if trimmed := strings.TrimSpace(value); isLong(trimmed) {
			s.form(strings.ToUpper(trimmed), value)
			s.form(strings.ToLower(trimmed), value)
		}
	}
}

// exempt marks the forms that are not searched for: short ones, words of YAML, numbers as short as
// a port, and parts of names that the plan prints anyway.
func (s *secrets) exempt(names []string) {
	s.inOtherCases()
	public := strings.Join(names, "\n")
	for form := range s.plain {
		if len(form) < minSecret || isWord(form) || strings.Contains(public, form) {
			s.weak[form] = true
		}
	}
}

// needles returns the forms to search for.
func (s *secrets) needles() []haystack.Needle {
	var out []haystack.Needle
	for _, form := range slices.Sorted(maps.Keys(s.plain)) {
		if !s.weak[form] {
			out = append(out, haystack.Needle{Text: form, Value: s.plain[form], Inside: isLong(strings.TrimSpace(form))})
		}
	}
	return out
}

// isLong reports whether a value is masked within words, too.
func isLong(form string) bool {
	if strings.Trim(form, "abcdefghijklmnopqrstuvwxyz") == "" {
		return len(form) >= minWordInside
	}
	return len(form) >= minInside
}

func isWord(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "null", "none", "default", "enabled", "disabled":
		return true
	}
	const port = 5
	return len(s) <= port && strings.Trim(s, "0123456789") == ""
}

// decode decodes base64.
func decode(s string) (string, bool) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s))
	return string(raw), err == nil && len(raw) > 0
}
