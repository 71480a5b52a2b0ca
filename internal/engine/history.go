package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// History reads the outlines of a release's records, and what its failed revisions sent: Helm's
// descriptions of these may quote secrets, which have to be masked. If that is too much to be read together, the
// descriptions are masked already. Records that can't be read are returned, too, unless the newest is one of them.
// It returns a *NoReleaseError if there is no record.
func (e *Engine) History(ctx context.Context, key release.Key) (release.History, []plan.CorruptRecord, error) {
	h, corrupt, err := e.readHistory(ctx, key, func(h release.History) map[int]release.Part {
		parts := map[int]release.Part{}
		for _, r := range h {
			if r.QuotesError() {
				parts[r.Version] = release.Sent
			}
		}
		return parts
	}, mask)
	if err == nil && len(h) == 0 {
		err = &NoReleaseError{Key: key}
	}
	return h, corruptRecords(corrupt), err
}

// Newest reads a release's newest revision. It returns a *NoReleaseError if there is none.
func (e *Engine) Newest(ctx context.Context, key release.Key) (*release.Revision, error) {
	h, _, err := e.readHistory(ctx, key, func(h release.History) map[int]release.Part {
		if last := h.Last(); last != nil {
			return map[int]release.Part{last.Version: release.Whole}
		}
		return nil
	}, nil)
	if err == nil && len(h) == 0 {
		err = &NoReleaseError{Key: key}
	}
	return h.Last(), err
}

// Records reads what all revisions of a release have sent, to trace how it came about. If there is
// no record, the history is empty.
func (e *Engine) Records(ctx context.Context, key release.Key) (release.History, error) {
	h, _, err := e.readHistory(ctx, key, func(h release.History) map[int]release.Part {
		parts := map[int]release.Part{}
		for _, r := range h {
			parts[r.Version] = release.Sent
		}
		return parts
	}, nil)
	return h, err
}

// goals returns revisions that a plan needs whole, besides those that every plan needs.
type goals func(release.History) []*release.Revision

// history is records without the corrupt ones.
func (e *Engine) history(ctx context.Context, key release.Key, also ...goals) (release.History, error) {
	h, _, err := e.records(ctx, key, also...)
	return h, err
}

// records reads as much of the records as planning and applying need: whole revisions if they are
// written again or rendered from, what they sent if they count as stored, the hook times of the
// last few, and only outlines of the rest. If that is too much to be read together, failed attempts lack what
// newer revisions say as well.
func (e *Engine) records(ctx context.Context, key release.Key, also ...goals) (release.History, []*releasestore.CorruptError, error) {
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
		whole := []*release.Revision{h.Last(), h.LastSuccessful(), h.Uninstalled()}
		if last := h.Last(); last != nil && last.Info.Status.Pending() && len(h) > 1 {
			whole = append(whole, h[len(h)-2]) // a resumed run may supersede it although it has failed
		}
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
	}, newThinner().thin)
}

// readHistory reads all readable records; if they are too many, thin cuts them down while they are read. A corrupt
// record is an error if it is the newest, since the state of the release is unknown then, or if it is merely too
// large to be read together with the others. Other corrupt records are returned, the newest first.
func (e *Engine) readHistory(ctx context.Context, key release.Key, parts releasestore.Parts, thin func(*release.Revision)) (release.History, []*releasestore.CorruptError, error) {
	h, err := e.Store.HistoryThinned(ctx, key, parts, thin)
	if err == nil {
		return h, nil, nil
	}
	corrupt, only := releasestore.Corrupt(err)
	if !only {
		return nil, nil, err
	}
	for _, c := range corrupt {
		if c.TooMuch() {
			return nil, nil, c
		}
	}
	last := h.Last()
	if last == nil || corrupt[0].Version > last.Version {
		return nil, nil, fmt.Errorf("the newest record of %s is corrupt: %w", key, corrupt[0])
	}
	return h, corrupt, nil
}

// corruptRecords describes records that can't be read.
func corruptRecords(corrupt []*releasestore.CorruptError) []plan.CorruptRecord {
	var out []plan.CorruptRecord
	for _, c := range corrupt {
		out = append(out, plan.CorruptRecord{Revision: c.Version, Why: c.Error()})
	}
	return out
}
