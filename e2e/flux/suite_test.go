//go:build cluster

// Package flux_test holds the acceptance checks of plans of Flux's HelmReleases, with
// the whole program.
package flux_test

import (
	"os"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// cluster is the control plane of the suite.
var cluster *clustertest.Cluster

func TestMain(m *testing.M) {
	os.Exit(clustertest.Main(m, clustertest.Options{}, func(c *clustertest.Cluster) { cluster = c }))
}
