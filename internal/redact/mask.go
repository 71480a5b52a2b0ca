package redact

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-release/kubectl-release/internal/haystack"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A token replaces a value that is not printed: "(sensitive 9f2c…)". Equal values of one plan have
// equal tokens.
const (
	tokenOpen  = "(sensitive "
	tokenClose = "…)"
	tokenHash  = 4
)

// IsToken reports whether s is a token and nothing else.
func IsToken(s string) bool {
	return len(s) == len(tokenOpen)+tokenHash+len(tokenClose) &&
		strings.HasPrefix(s, tokenOpen) && strings.HasSuffix(s, tokenClose)
}

// TokenID returns the hash in a token: "9f2c…". Its argument must be a token.
func TokenID(token string) string {
	return token[len(tokenOpen):len(tokenOpen)+tokenHash] + "…"
}

// Mask replaces secret values in everything that is printed of a plan, and along with it:
// errors, progress, logs, records. It is safe for concurrent use. A nil *Mask masks nothing.
//
// A token's hash is an HMAC whose key is derived from all secret values of the plan: nobody can
// test a guess at one value without knowing the others. Only 16 bits of the hash are printed,
// enough to distinguish values and too few to identify one.
type Mask struct {
	secrets *secrets
	key     []byte
	// tokens caches the tokens of secrets.
	tokens map[string]string
	finder *haystack.Finder
	// clean are the objects (*unstructured.Unstructured) in which nothing is masked, however secrets are spelled. A plan's
	// objects stay as they are once it is made.
	clean *sync.Map
	// plans are the plans that the secrets come from: they also say what is public.
	plans []*plan.Plan
	// spell returns the replacement of a secret; nil means its token.
	spell func(secret string) string
}

func newMask(s *secrets, salt string) *Mask {
	s.unify()
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "kubectl release plan %q\n", salt))
	for _, value := range slices.Sorted(maps.Keys(s.added)) {
		h.Write(fmt.Appendf(nil, "%q\n", value))
	}
	m := &Mask{secrets: s, key: h.Sum(nil), tokens: map[string]string{}, finder: haystack.New(s.needles()), clean: &sync.Map{}}
	for _, value := range s.plain {
		if m.tokens[value] == "" {
			m.tokens[value] = m.tokenOf(value)
		}
	}
	return m
}

// token returns the replacement of a value in any of its forms.
func (m *Mask) token(value string) string {
	if IsToken(value) {
		return value
	}
	if plain, known := m.secrets.plain[value]; known {
		return m.tokenOf(plain)
	}
	for _, found := range m.find(value) {
		if found.From == 0 && found.To == len(value) && !found.Part {
			return m.tokenOf(found.Value)
		}
	}
	return m.tokenOf(value)
}

func (m *Mask) tokenOf(secret string) string {
	if m.spell != nil {
		return m.spell(secret)
	}
	if token, known := m.tokens[secret]; known {
		return token
	}
	h := hmac.New(sha256.New, m.key)
	h.Write([]byte(secret))
	return tokenOpen + hex.EncodeToString(h.Sum(nil))[:tokenHash] + tokenClose
}

// find returns the spans of secret values, which may overlap.
func (m *Mask) find(s string) []haystack.Span { return m.finder.Find(s) }

// Text replaces every secret value in s by its token.
func (m *Mask) Text(s string) string { return m.text(s, true) }

// text is Text for prose, or for a text in an object or in values, which may be a configuration file.
func (m *Mask) text(s string, prose bool) string {
	if m == nil || s == "" || IsToken(s) {
		return s
	}
	return m.replace(s, slices.Concat(m.find(s), credentialsIn(s), settings(s, prose)))
}

// Lines replaces every secret value in the lines of a text, also those of several lines; each of these
// becomes one line. It returns at least one line.
func (m *Mask) Lines(lines []string) []string {
	if m == nil {
		return lines
	}
	return strings.Split(m.Text(strings.Join(lines, "\n")), "\n")
}

// replace replaces the spans by tokens.
func (m *Mask) replace(s string, spans []haystack.Span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, found := range merge(spans) {
		b.WriteString(s[at:found.From])
		if found.Part {
			b.WriteString(m.token(s[found.From:found.To]))
		} else {
			b.WriteString(m.tokenOf(found.Value))
		}
		at = found.To
	}
	return b.String() + s[at:]
}

// name replaces secret values in keys and paths. Most of these are field names, so a value that is
// short, or consists only of letters and is not long, is not replaced.
func (m *Mask) name(s string) string {
	if isFieldName(s) { // and so is every part of it
		return s
	}
	for _, found := range m.find(s) {
		if !isFieldName(s[found.From:found.To]) {
			return m.Text(s)
		}
	}
	return s
}

// isFieldName reports whether a key can be the name of a field, rather than hold a secret.
func isFieldName(s string) bool {
	const longest = 16 // longer than names of fields
	return len(s) < minInside || len(s) < longest && isLetters(s)
}

// paths is like name, for each of the paths.
func (m *Mask) paths(paths []string) []string {
	out := slices.Clone(paths)
	for i := range out {
		out[i] = m.name(out[i])
	}
	return out
}

// merge joins overlapping spans.
func merge(spans []haystack.Span) []haystack.Span {
	slices.SortFunc(spans, func(a, b haystack.Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
	var out []haystack.Span
	for _, s := range spans {
		n := len(out)
		if n == 0 || s.From >= out[n-1].To {
			out = append(out, s)
			continue
		}
		if last := &out[n-1]; s.To > last.To {
			last.To, last.Part = s.To, true
		}
	}
	return out
}
