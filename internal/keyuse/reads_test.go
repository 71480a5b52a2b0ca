package keyuse

import (
	"slices"
	"testing"
)

// A table into which very many watched ones are merged stands for a hundred of them, so that a read of it
// takes no more steps; every key of the others counts as read.
func TestTablesStandForFew(t *testing.T) {
	var watch []Watched
	into := map[string]any{}
	args := []any{into}
	for range maxRecords + 50 {
		table := map[string]any{"a": 1, "b": 2}
		watch, args = append(watch, Watched{Tables: []map[string]any{table}, Keys: []string{"a", "b"}}), append(args, table)
	}
	r := New(watch)
	r.Call("merge", args)
	if n := len(r.tables[identity(into)]); n != maxRecords {
		t.Errorf("the merged table stands for %d tables", n)
	}
	r.Key(into, "a")
	for i, saw := range r.Seen(watch) {
		want := []string{"b"}
		if i >= maxRecords {
			want = nil
		}
		if !slices.Equal(saw.Unread, want) {
			t.Errorf("of table %d, %q are unread, want %q", i, saw.Unread, want)
		}
	}
}
