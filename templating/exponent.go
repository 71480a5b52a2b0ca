package templating

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Numbers of values files and of JSON are floats, and Go writes large ones with
// an exponent, 1000000 as 1e+06; so does Helm 4.3.1. What follows finds where
// that happens to whole numbers and the result stays a text.

// exponentText is how a large whole float prints when that is with an exponent,
// else "".
func exponentText(v any) string {
	f, ok := v.(float64)
	if !ok || math.Abs(f) < 1e6 || f != math.Trunc(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// wrote notes a number that the function which makes texts has put into one.
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

// printed notes a number printed amid a text. On its own behind a key or a dash
// it is still a number to YAML.
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

// maxExponents bounds what one render tells.
const maxExponents = 100

func (s *state) exponent() {
	at := s.located(s.tmpl, s.node)
	place := Place{File: at.File, Line: at.Line}
	if len(s.exponents) < maxExponents && !slices.Contains(s.exponents, place) {
		s.exponents = append(s.exponents, place)
	}
}
