package manifest

import (
	"slices"
	"strings"
)

// isFlow says whether a line is one flow collection of simple scalars and other
// such collections.
func isFlow(text string) bool {
	rest, ok := cutFlow(text, 0)
	return ok && rest == ""
}

// cutFlow cuts the collection that a text begins with.
func cutFlow(text string, depth int) (rest string, ok bool) {
	const maxDepth = 8
	closing := byte(']')
	if text[0] == '{' {
		closing = '}'
	}
	text = strings.TrimLeft(text[1:], " ")
	if text != "" && text[0] == closing {
		return strings.TrimLeft(text[1:], " "), true
	}
	var keys []string
	for text != "" && depth < maxDepth {
		if closing == '}' {
			key := flowWord(text)
			after, found := strings.CutPrefix(text[len(key):], ": ")
			if !found || !isWord(key) || slices.Contains(keys, key) {
				return "", false
			}
			keys = append(keys, key)
			text = strings.TrimLeft(after, " ")
		}
		if text, ok = cutFlowValue(text, depth); !ok || text == "" {
			return "", false
		}
		switch text[0] {
		case closing:
			return strings.TrimLeft(text[1:], " "), true
		case ',':
			text = strings.TrimLeft(text[1:], " ")
		default:
			return "", false
		}
	}
	return "", false
}

func cutFlowValue(text string, depth int) (rest string, ok bool) {
	if text == "" {
		return "", false
	}
	switch first := text[0]; first {
	case '[', '{':
		return cutFlow(text, depth+1)
	case '"', '\'':
		end := strings.IndexByte(text[1:], first) + 1
		if end == 0 || strings.IndexByte(text[:end], '\\') >= 0 {
			return "", false
		}
		return strings.TrimLeft(text[end+1:], " "), true
	}
	word := flowWord(text)
	if word == "" || !isLetter(word[0]) && !isDigit(word[0]) {
		return "", false
	}
	return strings.TrimLeft(text[len(word):], " "), true
}

// flowWord is the word that a text begins with, "" when it begins otherwise.
func flowWord(text string) string {
	end := 0
	for end < len(text) && keyByte(text[end]) {
		end++
	}
	return text[:end]
}
