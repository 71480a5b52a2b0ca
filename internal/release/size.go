package release

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"slices"
)

// PartSize is how much of a record one part of the revision takes.
type PartSize struct {
	// What is "the manifest", "the values", "templates/web.yaml" …
	What string
	// Bytes is its size in the record as if it were compressed on its own: records are gzip in
	// base64.
	Bytes int
}

// LargestParts returns the parts of a revision that take most of its record, at most so many, the
// largest first.
func LargestParts(r *Revision, most int) []PartSize {
	var parts []PartSize
	add := func(what string, data []byte) {
		if len(data) > 0 {
			parts = append(parts, PartSize{what, packedSize(data)})
		}
	}
	add("the manifest", []byte(r.Manifest))
	add("the notes", []byte(r.Info.Notes))
	add("the values", asJSON(r.Config))
	for _, h := range r.Hooks {
		add("hook "+h.Kind+"/"+h.Name, []byte(h.Manifest))
	}
	if c := r.Chart; c != nil {
		add("values.yaml", asJSON(c.Values))
		add("values.schema.json", c.Schema)
		for _, f := range slices.Concat(c.Templates, c.Files) {
			if f != nil {
				add(f.Name, f.Data)
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b PartSize) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return parts[:min(most, len(parts))]
}

func asJSON(values map[string]any) []byte {
	if len(values) == 0 {
		return nil
	}
	data, err := json.Marshal(values)
	if err != nil {
		return nil // encoding such a record reports the error
	}
	return data
}

// packedSize returns approximately the length of base64(gzip(data)).
func packedSize(data []byte) int {
	var n counter
	w := gzip.NewWriter(&n)
	_, _ = w.Write(data) // a counter never fails
	_ = w.Close()
	return int(n) * 4 / 3
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
