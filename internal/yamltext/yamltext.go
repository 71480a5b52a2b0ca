// Package yamltext writes and reads a plain subset of YAML, which is most of what charts
// pass through toYaml and fromYaml, without the detour through JSON, a parser and an
// emitter. Its results are those of sigs.k8s.io/yaml, or none.
//
// It exists only for speed (BenchmarkMarshal, BenchmarkUnmarshalFlat). Thirty thousand
// random values and two fuzz targets check it against the library.
package yamltext

import (
	"bytes"
	"math"
	"sort"
	"strconv"
	"strings"
)

// Marshal returns the same text as sigs.k8s.io/yaml's Marshal, without the final newline,
// for values made of maps, lists, numbers and plain words; ok is false for anything else.
func Marshal(v any) (text string, ok bool) {
	w := &yamlWriter{}
	switch v := v.(type) {
	case map[string]any:
		ok = w.top(v, len(v), func() bool { return w.table(v, 0, false) })
	case []any:
		ok = w.top(v, len(v), func() bool { return w.items(v, 0, false) })
	case string:
		ok = w.word(v)
	}
	return string(w.out), ok
}

// top writes a collection as a block, or an empty one as a scalar.
func (w *yamlWriter) top(v any, size int, block func() bool) bool {
	if size == 0 {
		return w.scalar(v)
	}
	return block()
}

type yamlWriter struct {
	out   []byte
	depth int
}

// maxPlainDepth limits the depth of values; deeper ones are left to the library and its limits.
const maxPlainDepth = 50

// table writes a block mapping. With inline, the first key follows "- ".
func (w *yamlWriter) table(m map[string]any, indent int, inline bool) bool {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Sort(naturally(keys))
	for i, k := range keys {
		if i > 0 || !inline {
			w.margin(indent)
		}
		if len(k) > 100 || !w.word(k) {
			return false
		}
		w.out = append(w.out, ':')
		if !w.value(m[k], indent) {
			return false
		}
	}
	return true
}

// value writes what follows a key.
func (w *yamlWriter) value(v any, indent int) bool {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			return w.nested(func() bool { return w.table(v, indent+2, false) })
		}
	case []any:
		if len(v) > 0 { // lists begin at the column of their key
			return w.nested(func() bool { return w.items(v, indent, false) })
		}
	}
	w.out = append(w.out, ' ')
	return w.scalar(v)
}

// nested writes a block on lines of its own.
func (w *yamlWriter) nested(write func() bool) bool {
	w.depth++
	defer func() { w.depth-- }()
	return w.depth < maxPlainDepth && write()
}

// items writes a block sequence.
func (w *yamlWriter) items(list []any, indent int, inline bool) bool {
	for i, v := range list {
		if i > 0 || !inline {
			w.margin(indent)
		}
		w.out = append(w.out, "- "...)
		if !w.item(v, indent) {
			return false
		}
	}
	return true
}

func (w *yamlWriter) item(v any, indent int) bool {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			return w.nested(func() bool { return w.table(v, indent+2, true) })
		}
	case []any:
		if len(v) > 0 {
			return w.nested(func() bool { return w.items(v, indent+2, true) })
		}
	}
	return w.scalar(v)
}

// margin begins a line.
func (w *yamlWriter) margin(indent int) {
	if len(w.out) > 0 {
		w.out = append(w.out, '\n')
	}
	for range indent {
		w.out = append(w.out, ' ')
	}
}

func (w *yamlWriter) scalar(v any) bool {
	switch v := v.(type) {
	case nil:
		w.out = append(w.out, "null"...)
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	case int:
		w.out = strconv.AppendInt(w.out, int64(v), 10)
	case int64:
		w.out = strconv.AppendInt(w.out, v, 10)
	case float64:
		return w.float(v)
	case string:
		return w.word(v)
	case map[string]any:
		if v == nil {
			return false
		}
		w.out = append(w.out, "{}"...)
	case []any:
		if v == nil {
			return false
		}
		w.out = append(w.out, "[]"...)
	default:
		return false
	}
	return true
}

