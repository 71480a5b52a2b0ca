package manifest

import "strings"

// plainHead reads the head of a document that is written in plain block YAML, as nearly all
// are, and returns false for every other one: those are left to the YAML library. Whatever
// it accepts the library accepts too, with the same head, as FuzzPlainHead checks. It
// exists because it is forty times as fast, and reading heads was half of the time of
// rendering a chart with large CRDs.
//
// Plain means mappings and sequences by indentation, scalars in every block style and
// simple flow collections, without tabs, anchors, tags, odd keys or duplicate keys.
func plainHead(text string) (Head, bool) {
	if !plainText(text) {
		return Head{}, false
	}
	p := plainReader{rest: text}
	_, ok := p.document(inTop)
	return p.head, ok
}

// plainTree returns the whole document as the YAML library and JSON decode it, with whole
// numbers as int64; its strings are parts of text. It accepts values whose type is certain, on
// one line or in a literal block: parsing with the library was a third of what a plan
// allocates.
func plainTree(text string) (map[string]any, bool) {
	if !plainText(text) {
		return nil, false
	}
	p := plainReader{rest: text, build: true}
	v, ok := p.document(inBody)
	tree, _ := v.(map[string]any)
	return tree, ok
}

// section is the part of the head that is being read.
type section int

const (
	inBody section = iota
	inTop
	inMetadata
	inAnnotations
)

// entry reads the value of a key. What the head needs is stored in the head and not returned.
func (p *plainReader) entry(indent int, in section, key, rest string) (v any, ok bool) {
	switch in {
	case inTop:
		return p.topEntry(indent, key, rest)
	case inMetadata:
		return p.metadataEntry(indent, key, rest)
	case inAnnotations:
		text, ok := p.known(indent, rest)
		p.head.Metadata.Annotations[key] = text
		return nil, ok && isWord(key)
	case inBody:
	}
	return p.value(indent, rest)
}

func (p *plainReader) topEntry(indent int, key, rest string) (v any, ok bool) {
	switch key {
	case "apiVersion":
		p.head.APIVersion, ok = p.known(indent, rest)
		return nil, ok
	case "kind":
		p.head.Kind, ok = p.known(indent, rest)
		return nil, ok
	case "metadata":
		p.head.Metadata = &Metadata{}
		return p.nestedMapping(indent, rest, inMetadata)
	}
	if strings.EqualFold(key, "apiVersion") || strings.EqualFold(key, "kind") || strings.EqualFold(key, "metadata") {
		return nil, false
	}
	return p.value(indent, rest)
}

func (p *plainReader) metadataEntry(indent int, key, rest string) (v any, ok bool) {
	switch key {
	case "name":
		p.head.Metadata.Name, ok = p.known(indent, rest)
		return nil, ok
	case "annotations":
		p.head.Metadata.Annotations = map[string]string{}
		return p.nestedMapping(indent, rest, inAnnotations)
	}
	if strings.EqualFold(key, "name") || strings.EqualFold(key, "annotations") {
		return nil, false
	}
	return p.value(indent, rest)
}

// known reads a value that is certainly a string, on one line.
func (p *plainReader) known(indent int, rest string) (text string, ok bool) {
	if text, ok = certainString(rest); !ok {
		return "", false
	}
	p.advance()
	return text, p.done(indent)
}

// nestedMapping reads the mapping that is the value of a key.
func (p *plainReader) nestedMapping(indent int, rest string, in section) (v any, ok bool) {
	if isNothing(rest) {
		p.advance()
		if p.ended || p.indent <= indent || isItem(p.text) {
			return nil, false
		}
		if p.text != "{}" {
			v, ok = p.mapping(p.indent, in)
			return v, ok && p.done(indent)
		}
		rest = p.text
	}
	p.advance()
	return nil, rest == "{}" && p.done(indent)
}
