package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// StatementPredicate is the predicate type of a plan's statement.
const StatementPredicate = "https://github.com/kubectl-release/kubectl-release/plan/v1"

// statementType is the type of
// https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md.
const statementType = "https://in-toto.io/Statement/v1"

type statement struct {
	Type          string             `json:"_type"`
	Subject       []statementSubject `json:"subject"`
	PredicateType string             `json:"predicateType"`
	Predicate     any                `json:"predicate"`
}

type statementSubject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type statementPredicate struct {
	Release      release.Key       `json:"release"`
	Operation    plan.Operation    `json:"operation"`
	FromRevision int               `json:"fromRevision"`
	ToRevision   int               `json:"toRevision"`
	Cluster      plan.Cluster      `json:"cluster"`
	EffectDigest string            `json:"effectDigest"`
	Chart        plan.ChartRef     `json:"chart,omitzero"`
	ChartSource  *plan.ChartSource `json:"chartSource,omitempty"`
	Summary      plan.Summary      `json:"summary"`
	// Policy is the digest of the rules that judged the plan, "" if there were none.
	Policy      string       `json:"policy,omitempty"`
	Origin      *plan.Origin `json:"origin,omitempty"`
	ToolVersion string       `json:"toolVersion"`
}

// Statement prints what can be attested of a saved plan, as an in-toto statement about its digest.
// Errors are those of w, and a plan that is not saved.
func Statement(w io.Writer, p *plan.Document) error {
	digest, ok := strings.CutPrefix(p.PlanDigest, "sha256:")
	if !ok {
		return fmt.Errorf("the plan of %s is not saved: a statement is about a file", p.Release)
	}
	s := statement{
		Type: statementType, PredicateType: StatementPredicate,
		Subject: []statementSubject{{Name: p.Release.String(), Digest: map[string]string{"sha256": digest}}},
	}
	predicate := statementPredicate{
		Release: p.Release, Operation: p.Operation, FromRevision: p.FromRevision, ToRevision: p.ToRevision,
		Cluster: p.Cluster, EffectDigest: p.EffectDigest, Chart: p.ChartTo, ChartSource: p.ChartSource,
		Summary: p.Summary, Origin: p.Origin, ToolVersion: p.ToolVersion,
	}
	if rules := p.Options.Policy; len(rules.Deny)+len(rules.Allow) > 0 {
		text, err := json.Marshal(rules)
		if err != nil {
			return fmt.Errorf("create the statement for the plan of %s: %w", p.Release, err)
		}
		predicate.Policy = plan.Digest(text)
	}
	s.Predicate = predicate
	if err := indented(w, s); err != nil {
		return fmt.Errorf("create the statement for the plan of %s: %w", p.Release, err)
	}
	return nil
}

// StatedDigest returns the digest of the plan or set that a statement is about. It is an
// error if text is not a statement with that predicate type.
func StatedDigest(text []byte, predicate string) (string, error) {
	var s statement
	if err := json.Unmarshal(text, &s); err != nil {
		return "", fmt.Errorf("it is not a statement: %w", err)
	}
	if s.Type != statementType || s.PredicateType != predicate || len(s.Subject) != 1 || s.Subject[0].Digest["sha256"] == "" {
		return "", fmt.Errorf("it is not a statement of the type %s about one digest (its predicate type is %q)", predicate, s.PredicateType)
	}
	return "sha256:" + s.Subject[0].Digest["sha256"], nil
}
