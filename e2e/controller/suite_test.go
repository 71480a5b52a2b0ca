//go:build cluster

// Package controller_test holds the acceptance checks of the controller: the program
// as a process on a real control plane, sources with a status written by hand, and
// their artifacts on a server of the test.
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

	// cluster is the control plane of the suite, audit what its API server has done.
	cluster *clustertest.Cluster
	audit   string
)

// benchPage has the tables of benchmarks.
var benchPage = filepath.Join("..", "..", "docs", "bench.md")

func TestMain(m *testing.M) {
	options := clustertest.Options{}
	if os.Getenv(clustertest.ReuseVariable) == "" {
		options.AuditLog = filepath.Join(os.TempDir(), fmt.Sprintf("controller-audit-%d.log", os.Getpid()))
		audit = options.AuditLog
	}
	// Most of the time these tests wait: for pods, or for a dead process's lease. So they run side by
	// side, but for those that ask what controllers have sent at all (since, quiet, writesSince).
	_ = flag.Set("test.parallel", "6")
	code := clustertest.Main(m, options, func(c *clustertest.Cluster) { cluster = c })
	_ = os.Remove(options.AuditLog)
	os.Exit(code)
}

// crds are Flux's own where they lie beside the project, else those of testdata.
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
