package clustertest_test

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// Without binaries a suite fails and says why: a skipped suite looks like a good one.
func TestStartFailsWithoutBinaries(t *testing.T) {
	t.Setenv("TESTCLUSTER_BIN", t.TempDir())
	_, err := clustertest.Start(t.Context(), clustertest.Options{})
	if err == nil || !strings.Contains(err.Error(), "testcluster") {
		t.Errorf("error is %v, want one that names the missing binary", err)
	}
}
