package templating_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/templating"
)

// The folders of the charts to render: our own, and one beside the repository, which
// need not exist.
const own, shared = "../testdata/charts", "../../shared"

// TestChartsHaveRoom renders all charts at hand: the heaviest uses at most a third of each
// limit.
func TestChartsHaveRoom(t *testing.T) {
	cases := chartsAtHand(t)
	if len(cases) == 0 {
		t.Fatal("there are no charts")
	}
	var most struct {
		steps, bytes, tables     int
		keys                     time.Duration
		long, large, wide, keyed string
	}
	for _, c := range cases {
		e, ok := effort(t, c)
		if !ok {
			continue
		}
		name := strings.TrimPrefix(strings.Join(c[:], " "), shared+"/")
		if e.Steps > most.steps {
			most.steps, most.long = e.Steps, name
		}
		if e.Bytes > most.bytes {
			most.bytes, most.large = e.Bytes, name
		}
		if e.Tables > most.tables {
			most.tables, most.wide = e.Tables, name
		}
		if e.Keys > most.keys {
			most.keys, most.keyed = e.Keys, name
		}
		if 3*e.Steps > templating.MaxSteps || 3*e.Bytes > templating.MaxBytes || 3*e.Tables > templating.MaxTables || 3*e.Keys > templating.MaxKeys {
			t.Errorf("%s: %+v has not three times the room", name, e)
		}
	}
	t.Logf("steps: %d of %d (%s)", most.steps, templating.MaxSteps, most.long)
	t.Logf("bytes: %d of %d (%s)", most.bytes, templating.MaxBytes, most.large)
	t.Logf("tables: %d of %d (%s)", most.tables, templating.MaxTables, most.wide)
	t.Logf("keys: %v of %v (%s)", most.keys, templating.MaxKeys, most.keyed)
}

// chartsAtHand returns pairs of a chart and a values file, or "".
func chartsAtHand(t *testing.T) [][2]string {
	var all [][2]string
	for _, pattern := range []string{filepath.Join(own, "*"), filepath.Join(shared, "versions", "*", "*.tgz")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			all = append(all, [2]string{c, ""})
		}
	}
	list, err := os.Open(filepath.Join(shared, "charts", "cases.tsv"))
	if err != nil {
		return all
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	lines.Scan() // the header
	for lines.Scan() {
		name, given, _ := strings.Cut(lines.Text(), "\t")
		if given == "-" {
			given = ""
		} else {
			given = filepath.Join(shared, "charts", given)
		}
		all = append(all, [2]string{filepath.Join(shared, "charts", name), given})
	}
	return all
}

// effort renders one chart. It returns false for charts that reject their values.
func effort(t *testing.T, c [2]string) (templating.Effort, bool) {
	loaded, _, err := chartload.Load(c[0], chartload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]any{}
	if c[1] != "" {
		if given, _, err = (values.Sources{Files: c[1:]}).Merge(os.ReadFile); err != nil {
			t.Fatal(err)
		}
	}
	if loaded, _, err = values.ProcessDependencies(loaded, given); err != nil {
		t.Fatal(err)
	}
	top, _, err := values.RenderValues(loaded, given, values.ReleaseInfo{Name: "web", Namespace: "shop", Revision: 1, IsInstall: true, Service: "Helm"}, templating.DefaultCapabilities())
	if err != nil {
		t.Fatal(err)
	}
	e, err := templating.RenderEffort(loaded, top)
	if err != nil {
		t.Logf("%v: %.200v", c, err)
	}
	return e, err == nil
}
