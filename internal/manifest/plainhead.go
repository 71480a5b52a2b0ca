package manifest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// plainHead reads the head of a document that is written in plain block YAML,
// as nearly all are, and says false of every other one: those are for the YAML
// library. What it takes the library takes too, with the same head, which
// FuzzPlainHead holds; it is there because it is forty times as fast, and reading heads was
// half of the time of rendering a chart with large CRDs.
//
// Plain are mappings and sequences by indentation, scalars in every block
// style and simple flow collections, without tabs, anchors, tags, odd keys or keys
// that come twice.
func plainHead(text string) (Head, bool) {
	if !plainText(text) {
		return Head{}, false
	}
	p := plainReader{rest: text}
	p.advance()
	if p.ended || p.indent != 0 || isItem(p.text) {
		return Head{}, false
	}
	if !p.mapping(0, inTop) || !p.ended {
		return Head{}, false
	}
	return p.head, true
}

// section is the part of the head that is being read.
type section int

const (
	inBody section = iota
	inTop
	inMetadata
	inAnnotations
)

// plainReader walks over the lines of a document. Its methods return false
// where the document is not plain.
type plainReader struct {
	rest   string // what follows the current line
	indent int    // of the current line
	text   string // the current line without blanks around it
	// commented says that comments stood before the current line.
	commented bool
	ended     bool
	depth     int
	head      Head
	seen      map[string]bool
	// keys are those of the mappings being read, the innermost last.
	keys []string
}

// maxPlainDepth is how deep collections may be nested to be plain.
const maxPlainDepth = 64

// line takes the next line as it stands.
func (p *plainReader) line() (line string, ok bool) {
	if p.rest == "" {
		p.ended = true
		return "", false
	}
	line, p.rest, _ = strings.Cut(p.rest, "\n")
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

func (p *plainReader) mapping(indent int, in section) bool {
	if p.depth++; p.depth > maxPlainDepth {
		return false
	}
	outer := len(p.keys)
	for !p.ended && p.indent == indent && !isItem(p.text) {
		key, rest, ok := cutKey(p.text)
		if !ok || !p.fresh(outer, key) || !p.entry(indent, in, key, rest) {
			return false
		}
	}
	p.keys = p.keys[:outer]
	p.depth--
	// A deeper line that nobody took is out of place.
	return p.ended || p.indent <= indent
}

// fresh refuses a key that its mapping has already, for the YAML library to tell,
// and mappings that are too large to be looked through.
func (p *plainReader) fresh(outer int, key string) bool {
	const maxKeys = 512
	if len(p.keys)-outer >= maxKeys || slices.Contains(p.keys[outer:], key) {
		return false
	}
	p.keys = append(p.keys, key)
	return true
}

// entry reads the value of a key; what the head needs of it is kept.
func (p *plainReader) entry(indent int, in section, key, rest string) bool {
	switch in {
	case inTop:
		return p.topEntry(indent, key, rest)
	case inMetadata:
		return p.metadataEntry(indent, key, rest)
	case inAnnotations:
		return p.known(indent, rest, func(v string) { p.head.Metadata.Annotations[key] = v }) && isWord(key)
	case inBody:
	}
	return p.value(indent, rest, inBody)
}

func (p *plainReader) topEntry(indent int, key, rest string) bool {
	switch key {
	case "apiVersion":
		return p.once(key) && p.known(indent, rest, func(v string) { p.head.APIVersion = v })
	case "kind":
		return p.once(key) && p.known(indent, rest, func(v string) { p.head.Kind = v })
	case "metadata":
		if !p.once(key) {
			return false
		}
		p.head.Metadata = &Metadata{}
		return p.nestedMapping(indent, rest, inMetadata)
	}
	return !strings.EqualFold(key, "apiVersion") && !strings.EqualFold(key, "kind") && !strings.EqualFold(key, "metadata") &&
		p.value(indent, rest, inBody)
}

func (p *plainReader) metadataEntry(indent int, key, rest string) bool {
	switch key {
	case "name":
		return p.once("metadata.name") && p.known(indent, rest, func(v string) { p.head.Metadata.Name = v })
	case "annotations":
		if !p.once("metadata.annotations") {
			return false
		}
		p.head.Metadata.Annotations = map[string]string{}
		return p.nestedMapping(indent, rest, inAnnotations)
	}
	return !strings.EqualFold(key, "name") && !strings.EqualFold(key, "annotations") && p.value(indent, rest, inBody)
}

// once refuses keys of the head that come twice.
func (p *plainReader) once(key string) bool {
	if p.seen[key] {
		return false
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[key] = true
	return true
}

// known reads a value that is certainly a string, on one line.
func (p *plainReader) known(indent int, rest string, keep func(string)) bool {
	v, ok := certainString(rest)
	if !ok {
		return false
	}
	keep(v)
	p.advance()
	return p.ended || p.indent <= indent
}

// nestedMapping reads the mapping that is the value of a key.
func (p *plainReader) nestedMapping(indent int, rest string, in section) bool {
	if isNothing(rest) {
		p.advance()
		if p.ended || p.indent <= indent || isItem(p.text) {
			return false
		}
		if p.text != "{}" {
			return p.mapping(p.indent, in) && (p.ended || p.indent <= indent)
		}
		rest = p.text
	}
	p.advance()
	return rest == "{}" && (p.ended || p.indent <= indent)
}

// value reads what follows a key or the dash of an item.
func (p *plainReader) value(indent int, rest string, in section) bool {
	if !isNothing(rest) {
		return p.scalar(indent, rest)
	}
	p.advance()
	switch {
	case p.ended || p.indent < indent:
		return true
	case p.indent == indent:
		return !isItem(p.text) || p.sequence(indent)
	case isItem(p.text):
		return p.sequence(p.indent) && (p.ended || p.indent <= indent)
	case p.text[0] == '{' || p.text[0] == '[':
		return p.scalar(indent, p.text)
	}
	return p.mapping(p.indent, in) && (p.ended || p.indent <= indent)
}

func (p *plainReader) sequence(indent int) bool {
	if p.depth++; p.depth > maxPlainDepth {
		return false
	}
	for !p.ended && p.indent == indent && isItem(p.text) {
		if !p.item(indent) {
			return false
		}
	}
	p.depth--
	return p.ended || p.indent <= indent
}

func (p *plainReader) item(indent int) bool {
	rest := strings.TrimLeft(p.text[1:], " ")
	switch {
	case isNothing(rest):
		p.advance()
		switch {
		case p.ended || p.indent <= indent:
			return true
		case isItem(p.text):
			return p.sequence(p.indent)
		}
		return p.mapping(p.indent, inBody)
	case isItem(rest):
		return false
	}
	if _, _, ok := cutKey(rest); ok {
		p.indent += len(p.text) - len(rest)
		p.text = rest
		return p.mapping(p.indent, inBody)
	}
	return p.scalar(indent, rest)
}

// plainText says whether a text holds nothing but spaces, line feeds and
// printable characters that end no line in YAML.
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
