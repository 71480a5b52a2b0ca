//go:build cluster

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// A chart compared with itself shows no changes, whatever it generates at random
// and looks up: every chart in ../shared/charts and every version in ../shared/versions;
// without -soak, every fifth of them. Warnings are allowed.
func TestAChartComparedWithItselfShowsNothing(t *testing.T) {
	t.Parallel()
	var charts []string
	for _, pattern := range []string{"charts/*.tgz", "versions/*/*.tgz"} {
		found, err := filepath.Glob(filepath.Join(inTree("..", "shared"), filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		charts = append(charts, found...)
	}
	if len(charts) < 70 {
		t.Fatalf("only %d charts are in ../shared", len(charts))
	}
	tools := pluginFolder(t)
	for i, file := range charts {
		if !*soak && i%5 != 0 {
			continue
		}
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			result := cluster.Run(t, filepath.Join(tools, "kubectl-release"), "", "plan", "r", file, "--offline", "--against", file, "--detailed-exitcode")
			if result.ExitCode != 0 || !strings.Contains(result.Stdout, "\nNo object") {
				t.Errorf("exit code %d\n%s\n%s", result.ExitCode, result.Stdout, result.Stderr)
			}
		})
	}
}
