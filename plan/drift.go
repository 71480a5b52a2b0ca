package plan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// DriftScope limits what CorrectDrift corrects.
type DriftScope struct {
	// Overlook returns the part of a step that is left alone; it does not change the step. If it is
	// nil, nothing is left alone.
	Overlook func(*Step) Overlooked
	// Partly corrects only what can be corrected: a step that would delete and recreate its object,
	// or that a problem blocks, does nothing (OpNone; see Uncorrected). Such a plan is never
	// blocked.
	Partly bool
}

// Overlooked is the part of a drift-correcting step that is left alone; the zero value leaves
// nothing alone.
type Overlooked struct {
	// All leaves the object as it is.
	All bool
	// Sent and After replace the step's Body and After, and Changes are the step's changes that
	// remain. They are used only if Sent is not nil.
	Sent, After *unstructured.Unstructured
	Changes     []Change
}

// correctDrift plans the steps that restore what the newest revision sent. Fields that others have
// added stay.
func (b *builder) correctDrift() {
	b.filterStored()
	var steps []Step
	for i, o := range b.in.Target.Objects {
		if b.targets[o.ID] != i { // a revision of Helm's may have it twice, see checkTwice
			continue
		}
		step := b.wantedStep(o)
		b.overlook(&step)
		if step.Op == OpPatch && len(step.Changes) == 0 && step.After != nil {
			step.Op, step.Why = OpNone, "it has not drifted"
		}
		steps = append(steps, step)
	}
	b.stage(StageResources, b.inTurn(installWaves(steps)))
}

// overlook takes out of the step what DriftScope.Overlook leaves alone.
func (b *builder) overlook(step *Step) {
	if b.in.DriftScope.Overlook == nil {
		return
	}
	switch left := b.in.DriftScope.Overlook(step); {
	case left.All:
		step.Op, step.Changes = OpNone, nil
	case left.Sent != nil:
		step.Body, step.After, step.Changes = left.Sent, left.After, left.Changes
	}
}

// Reasons why steps do nothing in a plan with DriftScope.Partly.
const (
	noDryRun     = "no dry run could be made"
	wouldReplace = "it would have to be deleted and created again"
)

// correctPartly turns steps that can't be carried out into steps that do nothing. It must be called
// when all problems are known.
func (b *builder) correctPartly() {
	if !b.in.DriftScope.Partly {
		return
	}
	hindered := map[manifest.ID]bool{}
	for i := range b.plan.Problems {
		p := &b.plan.Problems[i]
		hindered[p.Object] = hindered[p.Object] || p.Blocking
		p.Blocking = false
	}
	b.plan.Steps(func(_ StageName, s *Step) {
		why := ""
		switch {
		case s.Op == OpNone, s.Op == OpKeep:
			return
		case hindered[s.Object]:
			why = noDryRun
		case s.Op == OpRecreate:
			why = wouldReplace
		default:
			return
		}
		s.Op, s.Why, s.Risk = OpNone, why, ""
		b.problems(Problem{Step: s.ID, Object: s.Object, What: "its drift is not corrected: " + why})
	})
}

// Uncorrected returns the objects that a plan with DriftScope.Partly leaves as they are although they
// may have drifted, and the reason for each, in the order of its steps.
func (p *Document) Uncorrected() (objects []manifest.ID, why []string) {
	p.Steps(func(_ StageName, s *Step) {
		if s.Op == OpNone && (s.Why == noDryRun || s.Why == wouldReplace) {
			objects, why = append(objects, s.Object), append(why, s.Why)
		}
	})
	return objects, why
}

// writing returns the field manager that last set a field of a live object, and when; both are
// empty if only the release itself owns the field.
func (b *builder) writing(id manifest.ID, path string) (manager string, at time.Time) {
	live := b.live(id)
	entry := managedfields.LastWriter(live.Managers, live.content(), path, b.in.Options.FieldManager, FieldManager)
	return entry.Manager, writtenAt(entry)
}

func writtenAt(entry metav1.ManagedFieldsEntry) (at time.Time) {
	if entry.Time != nil {
		at = entry.Time.UTC()
	}
	return at
}

// written returns "kubectl-edit 3h ago", without the age if the time is not known.
func written(manager string, at, now time.Time) string {
	if at.IsZero() || now.IsZero() {
		return manager
	}
	return manager + " " + Age(now.Sub(at)) + " ago"
}
