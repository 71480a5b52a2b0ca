package releaseset

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// FormatVersion is the version of Document: minor versions only add.
const FormatVersion = "1.0"

// Document is the plan of a set, for people and machines: every entry of the set, and
// the plans of those that a change touches.
type Document struct {
	FormatVersion string `json:"formatVersion"`
	ToolVersion   string `json:"toolVersion"`
	// Files declare the set.
	Files []string `json:"files"`
	// Environment and Selectors are what the releases were selected by, as on the command
	// line; empty for all.
	Environment string   `json:"environment,omitempty"`
	Selectors   []string `json:"selectors,omitempty"`
	// Head and Base are the commits that are compared; "" when these are not commits.
	Head string `json:"head,omitempty"`
	Base string `json:"base,omitempty"`
	// Compared says that there was something to compare with, so entries may be
	// untouched.
	Compared bool `json:"compared"`
	// Digest is "sha256:" and the SHA-256 of the set.json that was written, in hex; "" without one.
	Digest string `json:"digest,omitempty"`
	// Origin says where and when the set was saved; nil if it was not.
	Origin *plan.Origin `json:"origin,omitempty"`
	// Releases are in the order of risk: see Finish.
	Releases []Planned `json:"releases"`
	Warnings []string  `json:"warnings,omitempty"`
	// Unread are the set's, so releases may be missing here. They count as failed.
	Unread  []string `json:"unread,omitempty"`
	Summary Summary  `json:"summary"`
}

// Selection returns what the releases were selected by, such as "-e prod -l tier=front"; "" for all.
func (d *Document) Selection() string {
	var parts []string
	if d.Environment != "" {
		parts = append(parts, "-e "+d.Environment)
	}
	for _, selector := range d.Selectors {
		parts = append(parts, "-l "+selector)
	}
	return strings.Join(parts, " ")
}

