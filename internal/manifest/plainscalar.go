package manifest

import "strings"

func isItem(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

// isNothing reports whether the line has no value, only a comment at most.
func isNothing(rest string) bool { return rest == "" || rest[0] == '#' }

// cutKey splits "key: value" and "key:". A key is a plain word, or quoted without
// escapes.
func cutKey(text string) (key, rest string, ok bool) {
	const maxKey = 128
	end := 0
	if q := text[0]; q == '"' || q == '\'' {
		end = strings.IndexByte(text[1:], q)
		if end < 0 || strings.IndexByte(text[1:end+1], '\\') >= 0 {
			return "", "", false
		}
		key, end = text[1:end+1], end+2
	} else {
		for end < len(text) && keyByte(text[end]) {
			end++
		}
		if key = text[:end]; !isPlainKey(key) {
			return "", "", false
		}
	}
	if end >= len(text) || end > maxKey || text[end] != ':' || end+1 < len(text) && text[end+1] != ' ' {
		return "", "", false
	}
	return key, strings.TrimLeft(text[end+1:], " "), true
}

// isPlainKey reports whether a key without quotes is a string, and so equals another
// one only when both are written alike: 0 and 00 are one number.
func isPlainKey(key string) bool {
	switch {
	case key == "" || key[0] == '-' || key[0] == '.':
		return false
	case isLetter(key[0]):
		return isWord(key)
	case isDigit(key[0]): // with a letter that no number or time has
		return strings.ContainsAny(strings.ToLower(key), "ghijklmnpqrsuvwy")
	}
	return true
}

func keyByte(b byte) bool {
	return isLetter(b) || isDigit(b) || b == '_' || b == '.' || b == '/' || b == '-' || b == '$'
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }

// scalar reads a value that begins on this line. Its further lines are indented deeper
// than its parent.
func (p *plainReader) scalar(parent int, text string) (v any, ok bool) {
	switch text[0] {
	case '|', '>':
		return p.literal(parent, text)
	case '"', '\'':
		return p.quoted(parent, text)
	case '[', '{':
		text, _ = cutComment(text)
		v, rest, ok := p.cutFlow(text, 0)
		if !ok || rest != "" {
			return nil, false
		}
		p.advance()
		return v, p.done(parent)
	default:
		return p.plain(parent, text)
	}
}

// plain reads a scalar without quotes, over as many lines as it has.
func (p *plainReader) plain(parent int, text string) (v any, ok bool) {
	if !beginsPlain(text) {
		return nil, false
	}
	text, comment := cutComment(text)
	if text == "" || strings.Contains(text, ": ") || text[len(text)-1] == ':' {
		return nil, false
	}
	if v, ok = p.plainValue(text); !ok {
		return nil, false
	}
	p.advance()
	if p.done(parent) {
		return v, true
	}
	if comment || p.build { // a comment ends the scalar, so this line is not part of it
		return nil, false
	}
	return nil, p.plainRest(parent)
}

// beginsPlain reports whether a scalar without quotes may begin like this. It excludes
// what JSON has no number for (.inf, .nan), and every indicator that could mean
// something else.
func beginsPlain(text string) bool {
	first, next := text[0], byte(' ')
	if len(text) > 1 {
		next = text[1]
	}
	switch {
	case isLetter(first) || isDigit(first):
		return true
	case first == '-':
		return isLetter(next) || isDigit(next) || next == '-'
	case first == ':':
		return isLetter(next)
	case first == '.':
		return next|0x20 != 'i' && next|0x20 != 'n'
	}
	return strings.IndexByte("_/(<$~^;", first) >= 0
}

// plainRest reads the lines of a plain scalar after the first one.
func (p *plainReader) plainRest(parent int) bool {
	for !p.ended && p.indent > parent {
		if p.commented || strings.Contains(p.text, " #") || strings.Contains(p.text, ": ") || p.text[len(p.text)-1] == ':' {
			return false
		}
		p.advance()
	}
	return true
}

func cutComment(text string) (before string, comment bool) {
	if i := strings.Index(text, " #"); i >= 0 {
		return strings.TrimRight(text[:i], " "), true
	}
	return text, false
}

// quoted reads a scalar in quotes up to the closing one.
func (p *plainReader) quoted(parent int, text string) (v any, ok bool) {
	quote := text[0]
	text = text[1:]
	for {
		end, ok := closing(text, quote)
		if !ok || end < 0 && p.build {
			return nil, false
		}
		if end >= 0 {
			after := text[end+1:]
			if trimmed := strings.TrimLeft(after, " "); trimmed != "" && (trimmed == after || trimmed[0] != '#') {
				return nil, false
			}
			if p.build {
				v = quotedText(text[:end], quote)
			}
			p.advance()
			return v, p.done(parent)
		}
		for text = ""; text == ""; text = p.text {
			line, more := p.line()
			if !more {
				return nil, false
			}
			if p.set(line); p.text != "" && p.indent <= parent {
				return nil, false
			}
		}
	}
}

// closing finds the quote that ends a scalar, -1 where it continues on the next line.
// Escapes of characters by number are not plain.
func closing(text string, quote byte) (end int, ok bool) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			if i++; i < len(text) && strings.IndexByte(`"\ntr`, text[i]) < 0 {
				return 0, false
			}
		case text[i] != quote:
		case quote == '\'' && i+1 < len(text) && text[i+1] == '\'':
			i++
		default:
			return i, true
		}
	}
	return -1, true
}

// literal reads the lines of a block scalar.
func (p *plainReader) literal(parent int, header string) (v any, ok bool) {
	header, _ = cutComment(header)
	folded, chomping := header[0] == '>', header[1:]
	if chomping != "" && chomping != "-" && chomping != "+" || folded && p.build {
		return nil, false
	}
	var lines []string
	content, blank := -1, 0
	for {
		before := p.rest
		line, more := p.line()
		if !more {
			return p.literalText(lines, content, chomping), content > 0 && (p.closed || !p.build)
		}
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		switch {
		case trimmed == "":
			if content < 0 {
				blank = max(blank, indent)
			}
		case content < 0:
			if content = indent; indent <= parent || blank > indent {
				return nil, false
			}
		case indent < content:
			p.rest = before
			p.advance()
			return p.literalText(lines, content, chomping), indent <= parent
		}
		if p.build {
			lines = append(lines, line)
		}
	}
}

// certainString returns a value on one line that every version of YAML takes for a
// string.
func certainString(rest string) (value string, ok bool) {
	if isNothing(rest) {
		return "", false
	}
	if q := rest[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(rest[1:], q) + 1
		if end == 0 || strings.IndexByte(rest[:end], '\\') >= 0 || end+1 < len(rest) {
			return "", false
		}
		return rest[1:end], true
	}
	rest, _ = cutComment(rest)
	if !isWord(rest) || strings.Contains(rest, ": ") || rest[len(rest)-1] == ':' {
		return "", false
	}
	return rest, true
}

// isWord reports whether a plain scalar begins with a letter and is not one of YAML
// 1.1's words for booleans and null.
func isWord(text string) bool {
	if text == "" || !isLetter(text[0]) {
		return false
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return true
}
