package report

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

const (
	// minSecret is the length from which a value is looked for outside of its
	// Secret. Shorter ones would be found in everything.
	minSecret = 4
	// minInside is the length from which a value is masked inside of a word,
	// too; shorter ones only where they stand alone. For plain words it is
	// minWordInside: the user "postgres" is no reason to mask "postgresql".
	minInside     = 8
	minWordInside = 12
	// minLine is the length from which a single line of a secret text is a
	// secret of its own.
	minLine = 16
	// maxParsed bounds the texts that are searched for credentials, in bytes.
	maxParsed = 64 << 10
)

// secrets are the values of a plan that must not be printed.
type secrets struct {
	// plain maps every form in which a value may appear to the value itself.
	plain map[string]string
	// weak are forms that are masked in place, but not looked for elsewhere.
	weak map[string]bool
	// added are the values whose forms are all known.
	added map[string]bool
}

func newSecrets() *secrets {
	return &secrets{plain: map[string]string{}, weak: map[string]bool{}, added: map[string]bool{}}
}

// addEncoded adds a value from a Secret's data, which is base64.
func (s *secrets) addEncoded(value string) {
	decoded, ok := decode(value)
	if !ok {
		s.add(value)
		return
	}
	s.add(decoded)
	s.form(value, decoded)
}

// add adds a value and the forms in which it may recur: trimmed, in base64,
// JSON and URLs. A text of several lines also hides its long lines, one in
// JSON or YAML also the credentials in it.
func (s *secrets) add(value string) {
	if s.added[value] || value == "" || isToken(value) {
		return
	}
	s.added[value] = true
	trimmed := strings.TrimSpace(value)
	s.form(value, value)
	for _, v := range []string{trimmed, value} {
		s.form(v, value)
		s.form(base64.StdEncoding.EncodeToString([]byte(v)), value)
		s.form(base64.RawStdEncoding.EncodeToString([]byte(v)), value)
		s.form(base64.URLEncoding.EncodeToString([]byte(v)), value)
		s.form(inJSON(v), value)
		s.form(url.QueryEscape(v), value)
		s.form(url.PathEscape(v), value)
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
			line = strings.TrimSpace(line)
			if len(line) >= minLine && !strings.HasPrefix(line, "-----") && !strings.ContainsAny(line, " \t") {
				s.form(line, value)
			}
		}
	}
	if len(value) > maxParsed || !strings.ContainsAny(value, "{:") || !utf8.ValidString(value) {
		return
	}
	var parsed any
	if yaml.Unmarshal([]byte(value), &parsed) == nil {
		s.addCredentials(parsed)
	}
}

// addCredentials adds the values of a tree that are named like credentials.
func (s *secrets) addCredentials(v any) {
	switch v := v.(type) {
	case map[string]any:
		name, _ := v["name"].(string)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if isCredential(key) || key == "auth" || key == "value" && isCredential(name) {
				s.addScalar(v[key])
			}
			s.addCredentials(v[key])
		}
	case []any:
		for _, item := range v {
			s.addCredentials(item)
		}
	case string:
		if from := assignment(v); from > 0 {
			s.add(v[from:])
		}
		for _, at := range urlPasswords(v) {
			s.add(v[at.from:at.to])
		}
	}
}

// addScalar adds strings and numbers; words such as true are no secrets.
func (s *secrets) addScalar(v any) {
	if text, ok := scalarText(v); ok {
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

// exempt marks the forms that are not looked for: short ones, words of YAML,
// numbers as short as a port, and what the plan prints as a name anyway.
func (s *secrets) exempt(names []string) {
	public := strings.Join(names, "\n")
	for form := range s.plain {
		if len(form) < minSecret || isWord(form) || strings.Contains(public, form) {
			s.weak[form] = true
		}
	}
}

func isWord(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "null", "none", "default", "enabled", "disabled":
		return true
	}
	const port = 5
	return len(s) <= port && strings.Trim(s, "0123456789") == ""
}

// decode reads base64 that holds text.
func decode(s string) (string, bool) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s))
	return string(raw), err == nil && len(raw) > 0
}

func inJSON(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return strings.Trim(string(quoted), `"`)
}
