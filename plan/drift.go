package plan

import (
	"time"

	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

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
