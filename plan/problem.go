package plan

import (
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Problem is something a reviewer must know. A blocking one forbids applying.
type Problem struct {
	// Kind is the sort of problem, "" for a warning of no other kind.
	Kind ProblemKind `json:"kind,omitempty"`
	// Risk is the one that a policy denies.
	Risk     Risk        `json:"risk,omitempty"`
	Step     string      `json:"step,omitempty"`
	Object   manifest.ID `json:"object,omitzero"`
	Blocking bool        `json:"blocking"`
	// Fields are those of the object that it is about, where it is about some.
	Fields []string `json:"fields,omitempty"`
	// Foremost marks a problem that has to be read before anything else in the plan.
	Foremost bool   `json:"foremost,omitempty"`
	What     string `json:"what"`
	// Do is advice on how to solve it, "" when there is none.
	Do string `json:"do,omitempty"`
	// Place is the line of the file that it comes from, where that is known.
	Place Place `json:"place,omitzero"`
}

// Text is the object, if it is about one, and What: "ConfigMap shop/web: it is …".
func (p Problem) Text() string { return p.about(p.Object.String()) }

// Brief is Text with the object's kind and name alone: "ConfigMap/web: it is …".
func (p Problem) Brief() string { return p.about(p.Object.Kind + "/" + p.Object.Name) }

func (p Problem) about(object string) string {
	if p.Object.Kind == "" {
		return p.What
	}
	return object + ": " + p.What
}

// ProblemKind is a sort of problem. The words are part of rule identifiers,
// which people write into the settings of other tools.
type ProblemKind string

const (
	// ProblemImmutable: a field can't be changed in place.
	ProblemImmutable ProblemKind = "immutable"
	// ProblemPermission: who plans or applies may not do or read something.
	ProblemPermission ProblemKind = "permission"
	// ProblemQuota: a ResourceQuota has no room.
	ProblemQuota ProblemKind = "quota"
	// ProblemInvalid: the cluster would not take it, or the chart contradicts itself.
	ProblemInvalid ProblemKind = "invalid"
	// ProblemConflict: another object, release or field manager is in the way.
	ProblemConflict ProblemKind = "conflict"
	// ProblemLocked: another operation may be at work on the release.
	ProblemLocked ProblemKind = "lock"
	// ProblemPolicy: a policy denies the Risk of a step.
	ProblemPolicy ProblemKind = "policy"
	// ProblemValues and ProblemChart: values or chart are odd; they only warn.
	ProblemValues ProblemKind = "values"
	ProblemChart  ProblemKind = "chart"
)

// Impossible is the document in the place of a plan that can't be made: it is blocked by what
// stands against that.
func Impossible(of release.Key, why string) *Document {
	return &Document{
		Release: of, Summary: Summary{Blocking: 1},
		Problems: []Problem{{Kind: ProblemInvalid, Blocking: true, What: why}},
	}
}

// kind returns the kind of problem that a refusal is.
func (r Refusal) kind() ProblemKind {
	switch {
	case r.Immutable:
		return ProblemImmutable
	case r.exceedsQuota():
		return ProblemQuota
	case r.Reason == "Forbidden" && !byAdmission(r):
		return ProblemPermission
	}
	return ProblemInvalid
}