// float writes whole numbers as integers, as JSON does.
func (w *yamlWriter) float(f float64) bool {
	switch {
	case f == 0 && math.Signbit(f), math.IsNaN(f), math.Abs(f) >= 1e15:
		return false
	case f == math.Trunc(f):
		w.out = strconv.AppendInt(w.out, int64(f), 10)
	default:
		w.out = strconv.AppendFloat(w.out, f, 'g', -1, 64)
	}
	return true
}

// word writes text that needs no quotes, or certainly needs them: the empty text, and the
// words and numbers that YAML 1.1 reads as something else.
func (w *yamlWriter) word(s string) bool {
	switch {
	case s == "":
		if n := len(w.out); n == 0 || w.out[n-1] != ' ' {
			return false // a key
		}
		w.out = append(w.out, `""`...)
		return true
	case isReserved(s) || isSmallNumber(s):
		w.out = append(append(append(w.out, '"'), s...), '"')
		return true
	case !isPlain(s) || strings.Contains(s, " ") && w.column()+len(s) > maxColumn:
		return false
	}
	w.out = append(w.out, s...)
	return true
}

// maxColumn is a little less than the width at which the emitter folds text with spaces.
const maxColumn = 78

func (w *yamlWriter) column() int {
	return len(w.out) - 1 - bytes.LastIndexByte(w.out, '\n')
}

// isReserved reports whether s is a lower-case word that YAML 1.1 reads as a boolean or null.
func isReserved(s string) bool {
	if len(s) > 5 {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return s == strings.ToLower(s)
	}
	return false
}

// isSmallNumber reports whether s consists of digits that certainly are an integer.
func isSmallNumber(s string) bool {
	if len(s) > 9 || s[0] == '0' && len(s) > 1 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// isPlain reports whether s is one or more words that no YAML reader takes for anything
// but text: it begins with a letter, a slash or an underscore (or is a quantity such as
// 100m, or a version such as 1.2.3), and has no character with a meaning in YAML.
func isPlain(s string) bool {
	c := s[0]
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '/' || c == '_'
	if !letter {
		return isQuantity(s) || isDotted(s)
	}
	if len(s) <= 5 {
		switch strings.ToLower(s) {
		case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
			return false
		}
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.', c == '/', c == '@', c == '=', c == '+', c == '(', c == ')', c == ';', c == '$':
		case c == ':' && i+1 < len(s) && s[i+1] != ' ':
		case c == ' ' && i+1 < len(s) && s[i+1] != ' ' && s[i+1] != '#':
		default:
			return false
		}
	}
	return true
}

// isQuantity reports whether s is digits with a unit of memory, CPU or time.
func isQuantity(s string) bool {
	digits := strings.TrimLeft(s, "0123456789")
	if len(digits) == len(s) {
		return false
	}
	switch digits {
	case "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "s", "h", "ms":
		return true
	}
	return false
}

// isDotted reports whether s is a version of digits with at least two dots, which is not a number.
func isDotted(s string) bool {
	return strings.Count(s, ".") >= 2 && strings.Trim(s, "0123456789.") == "" && isDigit(s[0]) && isDigit(s[len(s)-1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// UnmarshalFlat reads lines of "key: word" as sigs.k8s.io/yaml's Unmarshal does; ok is
// false for anything else. Charts pass tables of labels through toYaml and fromYaml to
// merge them.
func UnmarshalFlat(text string) (table map[string]any, ok bool) {
	text = strings.TrimSuffix(text, "\n")
	table = map[string]any{}
	if text == "{}" {
		return table, true
	}
	for line := range strings.SplitSeq(text, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok || key == "" || value == "" || len(key) > 100 || !isPlain(key) || !isPlain(value) {
			return nil, false
		}
		if _, twice := table[key]; twice {
			return nil, false
		}
		table[key] = value
	}
	return table, true
}