// Planned is one entry of a set with its plan.
type Planned struct {
	Key     Key         `json:"key"`
	Release release.Key `json:"release"`
	// Cluster is the key's.
	Cluster string `json:"cluster,omitempty"`
	Chart   Chart  `json:"chart,omitzero"`
	From    Place  `json:"from,omitzero"`
	Needs   []Key  `json:"needs,omitempty"`
	// Touched says that the entry, or what it is made of, differs from the base;
	// Because says what does: "chart", "values web/prod.yaml".
	Touched bool     `json:"touched"`
	Because []string `json:"because,omitempty"`
	// Left says that the base has the entry and the set does not.
	Left bool `json:"left,omitempty"`
	// Absent says that there is nothing to uninstall: the release does not exist.
	Absent bool `json:"absent,omitempty"`
	// Manager is the object that deploys the entry, "HelmRelease apps/web", and Verdict
	// what its controller does about it.
	Manager string   `json:"manager,omitempty"`
	Verdict *Verdict `json:"verdict,omitempty"`
	// Plan is nil for what is not planned: entries that are untouched, that have left
	// the set, or whose planning has failed, with Error.
	Plan  *plan.Document `json:"plan,omitempty"`
	Error string         `json:"error,omitempty"`
	// ErrorAt is the template's line that Error is about; empty for other errors.
	ErrorAt Place `json:"errorAt,omitzero"`
	// File is the saved plan, in the folder of the set; Digest is the plan's digest.
	File   string `json:"file,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Deferred says why the entry can be planned properly only once what it needs
	// exists; "" for others. Until then its plan is an estimate.
	Deferred string `json:"deferred,omitempty"`
}

// Summary counts the releases of a set.
type Summary struct {
	Planned   int `json:"planned"`
	Changed   int `json:"changed"`
	Untouched int `json:"untouched"`
	// Idle are those that are touched but that their controller does nothing about.
	Idle     int `json:"idle,omitempty"`
	Left     int `json:"left"`
	Blocked  int `json:"blocked"`
	Failed   int `json:"failed"`
	Deferred int `json:"deferred"`
	// Objects is the sum of the plans' summaries.
	Objects plan.Summary `json:"objects"`
}

// Blocked reports whether the entry can't be applied as it is.
func (p *Planned) Blocked() bool {
	return p.Error != "" || p.Plan != nil && p.Plan.Summary.Blocking > 0
}

// Unknown is the action of a verdict if it is not known what the entry's controller does.
const Unknown = "unknown"

// Unsure reports whether it is not known what the entry's controller does.
func (p *Planned) Unsure() bool { return p.Verdict != nil && p.Verdict.Action == Unknown }

// Leaves returns what is to be known about a release that has left the set and is not planned: what its controller does,
// if it has one, or that nothing manages it. It is nil for all others, and for a release that does not exist.
func (p *Planned) Leaves() *plan.Problem {
	switch {
	case !p.Left || p.Absent || p.Plan != nil || p.Error != "":
		return nil
	case p.Verdict != nil:
		return &plan.Problem{What: "it has left the set; what its controller does: " + p.Verdict.Text() + ": " + strings.Join(p.Verdict.Notes, "; ")}
	}
	return &plan.Problem{What: "it has left the set and is not uninstalled: nothing manages it any more", Do: "plan with --prune to uninstall it, or declare it again"}
}

// Effect returns the most severe effect of a set's plans. That an entry leaves the set changes no object, but what is
// declared, as a change of the record alone does; so does what a controller may do.
func (d *Document) Effect() plan.Effect {
	effect := plan.EffectNone
	for _, r := range d.Releases {
		if r.Leaves() != nil || r.Unsure() {
			effect = plan.EffectRecord
		}
		if r.Plan == nil {
			continue
		}
		switch r.Plan.Effect() {
		case plan.EffectObjects:
			return plan.EffectObjects
		case plan.EffectRecord:
			effect = plan.EffectRecord
		case plan.EffectNone:
		}
	}
	return effect
}

// Finish sorts the releases by how much they may hurt, and counts them. It expects them
// in the order of their needs, which equally severe ones keep.
func (d *Document) Finish() {
	slices.SortStableFunc(d.Releases, func(a, b Planned) int { return cmp.Compare(a.severity(), b.severity()) })
	d.Summary = Summary{Failed: len(d.Unread)}
	for i := range d.Releases {
		d.Summary.add(&d.Releases[i])
	}
}

// severity returns a release's place in that order: what can't be planned, then what is blocked, then all others.
func (p *Planned) severity() int {
	const blocked = -100
	switch {
	case p.Error != "":
		return 2 * blocked
	case p.Plan == nil:
		return map[bool]int{true: 10, false: 11}[p.Left]
	case p.Plan.Blocked():
		return blocked + p.harm()
	}
	return p.harm()
}

// harm is the severity of what a plan does: 1 for the worst.
func (p *Planned) harm() int {
	r := p.Plan.Summary.Risks
	for i, found := range []int{r.Data, r.Delete, r.Recreate, r.Stateful, r.ScaleDown, p.Plan.Summary.Drifted} {
		if found > 0 {
			return i + 1
		}
	}
	switch p.Plan.Effect() {
	case plan.EffectObjects:
		return 7
	case plan.EffectRecord:
		return 8
	case plan.EffectNone:
	}
	return 9
}

func (s *Summary) add(p *Planned) {
	switch {
	case p.Error != "":
		s.Failed++
	case p.Plan != nil:
		s.Planned++
	case p.Left:
		s.Left++
	case p.Verdict != nil:
		s.Idle++
	default:
		s.Untouched++
	}
	if p.Deferred != "" {
		s.Deferred++
	}
	if p.Plan == nil {
		return
	}
	if p.Plan.Effect() != plan.EffectNone {
		s.Changed++
	}
	if p.Plan.Blocked() {
		s.Blocked++
	}
	s.Objects = s.Objects.Add(p.Plan.Summary)
}
