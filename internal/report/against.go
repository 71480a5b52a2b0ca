package report

import (
	"path"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// comparedWith returns "argo-cd 9.7.1 (base)" for a chart; files have the names that were given, without
// the folders of absolute paths.
func comparedWith(p *plan.Document) string {
	a := *p.Against
	if a.Kind == plan.AgainstChart && p.ChartFrom.Name != "" {
		return escape.Line(p.ChartFrom.Name+" "+p.ChartFrom.Version) + " (base)"
	}
	if strings.HasPrefix(a.Name, "/") && a.Name != "/dev/null" {
		a.Name = path.Base(a.Name)
	}
	return escape.Line(a.String())
}

// footnote says what a comparison, or a plan without dry runs, can't know; "" for other plans.
func footnote(p *plan.Document) string {
	if p.Applier != "" {
		return "Planned without dry runs (--judge-as): outcomes are estimated, and permissions are those of " + escape.Line(p.Applier) + "."
	}
	if p.ReadOnly {
		return "Planned without dry runs (--read-only): outcomes are estimated, and permissions were not checked."
	}
	if p.Against == nil {
		return ""
	}
	return "Compared with " + comparedWith(p) + ", not with live objects: drift is not known, outcomes are estimated, and this plan can't be applied."
}

// toldAbove reports whether the footnote already explains the step's estimate.
func toldAbove(p *plan.Document, s *plan.Step) bool {
	return (p.Against != nil || p.ReadOnly) && s.Estimate == plan.NotAsked
}
