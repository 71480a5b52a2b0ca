package values

import (
	"os"
	"testing"
)

// Seeds are checked in below testdata/fuzz.

// FuzzSet feeds one text to every --set flag, on top of a table with all kinds
// of values: no panic, whatever the text.
func FuzzSet(f *testing.F) {
	requireSeeds(f, "testdata/fuzz/FuzzSet")
	f.Fuzz(func(t *testing.T, text string) {
		base := files{"base": "a: {b: 1, c: [1, {d: 2}, [3]], none: null}\ns: text\n"}
		for _, s := range []Sources{{Set: []string{text}}, {String: []string{text}}, {JSON: []string{text}}, {File: []string{text}}, {Literal: []string{text}}} {
			s.Files = []string{"base"}
			if v, _, err := s.Merge(base.read); err == nil && v == nil {
				t.Error("neither values nor error")
			}
		}
	})
}

// FuzzParse reads any text as values: a table or an error.
func FuzzParse(f *testing.F) {
	requireSeeds(f, "testdata/fuzz/FuzzParse")
	f.Fuzz(func(t *testing.T, data []byte) {
		v, _, err := Parse(data, "v")
		if (v == nil) == (err == nil) {
			t.Errorf("values %v, error %v", v, err)
		}
	})
}

func requireSeeds(f *testing.F, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		f.Fatalf("no seeds in %s: %v", dir, err)
	}
}
