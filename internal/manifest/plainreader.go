package manifest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// plainReader walks over the lines of a document. Its methods return false
// where the document is not plain.
type plainReader struct {
	// build says that values are wanted, too; without it they are nil.
	build  bool
	rest   string // what follows the current line
	indent int    // of the current line
	text   string // the current line without blanks around it
	// commented says that there were comments before the current line.
	commented bool
	// closed says that the current line ends with a line feed.
	closed bool
	ended  bool
	depth  int
	head   Head
	// keys are those of the mappings being read, the innermost last.
	keys []string
}

// maxPlainDepth is how deep collections may be nested to be plain.
const maxPlainDepth = 64

// line returns the next line, unchanged.
func (p *plainReader) line() (line string, ok bool) {
	if p.rest == "" {
		p.ended = true
		return "", false
	}
	line, p.rest, p.closed = strings.Cut(p.rest, "\n")
	return line, true
}

// advance goes to the next line that is neither blank nor a comment.
func (p *plainReader) advance() {
	p.commented = false
	for {
		line, ok := p.line()
		if !ok {
			p.text = ""
			return
		}
		p.set(line)
		switch {
		case p.text == "":
		case p.text[0] == '#':
			p.commented = true
		default:
			return
		}
	}
}

func (p *plainReader) set(line string) {
	trimmed := strings.TrimLeft(line, " ")
	p.indent, p.text = len(line)-len(trimmed), strings.TrimRight(trimmed, " ")
}

// document reads the mapping that makes up the document.
func (p *plainReader) document(in section) (v any, ok bool) {
	p.advance()
	if p.ended || p.indent != 0 || isItem(p.text) {
		return nil, false
	}
	v, ok = p.mapping(0, in)
	return v, ok && p.ended
}

// done reports whether the value of a key or item at indent has ended: a deeper line that
// is left over is out of place.
func (p *plainReader) done(indent int) bool { return p.ended || p.indent <= indent }

func (p *plainReader) mapping(indent int, in section) (v any, ok bool) {
	if p.depth++; p.depth > maxPlainDepth {
		return nil, false
	}
	var table map[string]any
	if p.build {
		table = map[string]any{}
	}
	outer := len(p.keys)
	for !p.ended && p.indent == indent && !isItem(p.text) {
		key, rest, ok := cutKey(p.text)
		if !ok || !p.fresh(outer, key) {
			return nil, false
		}
		v, ok := p.entry(indent, in, key, rest)
		if !ok {
			return nil, false
		}
		if p.build {
			table[key] = v
		}
	}
	p.keys = p.keys[:outer]
	p.depth--
	return table, p.done(indent)
}

// fresh rejects a key that its mapping already has, which the YAML library will report,
// and mappings that are too large to search.
func (p *plainReader) fresh(outer int, key string) bool {
	const maxKeys = 512
	if len(p.keys)-outer >= maxKeys || slices.Contains(p.keys[outer:], key) {
		return false
	}
	p.keys = append(p.keys, key)
	return true
}

// value reads what follows a key or the dash of an item.
func (p *plainReader) value(indent int, rest string) (v any, ok bool) {
	if !isNothing(rest) {
		return p.scalar(indent, rest)
	}
	p.advance()
	switch {
	case p.ended || p.indent < indent, p.indent == indent && !isItem(p.text):
		return nil, true
	case isItem(p.text):
		v, ok = p.sequence(p.indent)
	case p.text[0] == '{' || p.text[0] == '[':
		return p.scalar(indent, p.text)
	default:
		v, ok = p.mapping(p.indent, inBody)
	}
	return v, ok && p.done(indent)
}

func (p *plainReader) sequence(indent int) (v any, ok bool) {
	if p.depth++; p.depth > maxPlainDepth {
		return nil, false
	}
	list := []any{}
	for !p.ended && p.indent == indent && isItem(p.text) {
		v, ok := p.item(indent)
		if !ok {
			return nil, false
		}
		if p.build {
			list = append(list, v)
		}
	}
	p.depth--
	return list, p.done(indent)
}

func (p *plainReader) item(indent int) (v any, ok bool) {
	rest := strings.TrimLeft(p.text[1:], " ")
	switch {
	case isNothing(rest):
		p.advance()
		switch {
		case p.done(indent):
			return nil, true
		case isItem(p.text):
			return p.sequence(p.indent)
		}
		return p.mapping(p.indent, inBody)
	case isItem(rest):
		return nil, false
	}
	if _, _, ok := cutKey(rest); ok {
		p.indent += len(p.text) - len(rest)
		p.text = rest
		return p.mapping(p.indent, inBody)
	}
	return p.scalar(indent, rest)
}

// plainText reports whether a text has only spaces, line feeds and printable characters
// that are not line breaks in YAML.
func plainText(text string) bool {
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			if b < ' ' && b != '\n' || b == 0x7f {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError || r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r >= 0xfffe && r <= 0xffff {
			return false
		}
		i += size
	}
	return true
}
