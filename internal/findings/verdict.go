package findings

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// longestVerdict is the maximum length of a commit status on GitHub; other forges allow more.
const longestVerdict = 140

// failWord is what Atlantis looks for in the output of a policy check, in upper or lower case.
const failWord = "fail"

// Verdict sums up plans in one line of at most 140 characters: "shop/web: Plan: 1 to delete, 2 to
// change. Risks: 1 deletion". It contains the word "fail" if and only if a plan is blocked: a
// release with that in its name is not named.
func Verdict(plans ...*plan.Document) string {
	blocked, name, problems := 0, "", 0
	var sum plan.RiskCounts
	changing := 0
	for _, p := range plans {
		name = escape.Line(p.Release.String())
		if p.Blocked() {
			blocked++
			problems += p.Summary.Blocking
		}
		if p.Effect() == plan.EffectObjects {
			changing++
		}
		sum.Data += p.Summary.Risks.Data
		sum.Delete += p.Summary.Risks.Delete
		sum.Recreate += p.Summary.Risks.Recreate
		sum.ScaleDown += p.Summary.Risks.ScaleDown
		sum.Stateful += p.Summary.Risks.Stateful
	}
	line := fmt.Sprintf("%s, %d with changes", report.Count(len(plans), "release", "releases"), changing)
	if len(plans) == 1 {
		line = name + ": " + report.WordsFor(plans[0]).Verdict()
	}
	if risks := report.Dangers(sum); risks != "" {
		line += ". " + risks
	}
	if blocked > 0 {
		what := report.Count(blocked, "release", "releases")
		if len(plans) == 1 {
			what, line = name, strings.TrimPrefix(line, name+": ")
		}
		return short(fmt.Sprintf("%s would %s: blocked by %s. %s", what, failWord, report.Count(problems, "problem", "problems"), line))
	}
	if strings.Contains(strings.ToLower(line), failWord) {
		line = strings.TrimPrefix(line, name+": ")
		if strings.Contains(strings.ToLower(line), failWord) {
			line = report.Count(changing, "release", "releases") + " with changes"
		}
	}
	return short(line)
}

func short(line string) string {
	if runes := []rune(line); len(runes) > longestVerdict {
		return string(runes[:longestVerdict-1]) + "…"
	}
	return line
}
