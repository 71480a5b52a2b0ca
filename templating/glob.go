package templating

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// glob is a pattern of .Files.Glob: parts that a file's path must match one after another. It matches
// what gobwas/glob v0.2.3 does, Helm 4.3.1's library, which can take exponential time.
type glob []globPart

// globPart is one part; one of its first four fields is set.
type globPart struct {
	text  string
	class *runeClass
	// terms are alternatives.
	terms []glob
	wild  wildcard
	// runes is the number of characters that gobwas takes the part to have, or -1.
	runes int
}

type wildcard int

const (
	anyRune     wildcard = iota + 1 // "?", all but a slash
	anyInFolder                     // "*"
	anything                        // "**"
)

// runeClass is [abc], [a-z] or the negation of one of them.
type runeClass struct {
	chars  string // "" for a range
	lo, hi rune
	not    bool
}

func (c *runeClass) has(r rune) bool {
	in := c.chars == "" && c.lo <= r && r <= c.hi || strings.ContainsRune(c.chars, r)
	return in != c.not
}

// globbing matches one path.
type globbing struct {
	path   string
	budget *budget.Budget
	// err ends the matching: the budget is used up.
	err error
}

// look counts positions that are looked at.
func (m *globbing) look(positions int) (ok bool) {
	if m.err == nil {
		m.err = m.budget.Step(1 + positions/globWork)
	}
	return m.err == nil
}

// ends are the positions in a path at which the parts so far can end.
type ends []bool

func (m *globbing) match(g glob) (bool, error) {
	start := make(ends, len(m.path)+1)
	start[0] = true
	end := m.after(g, start)
	return end[len(m.path)], m.err
}

// after returns where the parts of g can end.
func (m *globbing) after(g glob, at ends) ends {
	if len(g) == 3 && g[0].text != "" && g[1].wild == anything && g[2].text != "" {
		return m.between(g[0].text, g[2].text, at)
	}
	for i, part := range g {
		switch {
		case m.err != nil:
			return at
		case part.terms != nil && g.inRow(i):
			at = m.exactly(part, at)
		default:
			at = m.afterPart(part, at)
		}
	}
	return at
}

// exactly matches alternatives in a row: only texts of the length that gobwas takes them to have.
func (m *globbing) exactly(part globPart, at ends) ends {
	next := make(ends, len(at))
	for i := range at {
		if !at[i] || !m.look(len(at)+part.runes) {
			continue
		}
		end, left := i, part.runes
		for ; left > 0 && end < len(m.path); left-- {
			_, size := utf8.DecodeRuneInString(m.path[end:])
			end += size
		}
		within := globbing{path: m.path[i:end], budget: m.budget}
		for _, term := range part.terms {
			matches, err := within.match(term)
			next[end] = next[end] || matches && left == 0
			m.err = cmp.Or(m.err, err)
		}
	}
	return next
}

// between matches PREFIX**SUFFIX, which may share characters: config/**/a.yaml matches config/a.yaml
// (gobwas/glob v0.2.3, match/prefix_suffix.go, PrefixSuffix.Match).
func (m *globbing) between(prefix, suffix string, at ends) ends {
	next := make(ends, len(at))
	for i := range at {
		if !at[i] || !strings.HasPrefix(m.path[i:], prefix) || !m.look(len(at)*(1+len(suffix)/globWork)) {
			continue
		}
		for j := i + max(len(prefix), len(suffix)); j < len(at); j++ {
			next[j] = next[j] || strings.HasSuffix(m.path[:j], suffix)
		}
	}
	return next
}

func (m *globbing) afterPart(part globPart, at ends) ends {
	next := make(ends, len(at))
	if !m.look(len(at)) {
		return next
	}
	for _, term := range part.terms {
		for i, ok := range m.after(term, at) {
			next[i] = next[i] || ok
		}
	}
	within := false
	for i, here := range at {
		switch {
		case part.wild == anyInFolder || part.wild == anything:
			within = within || here
			next[i] = within
			within = within && (part.wild == anything || !strings.HasPrefix(m.path[i:], "/"))
		case here && part.text != "" && strings.HasPrefix(m.path[i:], part.text):
			next[i+len(part.text)] = true
		case here && i < len(m.path) && (part.wild == anyRune || part.class != nil):
			r, size := utf8.DecodeRuneInString(m.path[i:])
			if part.wild == anyRune && r != '/' || part.class != nil && part.class.has(r) {
				next[i+size] = true
			}
		}
	}
	return next
}
