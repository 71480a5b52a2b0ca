//go:build cluster

package scale

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

var (
	update   = flag.Bool("update", false, "write the tables into docs/bench.md")
	profiles = flag.String("profiles", "", "folder for the profiles of BenchmarkProfile")
	helmTo   = flag.Int("helmto", 1000, "up to how many objects Helm goes through BenchmarkScale, too: 10,000 take it half an hour")
	sizes    = flag.String("sizes", "", "how many objects the releases of BenchmarkScale (100,1000,10000,20000) and BenchmarkProfile (1000,4000,10000) have")
)

// numbers returns the numbers in -sizes, or in otherwise if the flag is not given.
func numbers(t testing.TB, otherwise string) []int {
	t.Helper()
	var out []int
	for _, text := range strings.Split(cmp.Or(*sizes, otherwise), ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// cluster is the control plane that the whole suite uses.
var cluster *clustertest.Cluster

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case floorName:
		runFloor()
		return
	case profiledName:
		runProfiled()
		return
	}
	os.Exit(clustertest.Main(m, clustertest.Options{}, func(c *clustertest.Cluster) { cluster = c }))
}

// asProgram returns a path to this test binary under a name for which TestMain runs it as
// that program.
func asProgram(t testing.TB, name string) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(own, path); err != nil {
		t.Fatal(err)
	}
	return path
}
