package findings

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Name      string    `xml:"name,attr"`
	Classname string    `xml:"classname,attr"`
	File      string    `xml:"file,attr,omitempty"`
	Failures  []failure `xml:"failure"`
	Skipped   *skipped  `xml:"skipped"`
	Out       string    `xml:"system-out,omitempty"`
}

type failure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
}

type skipped struct {
	Message string `xml:"message,attr"`
}

// JUnit prints plans as test reports: a suite for each release and a case for each step. What
// blocks a plan is a failure, what does not change is skipped, and the fields that change are the
// case's output. The format is that of Jenkins (junit-10.xsd of its xunit-plugin), which GitLab and
// Azure can also read.
func JUnit(w io.Writer, plans ...*plan.Document) error {
	out := suites{Suites: []suite{}}
	for _, p := range plans {
		out.Suites = append(out.Suites, suiteOf(p))
	}
	data, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the findings: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(data)+"\n")
	return err
}

func suiteOf(p *plan.Document) suite {
	out := suite{Name: nameOf(p)}
	failures := map[string][]failure{}
	var others []testcase
	for _, f := range Of(p) {
		if f.Level != Failure {
			continue
		}
		of := failure{Message: f.ofRelease(), Type: f.Rule}
		if f.Step == "" {
			others = append(others, testcase{Name: f.Rule, Classname: out.Name, File: f.Place.File, Failures: []failure{of}})
			continue
		}
		failures[f.Step] = append(failures[f.Step], of)
	}
	words := report.WordsFor(p)
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpWait || s.Op == plan.OpRecord {
			return
		}
		c := testcase{Name: escape.Line(s.ID), Classname: out.Name, File: s.Place.File, Failures: failures[s.ID], Out: fields(words, s)}
		if s.Op == plan.OpNone && len(c.Failures) == 0 {
			c.Skipped = &skipped{"unchanged"}
		}
		out.Cases = append(out.Cases, c)
	})
	out.Cases = append(out.Cases, others...)
	for _, c := range out.Cases {
		out.Tests++
		if len(c.Failures) > 0 {
			out.Failures++
		}
		if c.Skipped != nil {
			out.Skipped++
		}
	}
	return out
}

// fields returns what a step does and the fields that it changes, one per line, of which none is long:
// a test tab shows them all.
func fields(words report.Words, s *plan.Step) string {
	if s.Op == plan.OpNone {
		return ""
	}
	lines := []string{string(s.Op)}
	for _, c := range s.Changes {
		lines = append(lines, words.Change(c, longest))
	}
	return strings.Join(lines, "\n")
}
