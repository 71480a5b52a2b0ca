package release

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// What begins an entry of a list or mapping counts, unless it is in a text, wherever the record is
// split while it is written.
func TestEntries(t *testing.T) {
	for record, want := range map[string]int{
		`{}`:                                  1,
		`{"a":1,"b":[]}`:                      3,
		`{"a":",[{"}`:                         1,
		`{"a":"\",[{"}`:                       1,
		`{"a":"\\",[`:                         3,
		`{"a":"\\\",[{"}`:                     1,
		`{"\"":{"a":[0,0,0]}}`:                5,
		`{"hooks":[0,0,0]}`:                   2 + 2*listEntry,
		`{"hooks":[{"a":1,"b":[0,0]},0]}`:     6 + listEntry,
		`{"hooks":[],"config":{"a":1,"b":1}}`: 5,
		`not JSON ]]]], "`:                    1,
	} {
		for split := range len(record) {
			var e Entries
			for _, part := range []string{record[:split], record[split : split+1], record[split+1:]} {
				if n, err := e.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if e.N != want {
				t.Errorf("%s, split at %d: %d entries, want %d", record, split, e.N, want)
			}
		}
	}
}

// A record is refused before more entries than are allowed are read, and otherwise counted.
func TestTooManyEntries(t *testing.T) {
	record := `{"info":{},"chart":{},"config":{"a":"` + strings.Repeat(`,`, 100) + `"},"manifest":"` + strings.Repeat(`[{,`, 100) + `","hooks":[{"name":"b"},{"name":"c"}]}`
	for name, read := range map[string]func(entries *int) (*Revision, error){
		"whole": func(entries *int) (*Revision, error) { return Read([]byte(record), entries) },
		"sent":  func(entries *int) (*Revision, error) { return ReadPart(strings.NewReader(record), Sent, 1000, entries) },
		"hooks": func(entries *int) (*Revision, error) {
			return ReadPart(strings.NewReader(record), HookRuns, 1000, entries)
		},
	} {
		entries := 100
		r, err := read(&entries)
		if err != nil || len(r.Hooks) != 2 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
		used := 100 - entries
		if used < 2+listEntry || used > 20+listEntry {
			t.Errorf("%s: %d entries", name, used)
		}
		entries = used - 1
		if r, err := read(&entries); !errors.Is(err, ErrTooMany) || entries != used-1 {
			t.Errorf("%s: %v, %v, %d left", name, r, err, entries)
		}
	}
	if err := new(Revision).UnmarshalJSON(fmt.Appendf(nil, `{"config":{"a":[%s0]}}`, strings.Repeat("0,", MaxEntries))); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
}
