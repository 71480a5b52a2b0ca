package manifest

import (
	"slices"
	"strings"
)

// cutFlow cuts off the flow collection that a text begins with: one of simple scalars
// and other such collections, on one line.
func (p *plainReader) cutFlow(text string, depth int) (v any, rest string, ok bool) {
	if text[0] == '{' {
		return p.cutFlowMapping(text[1:], depth)
	}
	return p.cutFlowSequence(text[1:], depth)
}

// maxFlowDepth is how deep flow collections may be nested to be plain.
const maxFlowDepth = 8

func (p *plainReader) cutFlowSequence(text string, depth int) (v any, rest string, ok bool) {
	list := []any{}
	for first := true; depth < maxFlowDepth; first = false {
		text = strings.TrimLeft(text, " ")
		if first && strings.HasPrefix(text, "]") {
			return list, strings.TrimLeft(text[1:], " "), true
		}
		var more bool
		if v, text, more, ok = p.cutFlowValue(text, ']', depth); !ok {
			break
		}
		if p.build {
			list = append(list, v)
		}
		if !more {
			return list, text, true
		}
	}
	return nil, "", false
}

func (p *plainReader) cutFlowMapping(text string, depth int) (v any, rest string, ok bool) {
	table := map[string]any{}
	var keys []string
	for first := true; depth < maxFlowDepth; first = false {
		text = strings.TrimLeft(text, " ")
		if first && strings.HasPrefix(text, "}") {
			return table, strings.TrimLeft(text[1:], " "), true
		}
		key := flowWord(text)
		after, found := strings.CutPrefix(text[len(key):], ": ")
		if !found || !isWord(key) || slices.Contains(keys, key) {
			break
		}
		keys = append(keys, key)
		var more bool
		if v, text, more, ok = p.cutFlowValue(strings.TrimLeft(after, " "), '}', depth); !ok {
			break
		}
		if p.build {
			table[key] = v
		}
		if !more {
			return table, text, true
		}
	}
	return nil, "", false
}

// cutFlowValue cuts off a value and the comma after it, or the bracket that closes its
// collection: then there are no more.
func (p *plainReader) cutFlowValue(text string, closing byte, depth int) (v any, rest string, more, ok bool) {
	if v, rest, ok = p.cutFlowItem(text, depth); !ok || rest == "" || rest[0] != ',' && rest[0] != closing {
		return nil, "", false, false
	}
	return v, strings.TrimLeft(rest[1:], " "), rest[0] == ',', true
}

func (p *plainReader) cutFlowItem(text string, depth int) (v any, rest string, ok bool) {
	if text == "" {
		return nil, "", false
	}
	switch first := text[0]; first {
	case '[', '{':
		return p.cutFlow(text, depth+1)
	case '"', '\'':
		end := strings.IndexByte(text[1:], first) + 1
		if end == 0 || strings.IndexByte(text[:end], '\\') >= 0 {
			return nil, "", false
		}
		return text[1:end], strings.TrimLeft(text[end+1:], " "), true
	}
	word := flowWord(text)
	if word == "" || !isLetter(word[0]) && !isDigit(word[0]) {
		return nil, "", false
	}
	v, ok = p.plainValue(word)
	return v, strings.TrimLeft(text[len(word):], " "), ok
}

// flowWord returns the word that a text begins with, "" when it begins with anything else.
func flowWord(text string) string {
	end := 0
	for end < len(text) && keyByte(text[end]) {
		end++
	}
	return text[:end]
}
