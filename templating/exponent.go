package templating

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Numbers in values files and JSON are floats, and Go prints large ones with an exponent, 1000000
// as 1e+06; so does Helm 4.3.1. The functions below find where that happens to a whole number whose
// text is not read as a number again.

// exponentText returns the text of a large whole float if it prints with an exponent, else "".
func exponentText(v any) string {
	f, ok := v.(float64)
	if !ok || math.Abs(f) < 1e6 || f != math.Trunc(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// wrote notes the place if a text function's result contains a number with an exponent.
func (s *state) wrote(name string, args []any, result any) {
	switch name {
	case "quote", "squote", "toString", "print", "println", "printf", "cat", "join":
	default:
		return
	}
	for _, a := range args {
		if in := exponentText(a); in != "" && strings.Contains(text(result), in) {
			s.exponent()
			return
		}
	}
}

// printed notes the place if a number with an exponent is printed within other text. On its own
// after a key or a dash it is still a number in YAML.
func (s *state) printed(v any) {
	if exponentText(v) == "" {
		return
	}
	line := bytes.TrimSpace(s.out[bytes.LastIndexByte(s.out, '\n')+1:])
	if len(line) == 0 || line[len(line)-1] == ':' || line[len(line)-1] == '-' {
		return
	}
	s.exponent()
}

// maxExponents limits how many places one render reports.
const maxExponents = 100

func (s *state) exponent() {
	at := s.located(s.tmpl, s.node)
	place := Place{File: at.File, Line: at.Line}
	if len(s.exponents) < maxExponents && !slices.Contains(s.exponents, place) {
		s.exponents = append(s.exponents, place)
	}
}
