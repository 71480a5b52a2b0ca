//go:build cluster

// Package controller_test holds the acceptance checks of the controller: the program as a process on a
// real control plane, sources whose status the tests write, and their artifacts on a server of the
// tests.
package controller_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

var (
	soak     = flag.Bool("soak", false, "run every sweep whole")
	update   = flag.Bool("update", false, "write results into docs/trust.md, and those of benchmarks into docs/bench.md")
	profiles = flag.String("profiles", "", "folder for heap profiles of the controller")

	// cluster is the control plane of the suite, audit the path of its API server's audit log.
	cluster *clustertest.Cluster
	audit   string
)

// benchPage is the page with the tables of benchmarks.
var benchPage = filepath.Join("..", "..", "docs", "bench.md")

func TestMain(m *testing.M) {
	options := clustertest.Options{}
	if os.Getenv(clustertest.ReuseVariable) == "" {
		options.AuditLog = filepath.Join(os.TempDir(), fmt.Sprintf("controller-audit-%d.log", os.Getpid()))
		audit = options.AuditLog
	}
	// Most of the time, these tests wait: for pods, or for a dead process's lease. So they run in
	// parallel, except those that look at all that controllers have sent (since, quiet, writesSince).
	_ = flag.Set("test.parallel", "6")
	code := clustertest.Main(m, options, func(c *clustertest.Cluster) { cluster = c })
	_ = os.Remove(options.AuditLog)
	os.Exit(code)
}

// crds returns Flux's own CRDs if they are next to the project, else those in testdata.
func crds() []string {
	flux, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "flux", "crds", "*.yaml"))
	if len(flux) > 0 {
		return flux
	}
	return []string{filepath.Join("testdata", "crds", "crds.yaml")}
}

// lines counts the lines of a file.
func lines(t testing.TB, name string) int {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewReader(f); ; n++ {
		if _, err := s.ReadBytes('\n'); err != nil {
			return n
		}
	}
}
