package releasestore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// heavy returns a record of a few kilobytes that unpacks to size MiB, with info at
// its end.
func heavy(version, size int, info string) string {
	return pack(fmt.Appendf(nil, `{"manifest":"%s"%s,"version":%d}`, strings.Repeat("# aaaaaa", size<<17), info, version))
}

// Records that unpack to much more than others do not take the others' time or memory:
// all others are listed, and the large ones are refused once the budget is used up.
func TestListHasABudget(t *testing.T) {
	b := newMemoryBackend()
	s := open(b, testClock())
	record := heavy(1, 50, `,"info":{"status":"deployed"}`)
	for i := range 20 {
		plant(t, b, fmt.Sprintf("sh.helm.release.v1.bomb%d.v1", i), record)
	}
	must(t, s.Create(t.Context(), testRevision(1, release.StatusDeployed)))
	got, err := s.List(t.Context(), Query{})
	corrupt, only := Corrupt(err)
	if !only || len(corrupt)+len(got) != 21 || len(corrupt) < 15 {
		t.Fatalf("%d are listed, %d are not: %.200v", len(got), len(corrupt), err)
	}
	for _, e := range corrupt {
		if !e.TooMuch() || e.OverLimit() {
			t.Errorf("it is refused for itself, not for the others: %v", e)
		}
	}
	if last := got[len(got)-1]; last.Name != "web" || last.ChartLabel() == "" || last.Part() != release.Outline {
		t.Errorf("the last one is %+v", last)
	}
}

// The outline of a record that was read and written back stays at its beginning, however large the chart.
func TestUpdateLeavesTheOutlineAtTheBeginning(t *testing.T) {
	b := newMemoryBackend()
	s := open(b, testClock())
	made := testRevision(1, release.StatusDeployed)
	made.Chart.Files = []*chart.File{{Name: "zeros", Data: make([]byte, 5<<20)}}
	must(t, s.Create(t.Context(), made))
	read, err := s.Get(t.Context(), testKey(), 1)
	must(t, err)
	must(t, s.Update(t.Context(), read.WithStatus(release.StatusSuperseded, "")))
	a := newAllowance()
	outline, err := decode(b.objects[location{"shop", ObjectName("web", 1)}].record, release.Outline, maxBeginning, a)
	if err != nil || outline.Info.Status != release.StatusSuperseded || outline.ChartLabel() != "web-1.4.2" {
		t.Errorf("the outline is %v, %v", outline, err)
	}
	if scanned := maxScanned - a.scanned; scanned > 64<<10 {
		t.Errorf("%d bytes were unpacked for it", scanned)
	}
}

// A record that would be fine alone is refused for the limit that is exceeded, which is not that of a single
// record.
func TestScannedMoreThanTheBudget(t *testing.T) {
	record := heavy(1, 2, `,"info":{"status":"deployed"}`)
	for name, part := range map[string]release.Part{"outline": release.Outline, "whole": release.Whole} {
		a := newAllowance()
		a.scanned = 1 << 20
		_, err := decode(record, part, MaxUnpacked, a)
		e := &CorruptError{Reason: err}
		if want := "the records read together with it unpack to more than 192 MiB in all"; err == nil || err.Error() != want || !e.TooMuch() || e.OverLimit() {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// Only the requested parts of a history are read, within one budget. A record that exceeds it
// is named, and can be told from one that is damaged.
func TestHistoryHasABudget(t *testing.T) {
	b := newMemoryBackend()
	s := open(b, testClock())
	for version := 1; version <= 4; version++ {
		plant(t, b, ObjectName("web", version), heavy(version, 30, `,"name":"web","info":{"status":"failed"},"chart":{}`))
	}
	parts := func(some map[int]release.Part) func(release.History) map[int]release.Part {
		return func(h release.History) map[int]release.Part {
			if len(h) != 4 || h.Last().Info.Status != release.StatusFailed {
				t.Errorf("the outlines are %v", h)
			}
			return some
		}
	}
	h, err := s.History(t.Context(), testKey(), parts(nil))
	if err != nil || len(h) != 4 || h[0].Part() != release.Outline || h[0].Manifest != "" {
		t.Errorf("outlines: %v, %v", h, err)
	}
	h, err = s.History(t.Context(), testKey(), parts(map[int]release.Part{4: release.Whole, 2: release.Sent}))
	if err != nil || len(h) != 4 || h[3].Part() != release.Whole || h[1].Part() != release.Sent || len(h[1].Manifest) != 30<<20 {
		t.Errorf("two of them: %v, %v", h, err)
	}
	for _, part := range []release.Part{release.Whole, release.Sent} {
		h, err = s.History(t.Context(), testKey(), parts(map[int]release.Part{4: part, 3: part, 2: part}))
		corrupt, only := Corrupt(err)
		if !only || len(corrupt) != 1 || len(h) != 3 {
			t.Fatalf("three of them: %v, %.200v", h, err)
		}
		want := "record of web revision 2 (record shop/sh.helm.release.v1.web.v2) can't be read: the records read together with it unpack to more than 64 MiB"
		if !corrupt[0].TooMuch() || corrupt[0].Error() != want {
			t.Errorf("got  %s\nwant %s", corrupt[0], want)
		}
	}
	if e := (&CorruptError{Reason: errors.New("damaged")}); e.TooMuch() || e.OverLimit() {
		t.Error("damage counts as too much")
	}
}

// A record for which there is no room is read if the others can be cut down, which happens only then, newest first.
// What was read whole is not changed by it.
func TestThinnedHistoryHasABudget(t *testing.T) {
	b := newMemoryBackend()
	s := open(b, testClock())
	for version := 1; version <= 5; version++ {
		config := fmt.Sprintf(`,"name":"web","info":{"status":"failed"},"chart":{},"config":{"a":[%s0]}`, strings.Repeat("0,", release.MaxEntries/4))
		plant(t, b, ObjectName("web", version), heavy(version, 15, config))
	}
	parts := func(oldest int) Parts {
		return func(h release.History) map[int]release.Part {
			some := map[int]release.Part{5: release.Whole}
			for version := oldest; version < 5; version++ {
				some[version] = release.Sent
			}
			return some
		}
	}
	for oldest, want := range map[int]string{4: "[]", 1: "[5 4 3 2 1]"} {
		var seen []int
		h, err := s.HistoryThinned(t.Context(), testKey(), parts(oldest), func(r *release.Revision) {
			if seen = append(seen, r.Version); r.Part() == release.Sent {
				r.Manifest, r.Config = r.Manifest[:5], nil
			}
		})
		if err != nil || fmt.Sprint(seen) != want || len(h) != 5 || len(h[4].Manifest) != 15<<20 || len(h[0].Manifest) > 5 {
			t.Errorf("from %d on: %d revisions, thinned %v, %.200v", oldest, len(h), seen, err)
		}
	}
	h, err := s.HistoryThinned(t.Context(), testKey(), parts(1), func(*release.Revision) {})
	if corrupt, only := Corrupt(err); !only || len(corrupt) == 0 || !corrupt[0].TooMuch() {
		t.Errorf("with nothing cut down: %d revisions, %.200v", len(h), err)
	}
}
