package haystack

import (
	"cmp"
	"encoding/base32"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"
)

// disguise is a way in which people and programs put a text into another.
type disguise struct {
	name string
	put  func(string) string
}

func within(prefix, s, suffix string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, prefix), suffix)
}

func inner(quoted string) string { return within(`"`, quoted, `"`) }

func inJSON(s string, escapeHTML bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	_ = e.Encode(s)
	return inner(strings.TrimSpace(b.String()))
}

func inYAML(v any) string {
	out, err := yaml.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(out)
}

func inTOML(s string) string {
	var b strings.Builder
	if toml.NewEncoder(&b).Encode(map[string]string{"k": s}) != nil {
		return s
	}
	return within("k = ", b.String(), "\n")
}

func inCSV(s string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"a", s, "b"})
	w.Flush()
	return b.String()
}

func wrapped(s string) string {
	const line = 76
	return regexp.MustCompile(fmt.Sprintf(".{%d}", line)).ReplaceAllString(base64.StdEncoding.EncodeToString([]byte(s)), "$0\n")
}

func disguises() []disguise {
	return []disguise{
		{"as it is", func(s string) string { return s }},
		{"strconv.Quote", func(s string) string { return inner(strconv.Quote(s)) }},
		{"strconv.QuoteToASCII", func(s string) string { return inner(strconv.QuoteToASCII(s)) }},
		{"strconv.QuoteToGraphic", func(s string) string { return inner(strconv.QuoteToGraphic(s)) }},
		{"JSON", func(s string) string { return inJSON(s, true) }},
		{"JSON without HTML's escapes", func(s string) string { return inJSON(s, false) }},
		{"JSON with escaped slashes", func(s string) string { return strings.ReplaceAll(inJSON(s, false), "/", `\/`) }},
		{"html.EscapeString", html.EscapeString},
		{"template.HTMLEscapeString", template.HTMLEscapeString},
		{"named entities", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;", "\u00a0", "&nbsp;").Replace},
		{"template.JSEscapeString", template.JSEscapeString},
		{"url.QueryEscape", url.QueryEscape},
		{"url.PathEscape", url.PathEscape},
		{"every byte in a URL", func(s string) string {
			return regexp.MustCompile("..").ReplaceAllString(hex.EncodeToString([]byte(s)), "%$0")
		}},
		{"YAML", func(s string) string { return inYAML(map[string]any{"k": s}) }},
		{"YAML, indented", func(s string) string {
			return inYAML(map[string]any{"a": []any{map[string]any{"k": s + "\nmore"}}})
		}},
		{"YAML in single quotes", func(s string) string { return strings.ReplaceAll(s, "'", "''") }},
		{"TOML", inTOML},
		{"CSV", inCSV},
		{"a shell's single quotes", func(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }},
		{"a shell's single and double quotes", func(s string) string { return strings.ReplaceAll(s, "'", `'"'"'`) }},
		{"a shell's double quotes", func(s string) string { return regexp.MustCompile("[\"\\\\$`]").ReplaceAllString(s, `\$0`) }},
		{"a shell's words", func(s string) string { return regexp.MustCompile(`[^\w\n]`).ReplaceAllString(s, `\$0`) }},
		{"a properties file", func(s string) string { return regexp.MustCompile(`[\\:=#! ]`).ReplaceAllString(s, `\$0`) }},
		{"dollars doubled", func(s string) string { return strings.ReplaceAll(s, "$", "$$") }},
		{"per cent doubled", func(s string) string { return strings.ReplaceAll(s, "%", "%%") }},
		{"indented", func(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") }},
		{"lines of Windows", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
		{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
		{"base64 without padding", func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }},
		{"base64 for URLs", func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }},
		{"base64 of a line", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s + "\n")) }},
		{"base64 in lines", wrapped},
		{"basic authentication", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) }},
		{"base64, one byte further", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x" + s + "y")) }},
		{"a Docker configuration", func(s string) string {
			return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"auths":{"r":{"auth":"%s"}}}`, base64.StdEncoding.EncodeToString([]byte("u:"+s))))
		}},
		{"base32", func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }},
		{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
		{"hex in capitals", func(s string) string { return fmt.Sprintf("%X", s) }},
		{"a log with bars", func(s string) string { return "      | " + strings.ReplaceAll(s, "\n", "\n      | ") }},
	}
}

// without returns what is left of the text between the places that were found. The
// pieces are not joined: what comes before a place and what comes after it may well be
// the secret when joined, although it was not in the text.
func without(text string, found []Span) []string {
	var left []string
	from := 0
	for _, s := range slices.SortedFunc(slices.Values(found), func(a, b Span) int { return cmp.Compare(a.From, b.From) }) {
		if s.From > from {
			left = append(left, text[from:s.From])
		}
		from = max(from, s.To)
	}
	return append(left, text[from:])
}

// checkFound puts a secret into a text in two disguises, one inside the other, and
// looks for what is left of it.
func checkFound(t *testing.T, secret string, first, second disguise, before, after string) {
	t.Helper()
	disguised := strings.TrimSpace(second.put(first.put(secret)))
	text := before + disguised + after
	found := New([]Needle{{Text: secret, Value: "it", Inside: true}}).Find(text)
	left := without(text, found)
	for _, form := range []string{secret, strings.TrimSpace(first.put(secret)), disguised} {
		if slices.ContainsFunc(left, func(piece string) bool { return strings.Contains(piece, strings.TrimSpace(form)) }) {
			t.Errorf("%s in %s: %q is in %q and only %v of it is found", first.name, second.name, secret, text, found)
			return
		}
	}
}

// worthHiding reports whether a text is looked for inside words and in encoded text.
func worthHiding(secret string) bool { return len(fold(strings.TrimSpace(secret))) >= minEncoded }

// randomSecret leaves out U+0085, which sigs.k8s.io/yaml turns into a space.
func randomSecret(r *rand.Rand) string {
	alphabet := slices.Concat(
		strings.Split("abcXYZ012 \t\n\"'`\\/<>&%$#!:=+;,{}[]()@~|^*?-_.", ""),
		[]string{"\x00", "\x01", "\x1b", "\x7f", "\u00a0", "\u2028", "\ufeff", "é", "ÿ", "漢", "😀", "\xff", "\r\n", "\n\n", "\\n", "%41", "&amp;", "''", "\u202e"},
	)
	for {
		var b strings.Builder
		for range 8 + r.IntN(40) {
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		if worthHiding(b.String()) {
			return b.String()
		}
	}
}

// A secret is found however it is escaped and encoded, and by whichever two of all ways
// in succession.
func TestEveryDisguiseIsSeenThrough(t *testing.T) {
	ways := disguises()
	r := rand.New(rand.NewPCG(10, 8))
	for _, first := range ways {
		for _, second := range ways {
			for range 12 {
				checkFound(t, randomSecret(r), first, second, "config: ", " # end")
				checkFound(t, randomSecret(r), first, second, "a", "b")
				if t.Failed() {
					return
				}
			}
		}
	}
}

func FuzzDisguises(f *testing.F) {
	f.Add(`canary&<aa"4711`, uint8(1), uint8(4), "x", "y")
	f.Add("000000000", uint8(0), uint8(36), "0", "00000000")
	f.Add("two\nlines 'of' \\text\x00\xff", uint8(14), uint8(28), "", "=")
	ways := disguises()
	f.Fuzz(func(t *testing.T, secret string, first, second uint8, before, after string) {
		if !worthHiding(secret) || len(secret)+len(before)+len(after) > 1<<12 {
			return
		}
		checkFound(t, secret, ways[int(first)%len(ways)], ways[int(second)%len(ways)], before, after)
	})
}

// A text made to take long is not searched to its end: all of it counts as a place of
// what is looked for.
func TestATextThatTakesTooLongIsOneSpan(t *testing.T) {
	const size = 1 << 17
	for name, c := range map[string]struct{ needle, text string }{
		"one letter":  {strings.Repeat("a", size/2) + "b", strings.Repeat("a", size)},
		"backslashes": {strings.Repeat(`\`, size/16) + "b", strings.Repeat(`\`, size)},
		"quotes":      {strings.Repeat(`'`, size/16) + "b", strings.Repeat(`'`, size)},
		"blanks":      {strings.Repeat("a ", size/64) + "b", strings.Repeat("a \n", size/2)},
		"digits":      {"abcdefghijkl", strings.Repeat("%2B", size/8)},
	} {
		found := New([]Needle{{Text: c.needle, Inside: true}}).Find(c.text)
		if len(found) != 1 || found[0] != (Span{From: 0, To: len(c.text), Part: true}) {
			t.Errorf("%s: %d places, want all of the text", name, len(found))
		}
	}
}

// What is not a form of a needle is left alone, however similar it is.
func TestWhatIsNotThereIsNotFound(t *testing.T) {
	f := New([]Needle{{Text: "root", Value: "short"}, {Text: "hunter2hunter2", Value: "long", Inside: true}, {Text: "a b c d e f", Value: "words", Inside: true}})
	for _, text := range []string{
		"rootless", "/chroot/x", "cm9vdGxlc3M=", "hunter2-hunter2", "hunter2hunter", "aHVudGVyMmh1bnRlcg==", "abcdef", "a b c d e", "root://db",
		strings.Repeat("lorem ipsum dolor sit amet ", 50), `{"root:`, "%72oot2", "3b1c7a0e6f4d4a52b7e5c8d9f0a1b2c3",
	} {
		for _, s := range f.Find(text) {
			if text[s.From:s.To] != "root" || text != `{"root:` {
				t.Errorf("%q is found in %q", text[s.From:s.To], text)
			}
		}
	}
}

// The value of a place says which needle is there.
func TestAPlaceKnowsItsNeedle(t *testing.T) {
	f := New([]Needle{{Text: "first <secret>", Value: "one", Inside: true}, {Text: "second", Value: "two"}, {Text: "cert\n", Value: "three"}})
	for text, want := range map[string]string{
		`first \u003csecret\u003e`: "one", "first &lt;secret&gt;": "one", "Zmlyc3QgPHNlY3JldD4=": "one", "Zmlyc3QgPHNlY3JldD4K": "one",
		"second": "two", "cert": "three",
	} {
		found := f.Find(text)
		if len(found) != 1 || found[0] != (Span{From: 0, To: len(text), Value: want}) {
			t.Errorf("%q: %+v, want one place of %s", text, found, want)
		}
	}
}

// everywhere is find without what passes over places; ok is false if it takes too long.
func (w *search) everywhere(s string) (found []Span, ok bool) {
	w.s, w.found, w.steps = s, nil, leastSteps+stepsPerByte*len(s)
	for i := range len(s) {
		w.keys(i, "", func(start string) { w.try(start, i, false) })
	}
	return w.found, w.steps >= 0
}

// TestPassedOverPlacesHaveNothing: the places at which no needle can begin are passed over, and no other ones.
func TestPassedOverPlacesHaveNothing(t *testing.T) {
	pieces := append(strings.Split("a b c + | ' \" $ & % \\ = \n \t é \x00 \xff \ufffd", " "), " ", "  ", `\n`, "%20", "&quot;", `\"`, "''", `'\''`, "\\\n", "$$", `\u00e9`, "+|")
	random := rand.New(rand.NewPCG(3, 4))
	text := func(least, most int) string {
		var b strings.Builder
		for range least + random.IntN(most-least) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	found := 0
	for range 200 {
		var needles []Needle
		for range 1 + random.IntN(4) {
			needle := text(4, 8)
			needles = append(needles, Needle{Text: needle, Value: needle, Inside: random.IntN(2) == 0})
		}
		f := New(needles)
		for range 50 {
			n := needles[random.IntN(len(needles))].Text
			in := text(0, 6) + disguises()[random.IntN(len(disguises()))].put(n) + text(0, 6)
			want, ok := (&search{Finder: f}).everywhere(in)
			if got := (&search{Finder: f}).find(in, 0, false); ok && !slices.Equal(got, want) {
				t.Fatalf("of %+v in %q there is %+v, and %+v is found", needles, in, want, got)
			}
			found += len(want)
		}
	}
	if found < 1000 {
		t.Errorf("only %d places", found)
	}
}
