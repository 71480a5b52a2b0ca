package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// History reads the outlines of a release's records, and what its failed ones sent:
// Helm's descriptions of these may quote secrets. Without any record, it is a
// *NoReleaseError.
func (e *Engine) History(ctx context.Context, key release.Key) (release.History, error) {
	h, err := e.readHistory(ctx, key, func(h release.History) map[int]release.Part {
		parts := map[int]release.Part{}
		for _, r := range h {
			if r.Info.Status == release.StatusFailed {
				parts[r.Version] = release.Sent
			}
		}
		return parts
	})
	if err == nil && len(h) == 0 {
		err = &NoReleaseError{Key: key}
	}
	return h, err
}

// Newest reads a release's newest revision. Without any, it is a *NoReleaseError.
func (e *Engine) Newest(ctx context.Context, key release.Key) (*release.Revision, error) {
	h, err := e.readHistory(ctx, key, func(h release.History) map[int]release.Part {
		if last := h.Last(); last != nil {
			return map[int]release.Part{last.Version: release.Whole}
		}
		return nil
	})
	if err == nil && len(h) == 0 {
		err = &NoReleaseError{Key: key}
	}
	return h.Last(), err
}

// Records reads what all revisions of a release have sent, for judging how it came to
// be; without any record it gives none.
func (e *Engine) Records(ctx context.Context, key release.Key) (release.History, error) {
	return e.readHistory(ctx, key, func(h release.History) map[int]release.Part {
		parts := map[int]release.Part{}
		for _, r := range h {
			parts[r.Version] = release.Sent
		}
		return parts
	})
}

// goals names the revisions that a plan needs beside those that every plan needs.
type goals func(release.History) []*release.Revision

// history reads what planning and applying need of the records: whole are those
// that are written again or rendered from, of the others that count as stored what
// they sent, of a few when their hooks have run; the rest are outlines.
func (e *Engine) history(ctx context.Context, key release.Key, also ...goals) (release.History, error) {
	return e.readHistory(ctx, key, func(h release.History) map[int]release.Part {
		parts := map[int]release.Part{}
		for _, r := range append(plan.Sources(h), plan.Attempts(h)...) {
			parts[r.Version] = release.Sent
		}
		for _, r := range plan.Timed(h) {
			if _, needed := parts[r.Version]; !needed {
				parts[r.Version] = release.HookRuns
			}
		}
		whole := []*release.Revision{h.Last(), h.LastSuccessful()}
		for _, goal := range also {
			whole = append(whole, goal(h)...)
		}
		for _, r := range h {
			if r.Info.Status == release.StatusDeployed || r.Info.Status.Pending() {
				whole = append(whole, r)
			}
		}
		for _, r := range whole {
			if r != nil {
				parts[r.Version] = release.Whole
			}
		}
		return parts
	})
}

// readHistory reads the records that can be read. A corrupt record is an error
// when it is the newest: nobody knows then what the release is. So is one that
// only has no room beside others. Another one is passed over.
func (e *Engine) readHistory(ctx context.Context, key release.Key, parts func(release.History) map[int]release.Part) (release.History, error) {
	h, err := e.Store.History(ctx, key, parts)
	if err == nil {
		return h, nil
	}
	corrupt, only := releasestore.Corrupt(err)
	if !only {
		return nil, err
	}
	for _, c := range corrupt {
		if c.TooMuch() {
			return nil, c
		}
	}
	last := h.Last()
	if last == nil || corrupt[0].Version > last.Version {
		return nil, fmt.Errorf("the newest record of %s is corrupt: %w", key, corrupt[0])
	}
	return h, nil
}
