package resolve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

func TestPublish(t *testing.T) {
	then, now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	archive := func(version, digit string) Packaged {
		return Packaged{Metadata: &chart.Metadata{APIVersion: "v2", Name: "a", Version: version}, Path: "x/a-" + version + ".tgz", Digest: "sha256:" + strings.Repeat(digit, 64)}
	}
	made := func(before *Index, at time.Time, archives ...Packaged) (string, *Index) {
		t.Helper()
		p, warnings := Publish(archives, "http://h/", before, at)
		if len(warnings) > 0 {
			t.Error(warnings)
		}
		data, err := p.Bytes(false, before, at)
		if err != nil {
			t.Fatal(err)
		}
		index, err := ReadIndex(strings.NewReader(string(data)), All)
		if err != nil {
			t.Fatal(err)
		}
		return string(data), index
	}
	first, index := made(nil, then, archive("1.0.0", "1"), archive("1.10.0", "2"))
	if !strings.Contains(first, "- http://h/x/a-1.10.0.tgz") || strings.Index(first, "version: 1.10.0") > strings.Index(first, "version: 1.0.0") {
		t.Error(first)
	}
	if again, _ := made(index, now, archive("1.0.0", "1"), archive("1.10.0", "2")); again != first {
		t.Errorf("the same archives make another index:\n%s", again)
	}
	changed, _ := made(index, now, archive("1.0.0", "1"), archive("1.10.0", "3"))
	if strings.Count(changed, "2026-01-01T00:00:00Z") != 1 || strings.Count(changed, "2026-02-01T00:00:00Z") != 2 {
		t.Error(changed)
	}
	if less, _ := made(index, now, archive("1.0.0", "1")); !strings.Contains(less, `generated: "2026-02-01T00:00:00Z"`) {
		t.Error(less)
	}
}

// Entries that can't be decoded are made anew; those of other charts keep their times.
func TestPublishOverDamage(t *testing.T) {
	const text = "apiVersion: v1\nentries:\n  a:\n  - {name: a, version: 1.0.0, version: 1.0.0}\n  b:\n  - {apiVersion: v2, name: b, version: 1.0.0, created: then, digest: \"%s\", urls: [b.tgz]}\n"
	digest := strings.Repeat("1", 64)
	before, err := ReadIndex(strings.NewReader(fmt.Sprintf(text, digest)), All)
	if err != nil {
		t.Fatal(err)
	}
	var archives []Packaged
	for _, name := range []string{"a", "b"} {
		archives = append(archives, Packaged{Metadata: &chart.Metadata{APIVersion: "v2", Name: name, Version: "1.0.0"}, Path: name + ".tgz", Digest: "sha256:" + digest})
	}
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	p, warnings := Publish(archives, "", before, now)
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0].String(), "index.yaml/a: ") {
		t.Errorf("%v", warnings)
	}
	data, err := p.Bytes(false, before, now)
	if err != nil || strings.Count(string(data), "created: then") != 1 || !strings.Contains(string(data), "created: \"2026-02-01T00:00:00Z\"") {
		t.Errorf("%v\n%s", err, data)
	}
}

// Twice as many versions are twice the work.
func TestPublishIsLinear(t *testing.T) {
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	work := func(versions int) float64 {
		var archives []Packaged
		for i := range versions {
			version := fmt.Sprintf("1.0.%d", i)
			archives = append(archives, Packaged{Metadata: &chart.Metadata{APIVersion: "v2", Name: "a", Version: version}, Path: "a-" + version + ".tgz", Digest: fmt.Sprintf("sha256:%064x", i)})
		}
		first, _ := Publish(archives, "", nil, now)
		data, err := first.Bytes(false, nil, now)
		if err != nil {
			t.Fatal(err)
		}
		before, err := ReadIndex(strings.NewReader(string(data)), All)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() { Publish(archives, "", before, now) })
	}
	if few, many := work(50), work(100); many > 3*few {
		t.Errorf("50 versions take %.0f allocations, 100 take %.0f", few, many)
	}
}
