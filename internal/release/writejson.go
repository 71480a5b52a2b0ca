package release

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// manifestMark stands for the manifest while the rest of a record is encoded: the manifest of
// 10,000 objects is 3 MB, and json.Marshal would hold it several times.
const manifestMark = "\x00manifest\x00"

// writeNew writes a record that was not read.
func (r *Revision) writeNew(w io.Writer) error {
	type plain Revision
	next := plain(*r)
	if next.Manifest == "" {
		return writeValue(w, &next)
	}
	mark, err := json.Marshal(manifestMark)
	if err != nil {
		return fmt.Errorf("mark the manifest: %w", err)
	}
	next.Manifest = manifestMark
	data, err := json.Marshal(&next)
	if err != nil {
		return err
	}
	before, after, found := bytes.Cut(data, mark)
	if !found || bytes.Contains(after, mark) { // values may hold anything
		next.Manifest = r.Manifest
		return writeValue(w, &next)
	}
	if _, err := w.Write(before); err != nil {
		return err
	}
	if err := writeString(w, r.Manifest); err != nil {
		return err
	}
	_, err = w.Write(after)
	return err
}

func writeValue(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// writeString writes a text as json.Marshal does, piece by piece.
func writeString(w io.Writer, text string) error {
	const most = 64 << 10
	if _, err := io.WriteString(w, `"`); err != nil {
		return err
	}
	for len(text) > 0 {
		end := min(most, len(text))
		for end < len(text) && end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		data, err := json.Marshal(text[:end])
		if err == nil {
			_, err = w.Write(data[1 : len(data)-1])
		}
		if err != nil {
			return err
		}
		text = text[end:]
	}
	_, err := io.WriteString(w, `"`)
	return err
}

// beginning are the fields that a record begins with, in the order in which writeNew and Helm (4.3.1,
// pkg/release/v1/release.go) write them. A reader of the outline stops after the chart's metadata.
var beginning = []string{"name", "info", "chart"}

// byPosition compares fields by their position in a record: those of the beginning, and then the others, sorted.
func byPosition(a, b string) int {
	position := func(name string) int {
		if i := slices.Index(beginning, name); i >= 0 {
			return i
		}
		return len(beginning)
	}
	return cmp.Or(cmp.Compare(position(a), position(b)), cmp.Compare(a, b))
}

// writeFields writes an object with the fields and a manifest, as compact as json.Marshal does.
func writeFields(w io.Writer, fields map[string]json.RawMessage, manifest string) error {
	names := slices.Collect(maps.Keys(fields))
	if manifest != "" {
		names = append(names, "manifest")
	}
	slices.SortFunc(names, byPosition)
	before := "{"
	for _, name := range slices.Compact(names) {
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		before = ","
		if err := writeValue(w, name); err != nil {
			return err
		}
		if _, err := io.WriteString(w, ":"); err != nil {
			return err
		}
		var err error
		if name == "manifest" && manifest != "" {
			err = writeString(w, manifest)
		} else {
			err = writeValue(w, fields[name])
		}
		if err != nil {
			return err
		}
	}
	if before == "{" {
		_, err := io.WriteString(w, "{}")
		return err
	}
	_, err := io.WriteString(w, "}")
	return err
}
