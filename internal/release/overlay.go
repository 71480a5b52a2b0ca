package release

import (
	"bytes"
	"encoding/json"
)

// overlay applies the changes from was to now to stored; all are JSON texts. What did not change
// stays as it is in stored, including numbers too large for a float64 and fields that neither was
// nor now contains.
func overlay(stored, was, now json.RawMessage) (json.RawMessage, error) {
	if bytes.Equal(was, now) {
		return stored, nil
	}
	switch {
	case isJSON('{', stored, was, now):
		return overlayObject(stored, was, now)
	case isJSON('[', stored, was, now):
		return overlayList(stored, was, now)
	}
	return now, nil
}

func overlayObject(stored, was, now json.RawMessage) (json.RawMessage, error) {
	var fields, before, after map[string]json.RawMessage
	if err := unmarshalAll([]json.RawMessage{stored, was, now}, &fields, &before, &after); err != nil {
		return nil, err
	}
	if err := overlayFields(fields, before, after); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// overlayFields is overlay for the fields of an object; it changes fields.
func overlayFields(fields, before, after map[string]json.RawMessage) error {
	for name := range before {
		if _, kept := after[name]; !kept {
			delete(fields, name)
		}
	}
	for name, value := range after {
		previous, known := before[name]
		if known && bytes.Equal(previous, value) {
			continue
		}
		merged, err := overlay(fields[name], previous, value)
		if err != nil {
			return err
		}
		fields[name] = merged
	}
	return nil
}

// overlayList compares element by element if the lists have the same length; otherwise elements
// can't be matched, and the new list replaces the old one.
func overlayList(stored, was, now json.RawMessage) (json.RawMessage, error) {
	var items, before, after []json.RawMessage
	if err := unmarshalAll([]json.RawMessage{stored, was, now}, &items, &before, &after); err != nil {
		return nil, err
	}
	if len(items) != len(after) || len(before) != len(after) {
		return now, nil
	}
	for i := range items {
		merged, err := overlay(items[i], before[i], after[i])
		if err != nil {
			return nil, err
		}
		items[i] = merged
	}
	return json.Marshal(items)
}

func unmarshalAll[T any](texts []json.RawMessage, into ...*T) error {
	for i, text := range texts {
		if err := json.Unmarshal(text, into[i]); err != nil {
			return err
		}
	}
	return nil
}

// isJSON reports whether all texts begin with the delimiter.
func isJSON(delimiter byte, texts ...json.RawMessage) bool {
	for _, text := range texts {
		if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != delimiter {
			return false
		}
	}
	return true
}
