package release

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// What is written piece by piece is what json.Marshal writes.
func TestWriteJSONWritesWhatMarshalWrites(t *testing.T) {
	type plain Revision
	for name, manifest := range map[string]string{
		"no manifest": "", "short": "a: 1\n", "long": strings.Repeat("# ä<&>\u2028\n", 30_000),
		"runes across pieces": "x" + strings.Repeat("€", 60_000), "not UTF-8": strings.Repeat("\xe2\x82", 70_000) + strings.Repeat("\x80", 140_000),
		"the mark": manifestMark,
	} {
		for values, config := range map[string]map[string]any{"": nil, ", the mark in the values": {"manifest": manifestMark, "a": "<b>"}} {
			t.Run(name+values, func(t *testing.T) {
				made := &Revision{Name: "web", Namespace: "shop", Version: 3, Manifest: manifest, Config: config}
				var got bytes.Buffer
				if err := made.WriteJSON(&got); err != nil {
					t.Fatal(err)
				}
				want, err := json.Marshal((*plain)(made))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Fatalf("%d bytes, want %d", got.Len(), len(want))
				}

				read, err := Read(bytes.Clone(want), new(MaxEntries))
				if err != nil {
					t.Fatal(err)
				}
				var fields map[string]any
				if err := json.Unmarshal(want, &fields); err != nil {
					t.Fatal(err)
				}
				sorted, err := json.Marshal(fields)
				if err != nil {
					t.Fatal(err)
				}
				got.Reset()
				if err := read.WriteJSON(&got); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), sorted) {
					t.Fatalf("read and written: %d bytes, want %d", got.Len(), len(sorted))
				}
			})
		}
	}
}
