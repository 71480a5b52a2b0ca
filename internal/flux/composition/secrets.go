package composition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// SecretTexts returns the content of a Secret, and the strings and numbers in it where it is YAML: what
// is to be masked.
func SecretTexts(data []byte) [][]byte {
	out := [][]byte{data}
	text, err := yaml.YAMLToJSON(data)
	if err != nil {
		return out
	}
	var table any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&table) != nil {
		return out
	}
	return append(out, texts(table)...)
}

// minDigits is the minimum number of digits of a number that is masked, as in redact for strings.
const minDigits = 4

// texts returns the strings, and the numbers that are masked, in a value.
func texts(v any) (out [][]byte) {
	switch v := v.(type) {
	case string:
		return [][]byte{[]byte(v)}
	case json.Number:
		if len(strings.Trim(v.String(), "-")) < minDigits {
			return nil
		}
		out = [][]byte{[]byte(v)}
		if f, err := v.Float64(); err == nil { // as templates print it
			out = append(out, []byte(fmt.Sprint(f)))
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // the first of several forms of a value decides its token
			out = append(out, texts(v[key])...)
		}
	case []any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	}
	return out
}
