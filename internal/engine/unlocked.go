package engine

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// tellUnlocked has the pending record say that its run has no lock, because it
// is not allowed to use Leases: then nobody can tell from the lock whether the
// run is still at work, and the pending status alone keeps others away.
func tellUnlocked(p *plan.Plan, lock apply.Lock) {
	held, ok := lock.(*releasestore.Held)
	if !ok || held == nil || held.Supported() {
		return
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Record != nil && s.Record.Status.Pending() && !strings.HasSuffix(s.Record.Description, plan.UnlockedMark) {
			s.Record.Description += plan.UnlockedMark
		}
	})
}

// pendingOf says whose a pending revision is. unread is true when Leases can't be
// read, so that its run's lock could not be asked for. What this very run has
// left, on its way back, is its own.
func (e *Engine) pendingOf(last *release.Revision, unread bool) (p plan.Pending) {
	description := last.Info.Description
	if !strings.HasPrefix(description, plan.PendingMark) {
		return p
	}
	p.Unlocked = !e.undoing && (unread || strings.HasSuffix(description, plan.UnlockedMark))
	p.Ours = !p.Unlocked
	return p
}
