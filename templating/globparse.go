package templating

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var errGlob = errors.New("not a pattern")

// parseGlob reads a pattern (gobwas/glob v0.2.3, syntax/lexer/lexer.go and syntax/ast/parser.go).
// Braces need not be closed.
func parseGlob(pattern string) (glob, error) {
	if len(pattern) > maxGlob {
		return nil, fmt.Errorf("the pattern is longer than %d KiB", maxGlob>>10)
	}
	if !utf8.ValidString(pattern) {
		return nil, errGlob
	}
	return (&globParser{pattern}).sequence(false)
}

type globParser struct{ rest string }

// next takes one rune; ok is false at the end.
func (p *globParser) next() (r rune, ok bool) {
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	return r, size > 0
}

// take takes the text if it comes next.
func (p *globParser) take(text string) (ok bool) {
	p.rest, ok = strings.CutPrefix(p.rest, text)
	return ok
}

// sequence reads parts; those of a term end at a comma or brace, which is left. A last backslash is
// nothing.
func (p *globParser) sequence(inTerm bool) (glob, error) {
	var g glob
	for p.rest != "" && p.rest != `\` && (!inTerm || strings.IndexByte(",}", p.rest[0]) < 0) {
		part, err := p.part(inTerm)
		if err != nil {
			return nil, err
		}
		again := part.wild == anything && len(g) > 0 && g[len(g)-1].wild == anything
		if !again {
			g = append(g, part)
		}
	}
	return g, nil
}

func (p *globParser) part(inTerm bool) (globPart, error) {
	switch {
	case p.take("**"):
		return globPart{wild: anything, runes: -1}, nil
	case p.take("*"):
		return globPart{wild: anyInFolder, runes: -1}, nil
	case p.take("?"):
		return globPart{wild: anyRune, runes: 1}, nil
	case p.take("["):
		class, err := p.class()
		return globPart{class: class, runes: 1}, err
	case p.take("{"):
		terms, err := p.terms()
		return oneOf(factored(terms)), err
	}
	special := "?*[{"
	if inTerm {
		special += "},"
	}
	text := p.text(special)
	return globPart{text: text, runes: utf8.RuneCountInString(text)}, nil
}

func (p *globParser) terms() (terms []glob, err error) {
	for {
		term, err := p.sequence(true)
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
		if !p.take(",") {
			p.take("}")
			return terms, nil
		}
	}
}

// text reads up to one of the characters in until; a backslash escapes any.
func (p *globParser) text(until string) string {
	var b strings.Builder
	for p.rest != "" && strings.IndexByte(until, p.rest[0]) < 0 {
		p.take(`\`)
		if r, ok := p.next(); ok {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// class reads what follows an opening bracket.
func (p *globParser) class() (*runeClass, error) {
	c := &runeClass{not: p.take("!")}
	rest := p.rest
	var ok bool
	if c.lo, ok = p.next(); ok && p.take("-") {
		c.hi, ok = p.next()
		ok = ok && c.lo <= c.hi
	} else {
		p.rest = rest
		c.chars = p.text("]")
		ok = c.chars != ""
	}
	if !ok || !p.take("]") {
		return nil, errGlob
	}
	return c, nil
}
