package redact

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// object copies an object of a manifest, a patch of one, or a part of one, and
// masks secret values in it. With secret set it is a Secret: everything in its
// data is masked, and so is the copy of it that kubectl keeps.
func (m *Mask) object(v any, secret bool) any {
	fields, ok := v.(map[string]any)
	if !secret || !ok {
		return m.Tree(v)
	}
	out := make(map[string]any, len(fields))
	for key, value := range fields {
		if key == "data" || key == "stringData" {
			out[key] = m.all(value)
			continue
		}
		out[m.name(key)] = m.Tree(value)
	}
	if meta, ok := out["metadata"].(map[string]any); ok {
		if notes, ok := meta["annotations"].(map[string]any); ok && notes[lastApplied] != nil {
			notes[lastApplied] = m.all(notes[lastApplied])
		}
	}
	return out
}

// Tree is a copy of what JSON decodes to, in which secret values and values
// named like credentials are replaced by tokens.
func (m *Mask) Tree(v any) any {
	if m == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		name, _ := v["name"].(string)
		for key, value := range v {
			if (isCredential(key) || key == "value" && isCredential(name)) && isSecretScalar(value) {
				out[m.name(key)] = m.all(value)
				continue
			}
			out[m.name(key)] = m.Tree(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.Tree(item)
		}
		return out
	case string:
		return m.Text(v)
	}
	if text, ok := jsontree.ScalarText(v); ok && m.Text(text) != text {
		return m.Text(text)
	}
	return v
}

// all copies a value with every scalar masked. Nil stays nil: there is nothing.
func (m *Mask) all(v any) any {
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
	text, ok := jsontree.ScalarText(v)
	return ok && text != "" && text[0] != '$'
}
