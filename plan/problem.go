package plan

import (
	"errors"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Problem is something that a reviewer must know. A blocking problem forbids applying the plan.
type Problem struct {
	// Kind is the kind of problem, empty for a general warning.
	Kind ProblemKind `json:"kind,omitempty"`
	// Risk is the risk that a policy denies.
	Risk     Risk        `json:"risk,omitempty"`
	Step     string      `json:"step,omitempty"`
	Object   manifest.ID `json:"object,omitzero"`
	Blocking bool        `json:"blocking"`
	// Fields are the fields of the object that the problem concerns, if any.
	Fields []string `json:"fields,omitempty"`
	// Foremost marks a problem that has to be read before anything else in the plan.
	Foremost bool   `json:"foremost,omitempty"`
	What     string `json:"what"`
	// Do is advice on how to solve it; empty if there is none.
	Do string `json:"do,omitempty"`
	// Place is the line of the file that it comes from, if known.
	Place Place `json:"place,omitzero"`
}

// Text returns What, after the object if the problem concerns one: "ConfigMap shop/web: it is …".
func (p Problem) Text() string { return p.about(p.Object.String()) }

// Brief returns Text with only the object's kind and name: "ConfigMap/web: it is …".
func (p Problem) Brief() string { return p.about(p.Object.Kind + "/" + p.Object.Name) }

func (p Problem) about(object string) string {
	if p.Object.Kind == "" {
		return p.What
	}
	return object + ": " + p.What
}

// WhyBlocked returns the blocking problems as one error, nil if there are none.
func (p *Document) WhyBlocked() error {
	var errs []error
	for _, problem := range p.Problems {
		if problem.Blocking {
			errs = append(errs, errors.New(problem.Text()))
		}
	}
	return errors.Join(errs...)
}

// ProblemKind is a kind of problem. The words are part of rule IDs, which
// people use in the settings of other tools.
type ProblemKind string

const (
	// ProblemImmutable means that a field can't be changed in place.
	ProblemImmutable ProblemKind = "immutable"
	// ProblemPermission means that whoever plans or applies lacks a permission.
	ProblemPermission ProblemKind = "permission"
	// ProblemQuota means that a ResourceQuota would be exceeded.
	ProblemQuota ProblemKind = "quota"
	// ProblemInvalid means that the cluster would not accept something, or that the chart
	// contradicts itself.
	ProblemInvalid ProblemKind = "invalid"
	// ProblemConflict means that another object, release or field manager is in the way.
	ProblemConflict ProblemKind = "conflict"
	// ProblemLocked means that another operation may be at work on the release.
	ProblemLocked ProblemKind = "lock"
	// ProblemPolicy means that a policy denies a step.
	ProblemPolicy ProblemKind = "policy"
	// ProblemValues and ProblemChart are warnings about odd values or an odd chart.
	ProblemValues ProblemKind = "values"
	ProblemChart  ProblemKind = "chart"
)

// Impossible returns what replaces a plan that can't be made: it is blocked by the reason why, which
// is at a line, if that is known.
func Impossible(of release.Key, why string, at Place, toolVersion string) *Plan {
	return &Plan{Document: Document{
		FormatVersion: FormatVersion, ToolVersion: toolVersion, Release: of, Place: at, Stages: []Stage{}, Summary: Summary{Blocking: 1},
		Problems: []Problem{{Kind: ProblemInvalid, Blocking: true, What: why}},
	}}
}

// Unplanned returns what stands for the plan of a release that has left its set without one: nothing changes, and
// the problem says what happens to it.
func Unplanned(of release.Key, why Problem, toolVersion string) *Plan {
	return &Plan{Document: Document{
		FormatVersion: FormatVersion, ToolVersion: toolVersion, Operation: Uninstall, Release: of, Stages: []Stage{}, Problems: []Problem{why},
	}}
}

// Impossible reports whether the document replaces a plan that can't be made.
func (p *Document) Impossible() bool { return p.Operation == "" }

// kind returns the kind of problem that the refusal amounts to.
func (r Refusal) kind() ProblemKind {
	switch {
	case r.Immutable:
		return ProblemImmutable
	case r.Reason == "Forbidden" && ofQuota.MatchString(r.Message):
		return ProblemQuota
	case r.lacksPermission():
		return ProblemPermission
	}
	return ProblemInvalid
}
