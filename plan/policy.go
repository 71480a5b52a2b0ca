package plan

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Policy says which steps forbid applying a plan. A step is denied if a rule
// of Deny matches it, by one of its risks or by an expression, and no rule of
// Allow from the same source does: the exceptions in one file don't weaken
// another file or the command line.
type Policy struct {
	Deny  []Rule `json:"deny,omitempty"`
	Allow []Rule `json:"allow,omitempty"`
	// Review says who is asked to review which steps. It blocks nothing.
	Review []ReviewRule `json:"review,omitempty"`
}

// Rule matches the steps that meet all of its conditions. It has a risk, an expression, or both.
type Rule struct {
	Risk Risk `json:"risk,omitempty"`
	// Kinds are the kinds of objects that it applies to, as Kind or Kind.group; empty means all.
	Kinds []string `json:"kinds,omitempty"`
	// Names are patterns for names of objects, with the wildcards * and ?; empty means all.
	Names []string `json:"names,omitempty"`
	// Expression is a CEL expression over a step and the plan, see docs/policy.md.
	Expression string `json:"expression,omitempty"`
	// Because is the reason that is shown to those whom the rule stops.
	Because string `json:"because,omitempty"`
	// Source is where the rule comes from: a file's name, or "--deny".
	Source string `json:"source,omitempty"`
}

// DenyFlag is the Source of rules from the command line.
const DenyFlag = "--deny"

// And returns the policy with the rules of another one added.
func (p Policy) And(other Policy) Policy {
	return Policy{Deny: slices.Concat(p.Deny, other.Deny), Allow: slices.Concat(p.Allow, other.Allow), Review: slices.Concat(p.Review, other.Review)}
}

// DenyRisks returns the policy of the flag --deny. It returns an error if a word is not a risk.
func DenyRisks(words ...string) (Policy, error) {
	var p Policy
	for _, word := range words {
		risk, err := parseRisk(word)
		if err != nil {
			return Policy{}, err
		}
		p.Deny = append(p.Deny, Rule{Risk: risk, Source: DenyFlag})
	}
	return p, nil
}

func parseRisk(word string) (Risk, error) {
	if r := Risk(strings.TrimSpace(word)); slices.Contains(Risks(), r) {
		return r, nil
	}
	names := make([]string, 0, len(Risks()))
	for _, r := range Risks() {
		names = append(names, string(r))
	}
	return "", fmt.Errorf("%q is not a risk; the risks are %s", word, strings.Join(names, ", "))
}

// matches reports whether the rule applies to the step. It returns an error if the rule's
// expression can't be evaluated.
func (r Rule) matches(s *Step, e *expressions) (bool, error) {
	if !about(s.Object, r.Kinds, r.Names) {
		return false, nil
	}
	return e.hold(r.Expression, s)
}

// about reports whether the object's kind and name are among those given; an empty list allows all.
func about(id manifest.ID, kinds, names []string) bool {
	kind := func(k string) bool { return k == id.Kind || k == id.GroupKind().String() }
	return (len(kinds) == 0 || slices.ContainsFunc(kinds, kind)) && (len(names) == 0 || matchesAny(names, id.Name))
}

// matchesAny reports whether a name matches one of the patterns.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	})
}

// Denied returns the blocking problems that the policy finds in the plan: for each step, one for
// each of its risks and each source that denies it, and one for each matching rule without a risk.
// The gravest risks come first, those of rules without a risk last.
// A rule whose expression can't be evaluated denies the step.
func (p Policy) Denied(made *Plan) []Problem {
	var out []Problem
	e := expressionsOver(made)
	made.Steps(func(_ StageName, s *Step) {
		risks := s.Risks()
		for _, risk := range risks {
			out = append(out, p.denied(risk, made.Operation, s, e)...)
		}
		if s.Writes() || s.Op == OpRun || len(risks) > 0 {
			out = append(out, p.denied("", made.Operation, s, e)...)
		}
	})
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(a.Risk.rank(), b.Risk.rank()) })
	return out
}

