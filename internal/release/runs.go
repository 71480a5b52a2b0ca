package release

import (
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Run is the duration of an operation or hook in an earlier revision.
type Run struct {
	Revision int `json:"revision"`
	// Took is in nanoseconds.
	Took time.Duration `json:"tookNanoseconds"`
	// Failed says that it failed.
	Failed bool `json:"failed,omitempty"`
}

// LastRuns returns the last n operations that deployed a revision, the newest first, as far as
// their beginning and end are known. An operation ends when the revision before it becomes
// superseded, with Helm as well; a first one, and a failed one, ends when its own record was last
// written. Ends are in whole seconds. An operation that did not wait ended before its pods were
// ready.
func (h History) LastRuns(n int) []Run {
	var out []Run
	for i := len(h) - 1; i >= 0 && len(out) < n; i-- {
		r := h[i]
		began, end := r.Info.LastDeployed.Truncate(time.Second), h.end(i)
		if began.IsZero() || end.Before(began) || i < len(h)-1 && end.After(h[i+1].Info.LastDeployed) {
			continue
		}
		out = append(out, Run{Revision: r.Version, Took: end.Sub(began), Failed: r.Info.Status == StatusFailed})
	}
	return out
}

// end returns when the operation that created h[i] ended; zero when that is not known.
func (h History) end(i int) time.Time {
	switch status := h[i].Info.Status; status {
	case StatusFailed:
		return h[i].Modified
	case StatusDeployed, StatusSuperseded:
		if before := h[:i].newest(StatusSuperseded); before != nil {
			return before.Modified
		}
		if status == StatusDeployed {
			return h[i].Modified
		}
	case StatusUnknown, StatusUninstalled, StatusUninstalling, StatusPendingInstall, StatusPendingUpgrade, StatusPendingRollback:
	}
	return time.Time{}
}

// RunsOf returns the last n completed runs of a hook, the newest first: of each revision the last
// one, whatever its event.
func (h History) RunsOf(hook manifest.Hook, n int) []Run {
	var out []Run
	for i := len(h) - 1; i >= 0; i-- {
		for _, earlier := range h[i].Hooks {
			run := earlier.LastRun
			if earlier.Kind != hook.Kind || earlier.Name != hook.Name || run.StartedAt.IsZero() || run.CompletedAt.Before(run.StartedAt) || len(out) == n {
				continue
			}
			out = append(out, Run{Revision: h[i].Version, Took: run.CompletedAt.Sub(run.StartedAt), Failed: run.Phase == PhaseFailed})
		}
	}
	return out
}
