package values

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// textScalars reads "text" and "{a,b}", for --set, --set-string and --set-file. convert returns the
// value of a text.
type textScalars struct {
	convert func(text string) (any, error)
}

func (t textScalars) keyEnds() string { return "=[,." }

func (t textScalars) read(in *input) (any, error) {
	if in.rest() == "" {
		return "", errEnd
	}
	if in.accept('{') {
		return t.list(in)
	}
	text, _, _ := in.until(",")
	return t.convert(text)
}

func (t textScalars) list(in *input) (any, error) {
	list := []any{}
	for {
		text, stop, ended := in.until(",}")
		if ended {
			return nil, errors.New("a list must end with }")
		}
		v, err := t.convert(text)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if stop == '}' {
			in.accept(',')
			return list, nil
		}
	}
}

// typed converts a text by the rules of --set: true, false and null in any case, and whole numbers;
// a number with a leading zero stays text.
func typed(text string) (any, error) {
	switch {
	case strings.EqualFold(text, "true"):
		return true, nil
	case strings.EqualFold(text, "false"):
		return false, nil
	case strings.EqualFold(text, "null"):
		return nil, nil
	case text == "0":
		return int64(0), nil
	case text == "" || text[0] == '0':
		return text, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	return text, nil
}

func untyped(text string) (any, error) { return text, nil }

// jsonScalars reads a JSON document; a missing one is null. With exact, numbers keep their text.
type jsonScalars struct{ exact bool }

func (jsonScalars) keyEnds() string { return "=[,." }

func (j jsonScalars) read(in *input) (any, error) {
	if in.blank() {
		return nil, nil
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(in.rest()))
	if j.exact {
		dec.UseNumber()
	}
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	in.pos += int(dec.InputOffset())
	in.blank()
	return v, nil
}

// literalScalars reads the whole rest as text.
type literalScalars struct{}

func (literalScalars) keyEnds() string { return "=[." }

func (literalScalars) read(in *input) (any, error) {
	text, _, _ := in.until("")
	return text, nil
}
