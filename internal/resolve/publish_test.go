package resolve

import (
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
		p, err := Publish(archives, "http://h/", before, at)
		if err != nil {
			t.Fatal(err)
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
