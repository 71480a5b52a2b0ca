//go:build cluster

package sources_test

import (
	"slices"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// An index of 15,000 entries, as large as those of public repositories, is read for one chart in little
// memory, and in a fraction of the CPU time that Helm, run right after it, takes: a busy machine slows
// both down. How long they take on their own is in docs/bench.md.
func TestCheck11LargeIndex(t *testing.T) {
	server, h := sourcetest.Serve(t, sourcetest.Options{}), newHome(t)
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	own := sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz", Digest: sourcetest.Digest(archive)}
	server.Put("/alpha-1.0.0.tgz", archive)
	server.Put("/index.yaml", sourcetest.Index(append(sourcetest.Many(15_000), own)...))
	h.ok("repo", "add", "big", server.URL)
	server.Requests()
	u := clustertest.MeasureWithin(t, clustertest.Limits{MaxRSS: 80_000_000}, h.env, program(t), "show", "chart", "big/alpha")
	if u.ExitCode != 0 {
		t.Fatal(u.Stderr)
	}
	if asked := server.Asked(); !slices.Equal(asked, []string{"GET /alpha-1.0.0.tgz OK"}) {
		t.Errorf("asked %q", asked)
	}
	b, err := binaries()
	must(t, err)
	const fraction = 5 // the goal is a tenth: 0.3 s against 3 s
	if helms := clustertest.Measure(t, h.env, b.Helm4, "show", "chart", "big/alpha"); helms.ExitCode != 0 || fraction*u.CPU > helms.CPU {
		t.Errorf("took %v of a processor, and Helm %v\n%s", u.CPU, helms.CPU, helms.Stderr)
	}
	if asked := server.Asked(); len(asked) > 1 {
		t.Errorf("asked %q", asked)
	}
	h.ok("repo", "update")
	if asked := server.Asked(); !slices.Equal(asked, []string{"GET /index.yaml Not Modified"}) {
		t.Errorf("asked %q", asked)
	}
}
