package setrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// Charts whose file:// dependencies lead back to them are an error, even if all of them are
// loaded at the same time and each waits for the next.
func TestCircularFileDependencies(t *testing.T) {
	dir := t.TempDir()
	for name, dependency := range map[string]string{"a": "b", "b": "c", "c": "a", "own": "own"} {
		text := "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\ndependencies:\n- {name: " + dependency + ", version: 1.0.0, repository: \"file://../" + dependency + "\"}\n"
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "Chart.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	side, err := Open(dir, nil, Reading{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "own"} {
		all.Go(func() {
			_, err := side.charts.load(t.Context(), releaseset.Chart{Path: name})
			if err == nil || !strings.Contains(err.Error(), "depends on itself") {
				t.Errorf("%s: %v, want an error that says that a chart depends on itself", name, err)
			}
		})
	}
	all.Wait()
}

// A dependency that is not in the tree is fetched once, however many charts have it; each version and
// repository is another one.
func TestDependenciesAreFetchedOnce(t *testing.T) {
	dir := t.TempDir()
	const declared = "apiVersion: v2\nname: %s\nversion: 1.0.0\ndependencies:\n- {name: common, version: %s, repository: \"https://charts.example.com/\"}\n"
	for name, version := range map[string]string{"a": "1.0.0", "b": "1.0.0", "c": "2.0.0"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "Chart.yaml"), fmt.Appendf(nil, declared, name, version), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var calls atomic.Int32
	side, err := Open(dir, nil, Reading{}, func(_ context.Context, c Wanted) (Fetched, error) {
		calls.Add(1)
		if !c.Dependency {
			t.Errorf("%s is fetched as a chart of the set", c.Name)
		}
		return Fetched{Name: "common.tgz", Data: sourcetest.Chart(t, c.Name, c.Version, "")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		all.Go(func() {
			got, err := side.charts.load(t.Context(), releaseset.Chart{Path: name})
			if err != nil || len(got.chart.Dependencies()) != 1 {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
	if got := calls.Load(); got != 2 {
		t.Errorf("%d fetches, want one for each version", got)
	}
}

// What is in charts/ has to match the lock in a chart that is fetched, too.
func TestFetchedChartsMatchTheirLock(t *testing.T) {
	for text, refused := range map[string]bool{"locked": false, "other": true} {
		side, err := Open(t.TempDir(), nil, Reading{}, func(context.Context, Wanted) (Fetched, error) {
			return Fetched{Name: "um.tgz", Data: sourcetest.Archive(t, "um", map[string]string{
				"Chart.yaml":       "apiVersion: v2\nname: um\nversion: 1.0.0\ndependencies:\n- {name: foo, version: 1.0.0, repository: \"https://charts.example.com\"}\n",
				"Chart.lock":       "dependencies:\n- {name: foo, version: 1.0.0, repository: \"https://charts.example.com\", digest: " + source.Digest(sourcetest.Chart(t, "foo", "1.0.0", "locked")) + "}\n",
				"charts/other.tgz": string(sourcetest.Chart(t, "foo", "1.0.0", text)),
			})}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer side.Close()
		_, err = side.charts.load(t.Context(), releaseset.Chart{Name: "um", Repo: "https://charts.example.com", Version: "1.0.0"})
		if _, is := errors.AsType[*source.DigestError](err); is != refused || !is && err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// layers writes charts of which each depends on both of the next layer.
func layers(t *testing.T, depth int) *Side {
	dir := t.TempDir()
	for i := range depth {
		for _, side := range []string{"a", "b"} {
			text := fmt.Sprintf("apiVersion: v2\nname: %s%d\nversion: 1.0.0\n", side, i)
			if i+1 < depth {
				text += fmt.Sprintf("dependencies:\n- {name: a%d, version: 1.0.0, repository: \"file://../a%[1]d\"}\n- {name: b%[1]d, version: 1.0.0, repository: \"file://../b%[1]d\"}\n", i+1)
			}
			at := filepath.Join(dir, fmt.Sprintf("%s%d", side, i))
			if err := os.Mkdir(at, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(at, "Chart.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	side, err := Open(dir, nil, Reading{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(side.Close)
	return side
}

// A chart that several others depend on is read once for their checksums, which would take half an hour
// otherwise, and a change of it is one of all of them.
func TestSharedDependenciesAreSummedOnce(t *testing.T) {
	side := layers(t, 30)
	before, err := side.charts.sum(releaseset.Chart{Path: "a0"})
	if err != nil || len(side.charts.sums) != 59 {
		t.Errorf("%d charts are read, want 59: %v", len(side.charts.sums), err)
	}
	other := layers(t, 30)
	if again, err := other.charts.sum(releaseset.Chart{Path: "a0"}); err != nil || again != before {
		t.Errorf("%s, %v: the same files have another checksum", again, err)
	}
	changed := layers(t, 30)
	if err := os.WriteFile(changed.charts.at("b29/values.yaml"), []byte("a: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after, err := changed.charts.sum(releaseset.Chart{Path: "a0"}); err != nil || after == before {
		t.Errorf("%s, %v: a change of the last dependency is not seen", after, err)
	}
}

// Charts with file:// dependencies are within the limits of those that have them in charts/.
func TestFileDependenciesAreWithinTheLimits(t *testing.T) {
	side := layers(t, 30)
	if got, err := side.charts.load(t.Context(), releaseset.Chart{Path: "a24"}); err != nil || len(got.chart.Dependencies()) != 2 {
		t.Error(err)
	}
	if _, err := side.charts.load(t.Context(), releaseset.Chart{Path: "a0"}); err == nil || !strings.Contains(err.Error(), "the chart has more than 32768 files") {
		t.Errorf("%.300v", err)
	}
}

// Whether a chart depends on another one is found without going any way twice.
func TestDependsOnVisitsEachChartOnce(t *testing.T) {
	c := newCharts("", nil, nil, nil)
	at := func(i int) releaseset.Chart { return releaseset.Chart{Path: fmt.Sprint(i)} }
	for i := range 60 {
		c.needs[at(i)] = []releaseset.Chart{at(i + 1), at(i + 1)}
	}
	if c.dependsOn(at(0), at(99)) || !c.dependsOn(at(0), at(60)) {
		t.Error("0 depends on 60, and not on 99")
	}
}
