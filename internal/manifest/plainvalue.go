package manifest

import (
	"strconv"
	"strings"
)

// plainValue returns what a scalar without quotes means, where every YAML library agrees.
// When no values are wanted, it accepts anything.
func (p *plainReader) plainValue(text string) (v any, ok bool) {
	if !p.build {
		return nil, true
	}
	switch text {
	case "true", "false":
		return text == "true", true
	case "null", "~":
		return nil, true
	}
	switch first := text[0]; {
	case isLetter(first):
		return text, isWord(text)
	case isDigit(first):
		return plainNumber(text)
	case first == '-' && len(text) > 1 && isDigit(text[1]):
		return wholeNumber(text)
	case first == '-':
		return text, len(text) > 1 && (isLetter(text[1]) || text[1] == '-')
	}
	return text, strings.IndexByte("_/($", text[0]) >= 0
}

// plainNumber returns the value of a scalar that begins with a digit: a whole number, or
// a string that can't be a number or a time, such as 100m, 16Mi or 1.2.3.
func plainNumber(text string) (v any, ok bool) {
	if v, ok = wholeNumber(text); ok {
		return v, true
	}
	if strings.ContainsAny(strings.ToLower(text), noNumber) {
		return text, true
	}
	dotted := strings.Count(text, ".") >= 2 && strings.Trim(text, "0123456789.") == ""
	return text, dotted
}

// noNumber are the letters that no number or time has.
const noNumber = "ghijklmnpqrsuvwy"

// wholeNumber reads digits that no version of YAML takes for anything but a decimal number.
func wholeNumber(text string) (v any, ok bool) {
	digits := strings.TrimPrefix(text, "-")
	const most = 18 // digits that fit into 64 bits
	if len(digits) > most || digits == "" || digits[0] == '0' && text != "0" || strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// quotedText returns the text between quotes on one line.
func quotedText(text string, quote byte) string {
	if quote == '\'' {
		return strings.ReplaceAll(text, "''", "'")
	}
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return escapes.Replace(text)
}

// escapes are those that closing accepts.
var escapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t", `\r`, "\r")

// literalText joins the lines of a block whose indentation is content.
func (p *plainReader) literalText(lines []string, content int, chomping string) any {
	if !p.build || content < 0 {
		return nil
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line[min(content, len(line)):])
		b.WriteByte('\n')
	}
	text := b.String()
	switch chomping {
	case "+":
		return text
	case "-":
		return strings.TrimRight(text, "\n")
	}
	return strings.TrimRight(text, "\n") + "\n"
}
