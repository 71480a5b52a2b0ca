package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Policy says which risks stand against applying a plan. A step is denied for
// a risk that it bears (Step.Risks) when a rule of Deny matches it and no rule
// of Allow from the same source does: the exceptions of one file don't soften
// another file or the command line.
type Policy struct {
	Deny  []Rule `json:"deny,omitempty"`
	Allow []Rule `json:"allow,omitempty"`
}

// Rule matches steps.
type Rule struct {
	Risk Risk `json:"risk"`
	// Kinds are the kinds that it is about, as Kind or Kind.group; none: all.
	Kinds []string `json:"kinds,omitempty"`
	// Names are patterns of objects' names, with the wildcards * and ?; none: all.
	Names []string `json:"names,omitempty"`
	// Because is why, for those whom it stops.
	Because string `json:"because,omitempty"`
	// Source is where the rule comes from: a file's name, or "--deny".
	Source string `json:"source,omitempty"`
}

// DenyFlag is the Source of rules from the command line.
const DenyFlag = "--deny"

// And is the policy with the rules of another one.
func (p Policy) And(other Policy) Policy {
	return Policy{Deny: slices.Concat(p.Deny, other.Deny), Allow: slices.Concat(p.Allow, other.Allow)}
}

// DenyRisks is the policy of the flag --deny. Errors: a word that is no risk.
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
	return "", fmt.Errorf("%q is no risk: it is one of %s", word, strings.Join(names, ", "))
}

func (r Rule) matches(risk Risk, id manifest.ID) bool {
	if r.Risk != risk {
		return false
	}
	kind := func(k string) bool { return k == id.Kind || k == id.GroupKind().String() }
	name := func(pattern string) bool {
		ok, err := path.Match(pattern, id.Name)
		return err == nil && ok
	}
	return (len(r.Kinds) == 0 || slices.ContainsFunc(r.Kinds, kind)) && (len(r.Names) == 0 || slices.ContainsFunc(r.Names, name))
}

// Denied are the blocking problems that the policy makes of the plan's risks,
// one for each risk of a step and source that denies it.
func (p Policy) Denied(made *Plan) []Problem {
	var out []Problem
	made.Steps(func(_ StageName, s *Step) {
		for _, risk := range s.Risks() {
			told := map[string]bool{}
			for _, rule := range p.Deny {
				if told[rule.Source] || !rule.matches(risk, s.Object) || p.allows(risk, s.Object, rule.Source) {
					continue
				}
				told[rule.Source] = true
				out = append(out, rule.problem(made.Operation, s))
			}
		}
	})
	return out
}

func (p Policy) allows(risk Risk, id manifest.ID, source string) bool {
	return slices.ContainsFunc(p.Allow, func(r Rule) bool { return r.Source == source && r.matches(risk, id) })
}

func (r Rule) problem(op Operation, s *Step) Problem {
	what := fmt.Sprintf("%s, which %s denies", riskOf(r.Risk, s), r.Source)
	if r.Because != "" {
		what += ": " + r.Because
	}
	lift := "have " + r.Source + " allow it"
	if r.Source == DenyFlag {
		what = fmt.Sprintf("%s, which --deny %s forbids", riskOf(r.Risk, s), r.Risk)
		lift = "run again without --deny " + string(r.Risk)
	}
	return Problem{Kind: ProblemPolicy, Risk: r.Risk, Step: s.ID, Object: s.Object, Blocking: true, What: what, Do: avoid(r.Risk, op, s) + ", or " + lift}
}

// riskOf says what the plan would do.
func riskOf(r Risk, s *Step) string {
	switch r {
	case RiskData:
		if s.Op == OpRecreate {
			return "it would be deleted and created, and what it holds would be lost"
		}
		if s.Op != OpDelete {
			return "volume claims of it would be deleted with their data"
		}
		return "it would be deleted with what it holds"
	case RiskDelete:
		return "it would be deleted"
	case RiskRecreate:
		return "it would be deleted and created again"
	case RiskScaleDown:
		return "it would be scaled down"
	case RiskStateful:
		c, _, _ := s.Gravest()
		return c.Path + " would be changed"
	}
	return string(r)
}

// avoid is how a chart gets around the risk.
func avoid(r Risk, op Operation, s *Step) string {
	const keep = manifest.ResourcePolicyAnnotation + ": " + manifest.ResourcePolicyKeep
	switch {
	case r == RiskScaleDown:
		return "keep the number of replicas"
	case r == RiskData && s.Op != OpDelete && s.Op != OpRecreate:
		return "keep the number of replicas, or set persistentVolumeClaimRetentionPolicy.whenScaled to Retain"
	case r == RiskStateful:
		return "leave that as it is"
	case s.Op == OpRecreate:
		return "leave the immutable field as it is"
	case s.MakesRoom():
		return "give the hook another name"
	case op == Uninstall:
		return "have the chart keep it by the annotation " + keep
	default:
		return "keep it in the chart, or in the cluster by the annotation " + keep
	}
}

// judge blocks the steps that the policy denies.
func (b *builder) judge() { b.problems(b.in.Options.Policy.Denied(b.plan)...) }

// Judged is a plan that was made before, judged by more rules. They stay with it,
// so that the plan which apply makes anew is judged by them, too.
func (p *Plan) Judged(more Policy) *Plan {
	out := *p
	out.Options.Policy = p.Options.Policy.And(more)
	denied := more.Denied(p)
	out.Problems = slices.Concat(p.Problems, denied)
	out.Summary.Blocking += len(denied)
	return &out
}
