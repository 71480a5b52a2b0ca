package jsontree

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// ScalarText returns a string or number as text, and whether v is one.
func ScalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case int32, uint, uint32, uint64:
		return fmt.Sprint(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32), true
	}
	return "", false
}

// Plain converts typed maps and lists, such as map[string]string, to the types of
// decoded JSON.
func Plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, map[string]any, []any:
		return v
	}
	if _, ok := ScalarText(v); ok {
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return string(raw)
	}
	return out
}
