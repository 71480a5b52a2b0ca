package keyuse

import (
	"path"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Mentioned reports whether any template of the chart or its subcharts names a key,
// even in branches that the render did not reach: as a field (.key), as a string
// ("key", "a.key"), or in text that may be passed to tpl, from a file or from the
// values. Keys in the schema count, too. It errs on the side of yes.
func Mentioned(c *chart.Chart, values map[string]any, key string) bool {
	return inChart(c, key) || inValues(values, key)
}

func inChart(c *chart.Chart, key string) bool {
	for _, f := range c.Templates {
		if f != nil && mentions(string(f.Data), key) {
			return true
		}
	}
	for _, f := range c.Files {
		if f != nil && path.Ext(f.Name) != ".md" && mentions(string(f.Data), key) {
			return true
		}
	}
	if strings.Contains(string(c.Schema), `"`+key+`"`) || inValues(c.Values, key) {
		return true
	}
	for _, sub := range c.Dependencies() {
		if inChart(sub, key) {
			return true
		}
	}
	return false
}

func inValues(v any, key string) bool {
	switch v := v.(type) {
	case string:
		return mentions(v, key)
	case map[string]any:
		for _, e := range v {
			if inValues(e, key) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if inValues(e, key) {
				return true
			}
		}
	}
	return false
}

// mentions reports whether a template action in text names key.
func mentions(text, key string) bool {
	if !strings.Contains(text, key) {
		return false
	}
	for {
		_, rest, found := strings.Cut(text, "{{")
		if !found {
			return false
		}
		if comment := strings.TrimLeft(rest, "- \t\r\n"); strings.HasPrefix(comment, "/*") {
			_, text, _ = strings.Cut(rest, "*/")
			continue
		}
		used, inside := action(rest, key)
		if inside {
			return true
		}
		text = rest[used:]
	}
}

// action scans one template action, given the text after "{{". It returns how much of
// the text it has read, and whether the action names key.
func action(text, key string) (used int, found bool) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "}}"):
			return i + 2, false
		case c == '"' || c == '`':
			n := literal(text[i:])
			if inConstant(text[i:i+n], key) {
				return i + n, true
			}
			i += n
		case c == '.' && strings.HasPrefix(text[i+1:], key) && !isWordAt(text, i+1+len(key)):
			return i, true
		default:
			i++
		}
	}
	return len(text), false
}

// literal returns the length of the string literal that text begins with.
func literal(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}

// inConstant reports whether a string literal names a key. Prose does not, unless it is
// itself a template.
func inConstant(constant, key string) bool {
	if strings.ContainsAny(constant, " \t\n") && !strings.Contains(constant, "{{") {
		return false
	}
	for from := 0; ; {
		i := strings.Index(constant[from:], key)
		if i < 0 {
			return false
		}
		i += from
		if !isWordAt(constant, i-1) && !isWordAt(constant, i+len(key)) {
			return true
		}
		from = i + 1
	}
}

// isWordAt reports whether there is a letter, digit, dash or underscore at i.
func isWordAt(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
