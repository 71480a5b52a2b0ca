package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// scanJSON splits a JSON index into charts.
func scanJSON(r io.Reader, keep keep) (head, error) {
	d := json.NewDecoder(r)
	var h head
	seen := map[string]bool{}
	err := object(d, func(key string) error {
		if seen[key] {
			return fmt.Errorf("key %q occurs twice", key)
		}
		seen[key] = true
		switch key {
		case "apiVersion":
			return d.Decode(&h.APIVersion)
		case "generated":
			return d.Decode(&h.Generated)
		case "entries":
			return entriesJSON(d, keep)
		}
		var other json.RawMessage
		return d.Decode(&other)
	})
	return h, err
}

// entriesJSON reads the value of the key entries, which may be null.
func entriesJSON(d *json.Decoder, keep keep) error {
	return object(d, func(name string) error {
		var list json.RawMessage
		if err := d.Decode(&list); err != nil {
			return err
		}
		if len(list) > maxChartBytes {
			return fmt.Errorf("chart %q is larger than %d MiB", name, maxChartBytes>>20)
		}
		if list[0] != '[' {
			list = nil // null means a chart without versions
		}
		return keep(name, list)
	})
}

// object reads an object, or null, and calls each for every key; each reads the value itself.
func object(d *json.Decoder, each func(key string) error) error {
	t, err := d.Token()
	switch {
	case err != nil:
		return err
	case t == nil:
		return nil
	case t != json.Delim('{'):
		return errors.New("expected an object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return fmt.Errorf("%v is not a key", key)
		}
		if err := each(name); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
