package report

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token stands for a value that is not printed: "(sensitive 9f2c…)". Equal
// values of one plan have equal tokens.
const (
	tokenOpen  = "(sensitive "
	tokenClose = "…)"
	tokenHash  = 4
)

func isToken(s string) bool {
	return len(s) == len(tokenOpen)+tokenHash+len(tokenClose) &&
		strings.HasPrefix(s, tokenOpen) && strings.HasSuffix(s, tokenClose)
}

// tokenID is the hash in a token: "9f2c…".
func tokenID(token string) string {
	return token[len(tokenOpen):len(tokenOpen)+tokenHash] + "…"
}

type span struct{ from, to int }

// masker replaces secret values by tokens.
//
// A token's hash is an HMAC whose key is made of all secret values of the plan:
// who does not know the others can't try guesses at one. Only 16 bits of it are
// printed: they tell values apart and don't identify one.
type masker struct {
	secrets *secrets
	key     []byte
	// byStart holds the forms to look for by their first bytes, longest first.
	byStart map[string][]string
}

func newMasker(s *secrets, salt string) *masker {
	m := &masker{secrets: s, byStart: map[string][]string{}}
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "kubectl release plan %q\n", salt))
	values := map[string]bool{}
	for _, form := range slices.Sorted(maps.Keys(s.plain)) {
		values[s.plain[form]] = true
		if !s.weak[form] {
			start := form[:minSecret]
			m.byStart[start] = append(m.byStart[start], form)
		}
	}
	for _, value := range slices.Sorted(maps.Keys(values)) {
		h.Write(fmt.Appendf(nil, "%q\n", value))
	}
	m.key = h.Sum(nil)
	for _, forms := range m.byStart {
		slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return m
}

// token is what is printed instead of a value in any of its forms.
func (m *masker) token(value string) string {
	if isToken(value) {
		return value
	}
	if plain, known := m.secrets.plain[value]; known {
		value = plain
	}
	h := hmac.New(sha256.New, m.key)
	h.Write([]byte(value))
	return tokenOpen + hex.EncodeToString(h.Sum(nil))[:tokenHash] + tokenClose
}

// text replaces every secret value in a text.
func (m *masker) text(s string) string {
	if s == "" || isToken(s) {
		return s
	}
	spans := append(m.find(s), urlPasswords(s)...)
	if from := assignment(s); from > 0 {
		spans = append(spans, span{from, len(s)})
	}
	if len(spans) == 0 {
		if decoded, ok := decode(s); ok && len(s) >= minLine && len(m.find(decoded)) > 0 {
			return m.token(s)
		}
		return s
	}
	var b strings.Builder
	at := 0
	for _, found := range merge(spans) {
		b.WriteString(s[at:found.from])
		b.WriteString(m.token(s[found.from:found.to]))
		at = found.to
	}
	return b.String() + s[at:]
}

// name replaces secret values in keys and paths. Those are mostly field names,
// so values that are short, or only letters and not long, are let through.
func (m *masker) name(s string) string {
	for _, found := range m.find(s) {
		value := s[found.from:found.to]
		onlyLetters := strings.IndexFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
		const longest = 16 // of a field's name
		if len(value) >= longest || len(value) >= minInside && !onlyLetters {
			return m.text(s)
		}
	}
	return s
}

// find lists the places of secret values. They may overlap.
func (m *masker) find(s string) []span {
	var found []span
	for i := 0; i+minSecret <= len(s); i++ {
		for _, form := range m.byStart[s[i:i+minSecret]] {
			if strings.HasPrefix(s[i:], form) && (isLong(form) || standsAlone(s, i, i+len(form))) {
				if !isLong(form) && strings.HasPrefix(s[i+len(form):], "://") { // a user named as the scheme
					break
				}
				found = append(found, span{i, i + len(form)})
				break
			}
		}
	}
	return found
}

// isLong says whether a value is masked inside of words, too.
func isLong(form string) bool {
	if strings.Trim(form, "abcdefghijklmnopqrstuvwxyz") == "" {
		return len(form) >= minWordInside
	}
	return len(form) >= minInside
}

func standsAlone(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}
