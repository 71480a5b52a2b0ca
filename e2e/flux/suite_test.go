//go:build cluster

// Package flux_test holds the acceptance checks of plans of Flux's HelmReleases, with
// the whole program.
package flux_test

import (
	"os"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.MainWithoutCluster(m)) }
