package sdk

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// plainTable returns a copy of values in which maps and lists of any Go type, such as []string, are
// those of decoded JSON: nothing else is compared with the values of stored revisions. Other types
// are what encoding/json makes of them.
func plainTable(values map[string]any) (map[string]any, error) {
	if values == nil {
		return nil, nil
	}
	table := make(map[string]any, len(values))
	for key, value := range values {
		var err error
		if table[key], err = plain(value); err != nil {
			return nil, fmt.Errorf("value %s: %w", key, err)
		}
	}
	return table, nil
}

func plain(value any) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		return plainTable(v)
	case nil, json.Marshaler, encoding.TextMarshaler, json.Number, []byte:
		return decoded(v)
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return int64(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		number, err := decoded(value)
		if whole, is := number.(int64); is {
			number = float64(whole)
		}
		return number, err
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return decoded(value)
		}
		table := make(map[string]any, v.Len())
		for entries := v.MapRange(); entries.Next(); {
			table[entries.Key().String()] = entries.Value().Interface()
		}
		return plainTable(table)
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			var err error
			if list[i], err = plain(v.Index(i).Interface()); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return list, nil
	default:
		return decoded(value)
	}
}

// decoded returns what encoding/json makes of a value. Whole numbers stay whole: templates print large
// floats as 1e+06.
func decoded(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		return nil, err
	}
	return jsontree.Canonical(out), nil
}
