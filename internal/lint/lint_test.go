package lint_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/lint"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/templating"
)

var update = flag.Bool("update", false, "rewrite the findings in testdata")

// TestRun lints the charts of testdata/*.txtar. The first line of a file says
// why it exists, "values" are the user's, "options" change the run, "findings"
// is what must come out, and all other files are the chart's.
func TestRun(t *testing.T) {
	kinds, err := cluster.NewBuiltin()
	if err != nil {
		t.Fatal(err)
	}
	objecttest.Cases(t, "testdata/*.txtar", 1, func(t *testing.T, file string, archive *txtar.Archive) {
		got := findings(lint.Run(input(t, archive, kinds)))
		for i, f := range archive.Files {
			if f.Name != "findings" {
				continue
			}
			if *update {
				archive.Files[i].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(f.Data), got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			return
		}
		t.Error("the case does not say what must be found")
	})
}

func input(t *testing.T, archive *txtar.Archive, kinds lint.Kinds) lint.Input {
	t.Helper()
	in := lint.Input{Options: lint.Options{Namespace: "shop", Kinds: kinds}}
	dir := filepath.Join(t.TempDir(), "web")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		switch f.Name {
		case "findings":
		case "values":
			if err := yaml.Unmarshal(f.Data, &in.Values); err != nil {
				t.Fatal(err)
			}
		case "options":
			setOptions(t, &in.Options, f.Data)
		default:
			path := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	in.Chart, in.Warnings, in.LoadErr = chartload.Load(dir, chartload.Options{})
	if in.LoadErr != nil {
		in.LoadErr = fmt.Errorf("%s", strings.ReplaceAll(in.LoadErr.Error(), dir, "web"))
	}
	var err error
	if in.Files, err = chartload.Files(dir, chartload.Options{}); err != nil {
		t.Fatal(err)
	}
	return in
}

func setOptions(t *testing.T, o *lint.Options, data []byte) {
	t.Helper()
	var given struct {
		KubeVersion string
		// Minor is what a cluster reports besides its version, such as "30+".
		Minor      string
		SkipSchema bool
	}
	if err := yaml.Unmarshal(data, &given); err != nil {
		t.Fatal(err)
	}
	o.SkipSchema = given.SkipSchema
	if given.KubeVersion == "" {
		return
	}
	version, err := templating.ParseKubeVersion(given.KubeVersion)
	if err != nil {
		t.Fatal(err)
	}
	o.Capabilities, o.ExactVersion = templating.DefaultCapabilities(), true
	if given.Minor != "" {
		version.Minor = given.Minor
	}
	o.Capabilities.KubeVersion = version
}

// findings returns one line of JSON per finding, which is what machines read, and the
// objects that can go to a cluster.
func findings(r lint.Report) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for _, f := range r.Findings {
		if err := encoder.Encode(f); err != nil {
			return err.Error()
		}
	}
	b.WriteString("objects:")
	for _, o := range r.Objects {
		b.WriteString(" " + o.String())
	}
	b.WriteString("\n")
	return b.String()
}
