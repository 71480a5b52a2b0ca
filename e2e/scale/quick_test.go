//go:build cluster

package scale

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// TestRequestsOfManyObjects: each object costs the requests that the floor sends for it, and
// no others: a dry run and an apply if it is written, a DELETE if it is removed. What comes
// on top (discovery, access, records and the lock) is the same for any number of objects.
func TestRequestsOfManyObjects(t *testing.T) {
	const objects, besides = 400, 40
	program, chart := clustertest.Program(t), generatedChart(t)
	server, environment := startQuickServer(t)
	most := map[string]int64{"install": 2 * objects, "change all": 2 * objects, "uninstall": objects}
	for _, o := range operations {
		before := server.requests.Load()
		if u := clustertest.Measure(t, environment, program, o.arguments(o.ours, chart, "default", objects)...); u.ExitCode != 0 {
			t.Fatalf("%s: exit code %d\n%s", o.name, u.ExitCode, u.Stderr)
		}
		sent := server.requests.Load() - before
		if t.Logf("%s: %d requests", o.name, sent); sent > most[o.name]+besides {
			t.Errorf("%s: %d requests, want %d and at most %d besides", o.name, sent, most[o.name], besides)
		}
	}
}

// TestRequestsThatAreTooMany: a server that accepts three writes at a time, and answers 429 to
// all others, gets everything in the end, and no more at a time than the limit says: each
// request waits on its own for as long as it was told.
func TestRequestsThatAreTooMany(t *testing.T) {
	const objects = 100
	program, chart := clustertest.Program(t), generatedChart(t)
	server, environment := startQuickServer(t)
	server.seats = 3
	line := []string{"install", "lots", chart, "--namespace", "default", "--set", fmt.Sprintf("objects=%d", objects)}
	if u := clustertest.Measure(t, environment, program, line...); u.ExitCode != 0 {
		t.Fatalf("exit code %d\n%s", u.ExitCode, u.Stderr)
	}
	t.Logf("%d requests, %d of them refused, at most %d at once", server.requests.Load(), server.refused.Load(), server.most.Load())
	if server.refused.Load() == 0 {
		t.Error("no request was refused")
	}
	if server.most.Load() > retry.Concurrency+4 {
		t.Errorf("%d requests were under way at once, want at most %d", server.most.Load(), retry.Concurrency)
	}
	if refused := server.refused.Load(); refused > 4*2*objects {
		t.Errorf("%d requests were refused: they are not held back", refused)
	}
}

// TestTemplateStreams: the additional memory for rendering 10,000 objects instead of 1,000 is a
// few times the size of their text, not that of their trees.
func TestTemplateStreams(t *testing.T) {
	program, chart := clustertest.Program(t), generatedChart(t)
	render := func(objects int, most int64) clustertest.Usage {
		u := clustertest.MeasureWithin(t, clustertest.Limits{MaxRSS: most}, nil, program, operations[0].arguments(operations[0].ours, chart, "default", objects)...)
		if u.ExitCode != 0 {
			t.Fatalf("exit code %d\n%s", u.ExitCode, u.Stderr)
		}
		return u
	}
	few := render(1000, 0)
	// Ten times as many objects are ten times as much text. Rendering takes about twelve times that;
	// the trees of as many objects, which a plan without a cluster has, take thirty times that.
	text := 10 * int64(len(few.Stdout))
	render(10_000, few.MaxRSS+20*text)
}

// BenchmarkStart measures the time from the start of the process to its first connection, and the
// CPU time of version (make bench). The goals are 25 ms and 15 ms.
func BenchmarkStart(b *testing.B) {
	const rounds = 15
	program, chart := clustertest.Program(b), generatedChart(b)
	var first, version []time.Duration
	for range rounds {
		server, environment := startQuickServer(b)
		u := clustertest.Measure(b, environment, program, "plan", "lots", chart)
		if u.ExitCode != 0 {
			b.Fatalf("exit code %d\n%s", u.ExitCode, u.Stderr)
		}
		first = append(first, server.first.Load().Sub(u.Began))
		u = clustertest.Measure(b, environment, program, "version")
		if u.ExitCode != 0 {
			b.Fatalf("exit code %d\n%s", u.ExitCode, u.Stderr)
		}
		version = append(version, u.CPU)
		server.Close()
	}
	slices.Sort(first)
	slices.Sort(version)
	var text strings.Builder
	text.WriteString("| start | minimum | median | maximum |\n|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		of   []time.Duration
	}{{"to the first request of `plan`", first}, {"`version`, processor time", version}} {
		fmt.Fprintf(&text, "| %s | %.0f ms | %.0f ms | %.0f ms |\n", row.name, ms(row.of[0]), ms(row.of[rounds/2]), ms(row.of[rounds-1]))
	}
	clustertest.Report(b, filepath.Join("..", "..", "docs", "bench.md"), "start", text.String(), *update)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
