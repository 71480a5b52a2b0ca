//go:build cluster

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

var (
	update = flag.Bool("update", false, "rewrite the expected plans in testdata/upgrades, docs/atomic-failure.md and docs/gallery.md")
	soak   = flag.Bool("soak", false, "run everything whole")
)

// cluster is the control plane that the whole suite uses.
var cluster *clustertest.Cluster

// TestMain starts the control plane once and puts the program into PATH.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "4") // most tests spend most of their time waiting
	os.Exit(clustertest.Main(m, clustertest.Options{}, func(c *clustertest.Cluster) { cluster = c }))
}

// inTree returns the absolute path of a file or folder in the repository.
func inTree(path ...string) string {
	absolute, err := filepath.Abs(filepath.Join(append([]string{".."}, path...)...))
	if err != nil {
		panic(fmt.Sprintf("find the repository: %v", err))
	}
	return absolute
}

// pluginFolder returns a folder for PATH with kubectl-release, kubectl and helm.
func pluginFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, target := range map[string]string{"kubectl-release": clustertest.Program(t), "helm": cluster.Binaries.Helm4, "kubectl": cluster.Binaries.Kubectl} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// audited starts the test's own control plane, and returns it with the path of its audit log.
func audited(t *testing.T) (own *clustertest.Cluster, audit string) {
	t.Helper()
	audit = filepath.Join(t.TempDir(), "audit.log")
	own, err := clustertest.Start(context.Background(), clustertest.Options{AuditLog: audit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	return own, audit
}
