package plan

import (
	"time"

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

// writing tells who last set a field of a live object, with how long ago
// that was, and when; nothing when nobody but the release itself claims it.
func (b *builder) writing(id manifest.ID, path string) (who string, at time.Time) {
	entry := managedfields.LastWriter(b.live(id).Managers, path, b.in.Options.FieldManager, helmsManager)
	if entry.Time == nil {
		return entry.Manager, time.Time{}
	}
	at = entry.Time.UTC()
	if b.in.Now.IsZero() {
		return entry.Manager, at
	}
	return entry.Manager + " " + Age(b.in.Now.Sub(at)) + " ago", at
}
