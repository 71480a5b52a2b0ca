package releasestore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// A record of a few kilobytes that would take gigabytes in memory, though it unpacks to few bytes
// of JSON, is refused. (It is enough that it has more entries than are allowed.)
func TestEntriesHaveALimit(t *testing.T) {
	for name, tc := range map[string]struct {
		format, entry string
		each          int // what an entry counts at least
	}{
		"hooks that are none":   {`"hooks":[%s0]`, "0,", 10},
		"empty hooks":           {`"hooks":[%s{}]`, "{},", 11},
		"events of a hook":      {`"hooks":[{"events":[%s0]}]`, "0,", 1},
		"lists in values":       {`"config":{"a":[%s0]}`, "[],", 2},
		"mappings in values":    {`"config":{"a":[%s0]}`, `{"":0},`, 2},
		"defaults of the chart": {`"chart":{"values":{"a":[%s0]}}`, "{},", 2},
		"templates":             {`"chart":{"templates":[%s{}]}`, "{},", 2},
		"files":                 {`"chart":{"files":[%snull]}`, "null,", 1},
		"unknown fields":        {`"x":1%s`, `,"":0`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			record := `{"name":"web","version":1,"info":{"status":"deployed"},` + fmt.Sprintf(tc.format, strings.Repeat(tc.entry, release.MaxEntries/tc.each+1)) + `}`
			b := newMemoryBackend()
			plant(t, b, ObjectName("web", 1), pack([]byte(record)))
			s := open(b, testClock())
			_, err := s.Get(t.Context(), testKey(), 1)
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || !errors.Is(err, release.ErrTooMany) || corrupt.TooMuch() || !corrupt.OverLimit() {
				t.Errorf("got %.300v", err)
			}
		})
	}
}

// Records that are read together share the limit, and one that is refused for the others' sake can
// be told from one that is refused for its own.
func TestEntriesOfAHistory(t *testing.T) {
	b := newMemoryBackend()
	s := open(b, testClock())
	for version := 1; version <= 3; version++ {
		plant(t, b, ObjectName("web", version), pack(fmt.Appendf(nil,
			`{"name":"web","version":%d,"info":{"status":"failed"},"chart":{},"config":{"a":[%s0]}}`, version, strings.Repeat("0,", release.MaxEntries*2/5))))
	}
	h, err := s.History(t.Context(), testKey(), nil)
	corrupt, only := Corrupt(err)
	if !only || len(corrupt) != 1 || len(h) != 2 || !corrupt[0].TooMuch() || corrupt[0].Version != 1 {
		t.Errorf("%v, %.300v", h, err)
	}
}

// Records of large releases are far from the limit, since a manifest is one text; and what could
// not be read back is not written.
func TestLargeRecordsHaveFewEntries(t *testing.T) {
	r := testRevision(1, release.StatusDeployed)
	r.Manifest = strings.Repeat("---\nkind: ConfigMap\ndata: {a: [1, 2], \"b\": {}}\n", 10_000)
	values := make([]any, 100_000)
	r.Config = map[string]any{"list": values}
	r.Hooks = make([]release.Hook, 1_000)
	for i := range r.Hooks {
		r.Hooks[i].Hook = manifest.Hook{Name: "h", Manifest: r.Manifest[:1000], Events: []manifest.Event{manifest.Test}}
	}
	r.Chart = &chart.Chart{Metadata: &chart.Metadata{Name: "web"}}
	for i := range 5_000 {
		r.Chart.Files = append(r.Chart.Files, &chart.File{Name: fmt.Sprint(i), Data: []byte("[{,")})
	}
	b := newMemoryBackend()
	s := open(b, testClock())
	must(t, s.Create(t.Context(), r))
	if got, err := s.Get(t.Context(), testKey(), 1); err != nil || got.Manifest != r.Manifest || len(got.Hooks) != 1_000 {
		t.Errorf("%v", err)
	}
	r.Config["list"] = make([]any, release.MaxEntries)
	if _, err := Size(r); err == nil || !strings.Contains(err.Error(), "that can be read back") {
		t.Error(err)
	}
}
