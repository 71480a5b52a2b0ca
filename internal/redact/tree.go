package redact

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

const lastApplied = corev1.LastAppliedConfigAnnotation

// object masks secret values in an object of a manifest, a patch of one, or a part of one, as Tree
// does. If secret is true, it is a Secret: all of its data is masked, whatever the name, and so is kubectl's copy in
// the last-applied annotation.
func (m *Mask) object(v any, secret bool) any {
	fields, ok := v.(map[string]any)
	if !secret || !ok {
		return m.Tree(v)
	}
	out := make(map[string]any, len(fields))
	for key, value := range fields {
		if serverfields.IsSecretField(key) {
			out[key] = m.all(value)
			continue
		}
		out[m.name(key)] = m.Tree(value)
	}
	if meta, ok := out["metadata"].(map[string]any); ok {
		if notes, ok := meta["annotations"].(map[string]any); ok && notes[lastApplied] != nil {
			meta, notes = maps.Clone(meta), maps.Clone(notes)
			out["metadata"], meta["annotations"] = meta, notes
			notes[lastApplied] = m.all(notes[lastApplied])
		}
	}
	return out
}

// Tree returns decoded JSON with secret values, and values named like credentials, replaced by
// tokens. Parts without any are shared with v: a plan has thousands of objects.
func (m *Mask) Tree(v any) any {
	if m == nil {
		return v
	}
	masked, _ := m.tree(v)
	return masked
}

func (m *Mask) tree(v any) (masked any, changed bool) {
	switch v := v.(type) {
	case map[string]any:
		return m.table(v)
	case []any:
		out := v
		for i, item := range v {
			masked, differs := m.tree(item)
			if followsOption(v, i) {
				masked, differs = m.all(item), true
			}
			if differs {
				if !changed {
					out, changed = slices.Clone(v), true
				}
				out[i] = masked
			}
		}
		return out, changed
	}
	if text, ok := jsontree.ScalarText(v); ok {
		if masked := m.text(text, false); masked != text {
			return masked, true
		}
	}
	return v, false
}

func (m *Mask) table(v map[string]any) (masked map[string]any, changed bool) {
	masked = v
	for key, value := range v {
		var next any
		var differs bool
		switch {
		case (isNamed(v, key) || key == "auth") && isSecretScalar(value), isSecretData(v, key):
			next, differs = m.all(value), true
		case key == lastApplied:
			next, differs = m.copyOf(value)
		default:
			next, differs = m.tree(value)
		}
		as := m.name(key)
		if !differs && as == key {
			continue
		}
		if !changed {
			masked, changed = maps.Clone(v), true
		}
		if as != key {
			delete(masked, key)
		}
		masked[as] = next
	}
	return masked, changed
}

// copyOf masks kubectl's copy of an object, whose values may be older than those of the object.
func (m *Mask) copyOf(v any) (masked any, changed bool) {
	object, ok := appliedObject(lastApplied, v)
	if !ok {
		return m.tree(v)
	}
	if object, changed = m.tree(object); !changed {
		return v, false
	}
	out, err := json.Marshal(object)
	if err != nil {
		return m.all(v), true
	}
	return m.Text(string(out)), true
}

// appliedObject returns the object in kubectl's annotation; ok is false for other keys, and for
// what is not JSON.
func appliedObject(key string, v any) (object any, ok bool) {
	text, is := v.(string)
	if !is || key != lastApplied {
		return nil, false
	}
	return parseJSON([]byte(text))
}

// all returns a copy of a value with every scalar masked. nil stays nil.
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

// isSecretScalar reports whether a value can be a credential: references to variables, booleans and
// structures can't.
func isSecretScalar(v any) bool {
	text, ok := jsontree.ScalarText(v)
	return ok && text != "" && !isReference(text)
}
