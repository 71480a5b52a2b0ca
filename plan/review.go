package plan

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// ReviewRule says who is asked to review which steps, as CODEOWNERS does for files.
type ReviewRule struct {
	// By is who is asked: a user or team in the form in which forges mention them, such as
	// "@shop/ops".
	By string `json:"by"`
	// Risk and DriftOf select steps: those with the risk, or those that revert what one of these
	// field managers (patterns with * and ?) has written; with both, the steps that meet both.
	// Without either, every step that does anything is selected.
	Risk    Risk     `json:"risk,omitempty"`
	DriftOf []string `json:"driftOf,omitempty"`
	// Kinds and Names are as in a Rule.
	Kinds []string `json:"kinds,omitempty"`
	Names []string `json:"names,omitempty"`
	// Source is the name of the policy file.
	Source string `json:"source,omitempty"`
}

// Review asks a person or team to review a plan.
type Review struct {
	By string `json:"by"`
	// Asked lists the steps that they are asked to review.
	Asked []Asked `json:"asked"`
}

// Asked is a step that a review is requested for, and why.
type Asked struct {
	Step   string      `json:"step"`
	Object manifest.ID `json:"object"`
	// Why is the risk, or what is reverted: "takes back spec.replicas, set by kubectl-edit 3h ago";
	// empty for a rule with neither.
	Why string `json:"why,omitempty"`
}

// mention matches a user or team, such as GitHub's @org/team or GitLab's @group/subgroup.
var mention = regexp.MustCompile(`^@[A-Za-z0-9][-A-Za-z0-9_.]*(/[A-Za-z0-9][-A-Za-z0-9_.]*)*$`)

func (l ruleLines) reviews(read []policyReview, source string) ([]ReviewRule, error) {
	var out []ReviewRule
	var errs []error
	for i, r := range read {
		at := l.at("review", i)
		if !mention.MatchString(r.By) {
			errs = append(errs, fmt.Errorf("%s: by: %q is not a user or team; write @user or @organization/team", at, r.By))
		}
		rule := ReviewRule{By: r.By, DriftOf: r.DriftOf, Kinds: r.Kinds, Names: r.Names, Source: source}
		if r.Risk != "" {
			risk, err := parseRisk(r.Risk)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", at, err))
			}
			rule.Risk = risk
		}
		for _, manager := range r.DriftOf {
			if !isPattern(manager) {
				errs = append(errs, fmt.Errorf("%s: %q is not a valid pattern for field managers", at, manager))
			}
		}
		errs = append(errs, objects(at, r.Kinds, r.Names))
		out = append(out, rule)
	}
	return out, errors.Join(errs...)
}

// reviews returns the reviews that the policy asks for, in the order of its rules.
func (p Policy) reviews(made *Plan) []Review {
	var out []Review
	for _, rule := range p.Review {
		var asked []Asked
		made.Steps(func(_ StageName, s *Step) {
			if why, ok := rule.asks(s); ok {
				asked = append(asked, Asked{Step: s.ID, Object: s.Object, Why: why})
			}
		})
		if len(asked) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(r Review) bool { return r.By == rule.By })
		if i < 0 {
			i = len(out)
			out = append(out, Review{By: rule.By})
		}
		out[i].Asked = append(out[i].Asked, asked...)
	}
	return out
}

// asks reports whether the rule asks for a review of the step, and why.
func (r ReviewRule) asks(s *Step) (why string, ok bool) {
	if !s.Writes() && s.Op != OpRun || !about(s.Object, r.Kinds, r.Names) {
		return "", false
	}
	var reasons []string
	if r.Risk != "" {
		if !slices.Contains(s.Risks(), r.Risk) {
			return "", false
		}
		reasons = append(reasons, strings.ReplaceAll(string(r.Risk), "-", " "))
	}
	if len(r.DriftOf) > 0 {
		back := r.takenBack(s)
		if back == "" {
			return "", false
		}
		reasons = append(reasons, back)
	}
	return strings.Join(reasons, "; "), true
}

// takenBack describes the first change of the rule's field managers that the step reverts, "" if
// there is none.
func (r ReviewRule) takenBack(s *Step) string {
	for _, c := range s.Changes {
		if c.Cause == CauseDrift && matchesAny(r.DriftOf, c.Manager) {
			return "takes back " + c.Path + ", set by " + c.Detail
		}
	}
	return ""
}
