package report

import (
	"encoding/json"
	"fmt"
	"strconv"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// object copies an object of a manifest, a patch of one, or a part of one, and
// masks secret values in it. With secret set it is a Secret: everything in its
// data is masked, and so is the copy of it that kubectl keeps.
func (m *masker) object(v any, secret bool) any {
	fields, ok := v.(map[string]any)
	if !secret || !ok {
		return m.tree(v)
	}
	out := make(map[string]any, len(fields))
	for key, value := range fields {
		if key == "data" || key == "stringData" {
			out[key] = m.all(value)
			continue
		}
		out[m.name(key)] = m.tree(value)
	}
	if meta, ok := out["metadata"].(map[string]any); ok {
		if notes, ok := meta["annotations"].(map[string]any); ok && notes[lastApplied] != nil {
			notes[lastApplied] = m.all(notes[lastApplied])
		}
	}
	return out
}

// tree copies a value; secret values and values named like credentials are masked.
func (m *masker) tree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		name, _ := v["name"].(string)
		for key, value := range v {
			if (isCredential(key) || key == "value" && isCredential(name)) && isSecretScalar(value) {
				out[m.name(key)] = m.all(value)
				continue
			}
			out[m.name(key)] = m.tree(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.tree(item)
		}
		return out
	case string:
		return m.text(v)
	}
	if text, ok := scalarText(v); ok && m.text(text) != text {
		return m.text(text)
	}
	return v
}

// all copies a value with every scalar masked. Nil stays nil: there is nothing.
func (m *masker) all(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[m.name(key)] = m.all(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.all(item)
		}
		return out
	case string:
		return m.token(v)
	}
	return m.token(fmt.Sprint(v))
}

// isSecretScalar says whether a value can be a credential: a reference to a
// variable, a truth value or a structure can't.
func isSecretScalar(v any) bool {
	text, ok := scalarText(v)
	return ok && text != "" && text[0] != '$'
}

// scalarText is a string or number as text.
func scalarText(v any) (string, bool) {
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

// plainTree turns the typed maps and lists that a change may hold into the
// types of decoded JSON.
func plainTree(v any) any {
	switch v := v.(type) {
	case nil, bool, string, map[string]any, []any:
		return v
	}
	if _, ok := scalarText(v); ok {
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
