package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// SetStatementPredicate is the predicate type of a set's statement.
const SetStatementPredicate = "https://github.com/kubectl-release/kubectl-release/set/v1"

type setPredicate struct {
	Head        string             `json:"head,omitempty"`
	Base        string             `json:"base,omitempty"`
	Origin      *plan.Origin       `json:"origin,omitempty"`
	Releases    []statedRelease    `json:"releases"`
	Summary     releaseset.Summary `json:"summary"`
	ToolVersion string             `json:"toolVersion"`
}

// statedRelease is one plan of the set; the set's digest covers it through its own digest.
type statedRelease struct {
	Key          releaseset.Key `json:"key"`
	Operation    plan.Operation `json:"operation"`
	Digest       string         `json:"digest"`
	EffectDigest string         `json:"effectDigest"`
}

// SetStatement prints what can be attested of a saved set, as an in-toto statement about the digest
// of its set.json. Errors are those of w, and a set that is not saved.
func SetStatement(w io.Writer, d *releaseset.Document) error {
	digest, ok := strings.CutPrefix(d.Digest, "sha256:")
	if !ok {
		return fmt.Errorf("the set of %s is not saved: a statement is about a file", strings.Join(d.Files, ", "))
	}
	predicate := setPredicate{Head: d.Head, Base: d.Base, Origin: d.Origin, Releases: []statedRelease{}, Summary: d.Summary, ToolVersion: d.ToolVersion}
	for _, r := range d.Releases {
		if r.File != "" {
			predicate.Releases = append(predicate.Releases, statedRelease{r.Key, r.Plan.Operation, r.Digest, r.Plan.EffectDigest})
		}
	}
	err := indented(w, statement{
		Type: statementType, PredicateType: SetStatementPredicate, Predicate: predicate,
		Subject: []statementSubject{{Name: strings.Join(d.Files, ","), Digest: map[string]string{"sha256": digest}}},
	})
	if err != nil {
		return fmt.Errorf("create the statement for the set: %w", err)
	}
	return nil
}
