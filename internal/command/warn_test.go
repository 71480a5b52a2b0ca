package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In a log of both streams a plan's warning appears once; if the plan goes to a file of its own,
// the warning is printed on the other stream.
func TestAPlanAndItsWarningsInOneLog(t *testing.T) {
	d := atDesk(t)
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0, deprecated: true}")
	log, own, beside := created(t, "log"), created(t, "plan.txt"), created(t, "errors")
	for _, c := range []struct {
		out, err *os.File
		want     int
	}{{log, log, 0}, {own, beside, 1}} {
		p := newProgram(Streams{In: strings.NewReader(""), Out: c.out, Err: c.err}, "kubectl release")
		p.dial = func(*connectionFlags) (api, string, error) { return memory{d.Cluster, d.client}, "shop", nil }
		if code := p.main(t.Context(), nil, []string{"kubectl-release", "plan", "web", "./web"}); code != exitDone {
			t.Fatalf("exit code %d", code)
		}
		said, err := os.ReadFile(c.err.Name())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(said), "Warning: "); got != c.want {
			t.Errorf("%s beside %s: %d warnings besides those of the plan, want %d\n%s", c.err.Name(), c.out.Name(), got, c.want, said)
		}
		planned, err := os.ReadFile(c.out.Name())
		if err != nil || !strings.Contains(string(planned), "! web: chart web is deprecated") {
			t.Errorf("the plan does not warn (%v)\n%s", err, planned)
		}
	}
}

// created returns an empty file of that name in a folder of its own.
func created(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
