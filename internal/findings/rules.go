package findings

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// ruleText describes a rule in one sentence. For kinds of rules that this version does not know, it
// returns the identifier.
func ruleText(rule string) string {
	kind, of, _ := strings.Cut(rule, "/")
	switch kind {
	case "risk":
		return riskTexts[plan.Risk(of)]
	case "policy":
		return strings.TrimSpace("A policy denies it. " + riskTexts[plan.Risk(of)])
	case "blocked":
		return blockedTexts[plan.ProblemKind(of)]
	case "warning":
		return "Something is odd about the chart, its values or the cluster; it stops nobody."
	case "drift":
		return "The object was changed outside of the release, and the plan takes that back."
	case "hook":
		return "A hook is new, or not as it was in the last revision."
	case "values":
		return "A value of yours changes."
	}
	return rule
}

var riskTexts = map[plan.Risk]string{
	plan.RiskData:      "Data is lost: of a volume, of a namespace, or custom resources.",
	plan.RiskDelete:    "An object is deleted.",
	plan.RiskRecreate:  "An object is deleted and created again.",
	plan.RiskScaleDown: "There will be fewer replicas.",
	plan.RiskStateful:  "What data depends on is changed.",
}

var blockedTexts = map[plan.ProblemKind]string{
	plan.ProblemImmutable:  "A field can't be changed in place.",
	plan.ProblemPermission: "A permission is missing.",
	plan.ProblemQuota:      "A ResourceQuota has no room.",
	plan.ProblemInvalid:    "The cluster would not take it, or the chart contradicts itself.",
	plan.ProblemConflict:   "Something or somebody else is in the way.",
	plan.ProblemLocked:     "Another operation may be at work on the release.",
}
