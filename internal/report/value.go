package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/textwidth"
	"github.com/kubectl-release/kubectl-release/plan"
)

// more stands for omitted parts of a value.
const more = "…"

// values prints a row's change, and the number of equal ones, in at most limit columns (0: no
// limit).
func (r row) values(limit int) string {
	like := ""
	if r.like > 0 {
		like = fmt.Sprintf(" (and %d like it)", r.like)
	}
	switch {
	case r.tally != "":
		return r.tally + like
	case limit > 0:
		limit -= width(like)
	}
	return pair(r.change, limit) + like
}

// pair prints a change in at most limit columns (0: no limit).
func pair(c plan.Change, limit int) string {
	if c.Sensitive {
		return sensitivePair(c.From, c.To)
	}
	before, after := jsontree.Plain(c.From), jsontree.Plain(c.To)
	if limit > 0 {
		before, after = onlyDifferent(before, after)
	}
	from, to := value(before), value(after)
	switch {
	case c.From == nil && c.To == nil:
		return "changed"
	case c.From == nil:
		return "added: " + item(c.Path, after, limit-len("added: "))
	case c.To == nil:
		return "removed (was " + item(c.Path, before, limit-len("removed (was )")) + ")"
	}
	from, to = shortDigests(from, to)
	const arrow = 3
	if limit < 1 || width(from)+width(to)+arrow <= limit {
		return from + " → " + to
	}
	if text, ok := imageChange(c); ok && width(text) <= limit {
		return text
	}
	from, to = shortDigests(quotedAlike(before, after))
	from, to = cutPair(shortPin(from), shortPin(to), limit-arrow)
	return from + " → " + to
}

// item prints an added or removed value. If it is wider than limit, only the fields that identify
// it are printed, unless the path already does so.
func item(path string, v any, limit int) string {
	text := value(v)
	field, id := fielddiff.Identity(v)
	fields, _ := v.(map[string]any)
	if limit < 1 || width(text) <= limit || field == "" || strings.HasSuffix(path, "["+value(id)+"]") {
		return cut(text, limit)
	}
	others := slices.DeleteFunc(keys(fields), func(key string) bool { return key == field })
	return cut(field+" "+value(id)+" ("+escape.Line(strings.Join(others, ", "))+")", limit)
}

// sensitivePair prints tokens: "changed (9f2c… → 41ab…)". Values that are not tokens were left
// unmasked on purpose, and are printed.
func sensitivePair(from, to any) string {
	a, b := hiddenValue(from), hiddenValue(to)
	hidden := isHidden(from) || isHidden(to)
	switch {
	case from == nil && to == nil:
		return "changed"
	case from == nil && hidden:
		return "added (" + b + ")"
	case from == nil:
		return "added: " + b
	case to == nil && hidden:
		return "removed (" + a + ")"
	case to == nil:
		return "removed (was " + a + ")"
	case hidden:
		return "changed (" + a + " → " + b + ")"
	}
	return a + " → " + b
}

func hiddenValue(v any) string {
	if s, ok := v.(string); ok && redact.IsToken(s) {
		return redact.TokenID(s)
	}
	return value(v)
}

func isHidden(v any) bool {
	s, ok := v.(string)
	return ok && redact.IsToken(s)
}

// cutPair shortens two values that are too wide together so that their first difference stays
// visible: the common beginning is cut first. A short value leaves its room to the other one.
func cutPair(from, to string, room int) (string, string) {
	room = max(room, 12)
	half := room / 2
	begin := common(from, to)
	const least, shown = 2, 5
	if same := width(begin); same > least+1 && same+shown > half {
		kept := textwidth.Tail(begin, min(max(least, half-1-(max(width(from), width(to))-same)), same-1))
		kept = kept[toWord(kept):]
		from, to = "…"+kept+from[len(begin):], "…"+kept+to[len(begin):]
	}
	switch {
	case width(from)+width(to) <= room:
	case width(from) <= half:
		to = cut(to, room-width(from))
	case width(to) <= half:
		from = cut(from, room-width(to))
	default:
		from, to = cut(from, half), cut(to, half)
	}
	return from, to
}

// toWord returns how many more bytes to cut from a text so that it does not begin within a word: up to
// the first slash in its first half, else to the first other character there that is neither a
// letter nor a digit; 0 if there is none.
func toWord(text string) int {
	text = textwidth.Head(text, width(text)/2)
	if i := strings.IndexByte(text, '/'); i >= 0 {
		return i
	}
	return max(0, strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// shortDigests shortens two checksums to their first characters.
func shortDigests(from, to string) (string, string) {
	const shown = 8
	if !isDigest(from) || !isDigest(to) || from[:shown] == to[:shown] {
		return from, to
	}
	return from[:shown] + "…", to[:shown] + "…"
}

// shortPin shortens the digest of an image to its first characters.
func shortPin(image string) string {
	const mark, shown = "@sha256:", 8
	if i := strings.Index(image, mark); i > 0 && isDigest(image[i+len(mark):]) {
		return image[:i+len(mark)+shown] + "…"
	}
	return image
}

func isDigest(s string) bool {
	const shortest = 32
	return len(s) >= shortest && strings.Trim(s, "0123456789abcdef") == ""
}

// value prints a value on one line: scalars as in YAML, structures in YAML's flow style.
func value(v any) string {
	switch v := v.(type) {
	case omitted:
		return more
	case partial:
		return flowMap(append(entries(v), more))
	}
	switch v := jsontree.Plain(v).(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = value(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		return flowMap(entries(v))
	default:
		if text, ok := jsontree.ScalarText(v); ok {
			return text
		}
		return escape.Line(fmt.Sprint(v))
	}
}

func flowMap(entries []string) string { return "{" + strings.Join(entries, ", ") + "}" }

func entries(m map[string]any) []string {
	var out []string
	for _, key := range keys(m) {
		name := escape.Line(key)
		if strings.Contains(key, ": ") {
			name = quoted(key)
		}
		out = append(out, name+": "+value(m[key]))
	}
	return out
}

// keys returns the sorted keys, with those that name an item first.
func keys(m map[string]any) []string {
	sorted := slices.Sorted(maps.Keys(m))
	for _, first := range []string{"record", "alert", "name", "kind", "apiVersion"} {
		if i := slices.Index(sorted, first); i > 0 {
			sorted = slices.Insert(slices.Delete(sorted, i, i+1), 0, first)
		}
	}
	return sorted
}

// quote puts quotes around strings that need them.
func quote(s string) string {
	if needsQuotes(s) {
		return quoted(s)
	}
	return escape.Line(s)
}

func quoted(s string) string { return `"` + escape.Line(s) + `"` }

// quotedAlike prints two values, texts both in quotes if one of them needs them: then they differ where they
// begin to differ.
func quotedAlike(before, after any) (from, to string) {
	a, wasText := before.(string)
	b, isText := after.(string)
	if wasText && isText && (needsQuotes(a) || needsQuotes(b)) {
		return quoted(a), quoted(b)
	}
	return value(before), value(after)
}

// needsQuotes reports whether a string would be read as something else without quotes, or its ends would not be
// visible.
func needsQuotes(s string) bool {
	return s == "" || s == more || strings.TrimSpace(s) != s || strings.Contains(s, ", ") || strings.ContainsAny(s[:1], `{["`) || looksTyped(s)
}

func looksTyped(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "~", "removed":
		return true
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return true
	}
	return json.Valid([]byte(s))
}
