package report

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/plan"
)

func updating() *bool {
	if f := flag.Lookup("update"); f != nil {
		on := f.Value.String() == "true"
		return &on
	}
	return flag.Bool("update", false, "rewrite the expected outputs in testdata")
}

func TestMain(m *testing.M) {
	updating()
	flag.Parse()
	os.Exit(m.Run())
}

// goldenCase is a plan in YAML, how to print it, and what must come out.
type goldenCase struct {
	archive *txtar.Archive
	plan    *plan.Document
	options caseOptions
}

type caseOptions struct {
	Text     TextOptions
	Markdown MarkdownOptions
}

// TestGolden prints the plan of every testdata/*.txtar in each format that the file has
// an output for. Its first line says why the case exists.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c := readCase(t, file)
			for i := range c.archive.Files {
				f := &c.archive.Files[i]
				if strings.HasSuffix(f.Name, ".yaml") {
					continue
				}
				got := c.print(t, f.Name)
				if *updating() {
					f.Data = got
				} else if diff := cmp.Diff(string(f.Data), string(got)); diff != "" {
					t.Errorf("%s differs (-want +got):\n%s", f.Name, diff)
				}
			}
			if *updating() {
				if err := os.WriteFile(file, txtar.Format(c.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func readCase(t *testing.T, file string) goldenCase {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(bytes.TrimSpace(archive.Comment)) == 0 {
		t.Fatalf("%s does not say why it exists", file)
	}
	c := goldenCase{archive: archive, plan: &plan.Document{}}
	for _, f := range archive.Files {
		switch f.Name {
		case "plan.yaml":
			err = yaml.UnmarshalStrict(f.Data, c.plan)
		case "options.yaml":
			err = yaml.UnmarshalStrict(f.Data, &c.options)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", file, f.Name, err)
		}
	}
	if c.plan.Summary == (plan.Summary{}) {
		c.plan.Summary = summarize(c.plan)
	}
	return c
}

// outputs returns all output formats, for a redacted plan.
func outputs(o caseOptions) map[string]func(io.Writer, *plan.Document) error {
	full := o.Text
	full.Full = true
	return map[string]func(io.Writer, *plan.Document) error{
		"text":      func(w io.Writer, p *plan.Document) error { return Text(w, p, o.Text) },
		"text-full": func(w io.Writer, p *plan.Document) error { return Text(w, p, full) },
		"json":      JSON,
		"markdown":  func(w io.Writer, p *plan.Document) error { return Markdown(w, p, o.Markdown) },
		"mermaid":   Mermaid,
		"dot":       DOT,
		"html":      HTML,
	}
}

func (c goldenCase) print(t *testing.T, form string) []byte {
	t.Helper()
	output, known := outputs(c.options)[form]
	if !known {
		t.Fatalf("%s is no form of output", form)
	}
	var b bytes.Buffer
	if err := output(&b, &redact.Plan(&plan.Plan{Document: *c.plan}).Document); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// summarize counts as plan.Build does, so that cases need not.
func summarize(p *plan.Document) plan.Summary {
	var s plan.Summary
	p.Steps(func(_ plan.StageName, step *plan.Step) {
		if step.HookDeletion() {
			return
		}
		counter := map[plan.Op]*int{
			plan.OpCreate: &s.Create, plan.OpPatch: &s.Patch, plan.OpReplace: &s.Replace, plan.OpRecreate: &s.Recreate,
			plan.OpDelete: &s.Delete, plan.OpKeep: &s.Keep, plan.OpAdopt: &s.Adopt, plan.OpNone: &s.Unchanged,
			plan.OpRun: &s.Hooks, plan.OpWait: &s.Waits, plan.OpRecord: new(int),
		}[step.Op]
		if counter == nil {
			panic(fmt.Sprintf("step %s: unknown op %q", step.ID, step.Op))
		}
		*counter++
		if step.LabelsOnly() {
			s.LabelsOnly++
		}
		if risk := map[plan.Risk]*int{
			plan.RiskData: &s.Risks.Data, plan.RiskDelete: &s.Risks.Delete, plan.RiskRecreate: &s.Risks.Recreate,
			plan.RiskScaleDown: &s.Risks.ScaleDown, plan.RiskStateful: &s.Risks.Stateful,
		}[step.Risk]; risk != nil {
			*risk++
		}
		for _, c := range step.Changes {
			if c.Cause == plan.CauseDrift {
				s.Drifted++
				break
			}
		}
	})
	for _, problem := range p.Problems {
		if problem.Blocking {
			s.Blocking++
		} else {
			s.Warnings++
		}
	}
	return s
}
