package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// setOf returns a set whose releases all change in different ways, and destroy something.
func setOf(releases int) *releaseset.Document {
	d := &releaseset.Document{Files: []string{"releases.yaml"}}
	for i := range releases {
		key := release.Key{Namespace: "shop", Name: fmt.Sprintf("app%03d", i)}
		id := manifest.ID{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: fmt.Sprintf("data-%d", i)}
		p := &plan.Document{Operation: plan.Upgrade, Release: key, FromRevision: i + 1, ToRevision: i + 2, EffectDigest: fmt.Sprintf("sha256:%03d", i)}
		p.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{{ID: id.Name, Op: plan.OpDelete, Object: id, Risk: plan.RiskData}}}}}}
		p.Summary = summarize(p)
		d.Releases = append(d.Releases, releaseset.Planned{
			Key: releaseset.Key{Namespace: key.Namespace, Name: key.Name}, Release: key, Touched: true, Plan: p,
		})
	}
	d.Finish()
	return d
}

// However little room there is, the table names all releases, or says how many more there are, and the
// risks are there.
func TestTheTableOfASetAlwaysFits(t *testing.T) {
	for _, tc := range []struct {
		releases, budget int
		// names says that there is room for all names.
		names bool
	}{{1, 1000, true}, {30, 1000, false}, {300, 1000, false}, {30, 4000, true}, {300, 20000, false}, {300, DefaultBudget, true}, {3000, DefaultBudget, false}} {
		d := setOf(tc.releases)
		d.Warnings = []string{strings.Repeat("a long warning ", 20), strings.Repeat("another warning ", 20)}
		var b strings.Builder
		if err := SetMarkdown(&b, d, MarkdownOptions{Budget: tc.budget}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if len(text) > tc.budget {
			t.Errorf("%d releases: %d bytes with a budget of %d", tc.releases, len(text), tc.budget)
		}
		if !strings.Contains(text, fmt.Sprintf("**Risks: %d loss", tc.releases)) {
			t.Errorf("%d releases in %d bytes: the risks are not there:\n%s", tc.releases, tc.budget, text)
		}
		table, rows, more := "", 0, 0
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, "| … and "):
				if _, err := fmt.Sscanf(line, "| … and %d more", &more); err != nil {
					t.Error(err)
				}
			case strings.HasPrefix(line, "| `"):
				rows++
			}
			if strings.HasPrefix(line, "| ") {
				table += line
				if cells := strings.Count(line, "|") - 1; cells != 5 {
					t.Errorf("a row with %d cells: %s", cells, line)
				}
			}
		}
		if rows+more != tc.releases {
			t.Errorf("%d releases in %d bytes: %d rows and %d more", tc.releases, tc.budget, rows, more)
		}
		if named := strings.Count(table, "`shop/app"); tc.names && named != tc.releases {
			t.Errorf("%d releases in %d bytes: %d are named:\n%s", tc.releases, tc.budget, named, table)
		}
	}
}

// Risks that do not fit into the last column of a terminal are below their release. Elsewhere, such as in the log of
// a job, a line is as long as it has to be: each risk is beside its release for whoever searches for it.
func TestTheTableOfASetFitsTheTerminal(t *testing.T) {
	d := setOf(2)
	d.Releases[1].Plan.Summary.Risks = plan.RiskCounts{Data: 1, Delete: 2, Recreate: 5, ScaleDown: 2, Stateful: 1}
	for columns, want := range map[int]string{
		60: `
RELEASE      OPERATION      CHART  OBJECTS
shop/app000  upgrade 1 → 2         -1
  1 loss of data
shop/app001  upgrade 2 → 3         -1
  1 loss of data, 2 deletions, 5 deletes-and-creates, 2
  scale-downs, 1 change of what data depends on
`,
		0: `
RELEASE      OPERATION      CHART  OBJECTS  RISKS
shop/app000  upgrade 1 → 2         -1       1 loss of data
shop/app001  upgrade 2 → 3         -1       1 loss of data, 2 deletions, 5 deletes-and-creates, 2 scale-downs, 1 change of what data depends on
`,
	} {
		var b strings.Builder
		if err := SetText(&b, d, TextOptions{Summary: true, Width: columns}); err != nil {
			t.Fatal(err)
		}
		if _, table, _ := strings.Cut(b.String(), "\n\n"); "\n"+table != want {
			t.Errorf("in %d columns:\n%s\nwant:%s", columns, table, want)
		}
	}
}
