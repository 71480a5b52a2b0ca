//go:build cluster

package trust

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

var (
	soak   = flag.Bool("soak", false, "run every sweep whole")
	update = flag.Bool("update", false, "write results into docs/trust.md")
)

// cluster is the control plane that the whole suite uses.
var cluster *clustertest.Cluster

// audit is the audit log of its API server; "" if an existing cluster is reused.
var audit auditLog

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == recordedName {
		runRecorded()
		return
	}
	options := clustertest.Options{}
	if os.Getenv(clustertest.ReuseVariable) == "" {
		options.AuditLog = filepath.Join(os.TempDir(), fmt.Sprintf("trust-audit-%d.log", os.Getpid()))
		audit = auditLog(options.AuditLog)
	}
	// These tests spend most of their time waiting: for pods, or for a dead run's lease.
	_ = flag.Set("test.parallel", "6")
	code := clustertest.Main(m, options, func(c *clustertest.Cluster) { cluster = c })
	_ = os.Remove(options.AuditLog)
	os.Exit(code)
}

// hand is one of the programs that work on a release.
type hand struct {
	name    string // ours, helm3 or helm4
	program string // its path
}

// hands are ours, Helm 3 and Helm 4, in this order.
func hands(t testing.TB) []hand {
	t.Helper()
	return []hand{
		{"ours", clustertest.Program(t)},
		{"helm3", cluster.Binaries.Helm3},
		{"helm4", cluster.Binaries.Helm4},
	}
}

// sample returns whole in a soak, and part otherwise.
func sample(part, whole int) int {
	if *soak {
		return whole
	}
	return part
}

// report logs a result and, with -update, makes it a section of docs/trust.md.
func report(t testing.TB, section, text string) {
	t.Helper()
	clustertest.Report(t, filepath.Join("..", "..", "docs", "trust.md"), section, text, *update)
}