// denied returns the problems for one risk of a step, or for rules without a risk.
func (p Policy) denied(risk Risk, op Operation, s *Step, e *expressions) (out []Problem) {
	told := map[string]bool{}
	for _, rule := range p.Deny {
		if rule.Risk != risk || told[rule.Source] {
			continue
		}
		matches, failed := rule.matches(s, e)
		if !matches && failed == nil {
			continue
		}
		allowed, unsure := p.allows(risk, s, rule.Source, e)
		if allowed {
			continue
		}
		told[rule.Source] = risk != ""
		problem := rule.problem(op, s)
		if failed != nil {
			problem.What += fmt.Sprintf(" (its expression can't be evaluated: %s)", failed)
		}
		if unsure != nil {
			problem.What += fmt.Sprintf(" (the expression of an exception can't be evaluated: %s)", unsure)
		}
		out = append(out, problem)
	}
	return out
}

// allows reports whether an exception from the source covers the step. It returns an error if none
// does and the expression of one of them can't be evaluated.
func (p Policy) allows(risk Risk, s *Step, source string, e *expressions) (bool, error) {
	var failed error
	for _, r := range p.Allow {
		if r.Source != source || r.Risk != risk && r.Risk != "" {
			continue
		}
		matches, err := r.matches(s, e)
		if matches {
			return true, nil
		}
		if err != nil {
			failed = err
		}
	}
	return false, failed
}

func (r Rule) problem(op Operation, s *Step) Problem {
	what, do := riskOf(r.Risk, s)+", which "+r.Source+" denies", avoid(r.Risk, op, s)
	lift := "have " + r.Source + " allow it"
	switch {
	case r.Risk == "":
		what, do = r.Source+" denies this "+string(s.Op), "change what the chart says"
	case r.Source == DenyFlag:
		what = fmt.Sprintf("%s, which --deny %s forbids", riskOf(r.Risk, s), r.Risk)
		lift = "run again without --deny " + string(r.Risk)
	}
	if r.Because != "" {
		what += ": " + r.Because
	}
	return Problem{Kind: ProblemPolicy, Risk: r.Risk, Step: s.ID, Object: s.Object, Blocking: true, What: what, Do: do + ", or " + lift}
}

// riskOf describes the risk of the step in words.
func riskOf(r Risk, s *Step) string {
	switch r {
	case RiskData:
		if s.Op == OpRecreate {
			return "it would be deleted and created again, and what it holds would be lost"
		}
		if s.Op != OpDelete {
			return "volume claims would be deleted with their data"
		}
		return "it would be deleted with what it holds"
	case RiskDelete:
		return "it would be deleted"
	case RiskRecreate:
		return "it would be deleted and created again"
	case RiskScaleDown:
		return "it would be scaled down"
	case RiskStateful:
		c, _, _ := s.MostSevere()
		return c.Path + " would be changed"
	}
	return string(r)
}

// avoid says how to avoid the risk.
func avoid(r Risk, op Operation, s *Step) string {
	const keep = manifest.ResourcePolicyAnnotation + ": " + manifest.ResourcePolicyKeep
	switch {
	case r == RiskScaleDown:
		return "keep the number of replicas"
	case r == RiskData && s.Op != OpDelete && s.Op != OpRecreate:
		return "keep the number of replicas, or set persistentVolumeClaimRetentionPolicy.whenScaled to Retain"
	case r == RiskStateful:
		return "keep the field as it is"
	case s.Op == OpRecreate:
		return "keep the immutable field as it is"
	case s.MakesRoom():
		return "give the hook another name"
	case op == Uninstall:
		return "have the chart keep it with the annotation " + keep
	default:
		return "keep it in the chart, or in the cluster with the annotation " + keep
	}
}

// applyPolicy adds the problems that the policy finds in the steps, and the reviews that it asks for.
func (b *builder) applyPolicy() {
	b.problems(b.in.Options.Policy.Denied(b.plan)...)
	b.plan.Reviews = b.in.Options.Policy.reviews(b.plan)
}

// WithPolicy returns a copy of a finished plan with the rules of another policy applied, too. The
// rules become part of its options, so apply also applies them when it plans again.
func (p *Plan) WithPolicy(more Policy) *Plan {
	out := *p
	out.Options.Policy = p.Options.Policy.And(more)
	denied := more.Denied(p)
	out.Problems = slices.Concat(p.Problems, denied)
	out.Summary.Blocking += len(denied)
	out.Reviews = out.Options.Policy.reviews(p)
	return &out
}
