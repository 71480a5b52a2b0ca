//go:build cluster

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// sharedCharts returns the archives of every chart in ../shared/charts and every version in
// ../shared/versions; without -soak, of every fifth of them.
func sharedCharts(t *testing.T) []string {
	t.Helper()
	var charts, some []string
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
	for i, file := range charts {
		if *soak || i%5 == 0 {
			some = append(some, file)
		}
	}
	return some
}

// A chart compared with itself shows no changes, whatever it generates at random
// and looks up. Warnings are allowed.
func TestAChartComparedWithItselfShowsNothing(t *testing.T) {
	t.Parallel()
	tools := pluginFolder(t)
	for _, file := range sharedCharts(t) {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			result := cluster.Run(t, filepath.Join(tools, "kubectl-release"), "", "plan", "r", file, "--offline", "--against", file, "--detailed-exitcode")
			if result.ExitCode != 0 || !strings.Contains(result.Stdout, "\nNo object") {
				t.Errorf("exit code %d\n%s\n%s", result.ExitCode, result.Stdout, result.Stderr)
			}
		})
	}
}

// A plan of an install creates the CRDs and objects that template prints, and no others.
func TestAPlanCreatesWhatTemplatePrints(t *testing.T) {
	t.Parallel()
	tools := pluginFolder(t)
	run := func(t *testing.T, args ...string) clustertest.Result {
		t.Helper()
		return cluster.Run(t, filepath.Join(tools, "kubectl-release"), "", args...)
	}
	compared := 0
	for _, file := range sharedCharts(t) {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			text := run(t, "template", "r", file, "--include-crds", "--no-hooks")
			if text.ExitCode != 0 {
				return // it needs values
			}
			objects, err := manifest.Parse(text.Stdout)
			if err != nil {
				t.Fatal(err)
			}
			var printed, created []string
			for _, o := range objects {
				printed = append(printed, o.Kind+"/"+o.Name)
			}
			planned := run(t, "plan", "r", file, "--offline", "--against", os.DevNull, "-o", "json")
			var p plan.Document
			if err := json.Unmarshal([]byte(planned.Stdout), &p); err != nil {
				t.Fatalf("exit code %d: %v\n%s", planned.ExitCode, err, planned.Stderr)
			}
			p.Steps(func(stage plan.StageName, s *plan.Step) {
				if s.Op == plan.OpCreate && (stage == plan.StageCRDs || stage == plan.StageResources) {
					created = append(created, s.Object.Kind+"/"+s.Object.Name)
				}
			})
			slices.Sort(printed)
			slices.Sort(created)
			if diff := cmp.Diff(slices.Compact(printed), created); diff != "" {
				t.Errorf("template and plan (-printed +created):\n%s", diff)
			}
			compared += len(created)
		})
	}
	if compared < 100 {
		t.Errorf("only %d objects were compared", compared)
	}
}
