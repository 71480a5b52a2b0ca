package plan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// correctDrift has all objects be what the newest revision sent. What others have added is
// theirs.
func (b *builder) correctDrift() {
	b.filterStored()
	var steps []Step
	for _, o := range b.in.Target.Objects {
		step := b.wantedStep(o)
		if b.in.Overlook != nil {
			b.in.Overlook(&step)
		}
		if step.Op == OpPatch && len(step.Changes) == 0 && step.After != nil {
			step.Op, step.Why = OpNone, "it has not drifted"
		}
		steps = append(steps, step)
	}
	b.stage(StageResources, installWaves(steps))
}

// writing is the field manager that last set a field of a live object, and when; nothing
// when nobody but the release itself claims it.
func (b *builder) writing(id manifest.ID, path string) (manager string, at time.Time) {
	entry := managedfields.LastWriter(b.live(id).Managers, path, b.in.Options.FieldManager, helmsManager)
	return entry.Manager, writtenAt(entry)
}

func writtenAt(entry metav1.ManagedFieldsEntry) (at time.Time) {
	if entry.Time != nil {
		at = entry.Time.UTC()
	}
	return at
}

// written is "kubectl-edit 3h ago", without the time where it is not known.
func written(manager string, at, now time.Time) string {
	if at.IsZero() || now.IsZero() {
		return manager
	}
	return manager + " " + Age(now.Sub(at)) + " ago"
}
