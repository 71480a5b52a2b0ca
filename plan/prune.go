package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// pruned returns the oldest revisions beyond the history limit. The new
// revision counts towards it and is the successful one by then, so all older
// ones may be removed. One that is undone stays until another run succeeds,
// even beyond the limit: it alone says what failed, and why.
func (b *builder) pruned() []int {
	limit := b.in.Options.HistoryMax
	excess := len(b.in.History) + 1 - limit
	if b.in.Resume { // the new revision is already in the history
		excess--
	}
	if limit <= 0 || excess <= 0 {
		return nil
	}
	var out []int
	for _, r := range b.in.History {
		if len(out) < excess && !b.undoes(r.Version) {
			out = append(out, r.Version)
		}
	}
	return out
}

// undoes reports whether the plan undoes the run that wrote a revision.
func (b *builder) undoes(version int) bool {
	return b.in.Undoing && version == b.in.History.Last().Version
}

// prunedOnFailure returns the oldest failed revisions beyond the history limit, of which the new one is one by
// then. It leaves those that say something about the cluster that no other record says: what a failed
// attempt has sent may be there, and what is older than the first attempt's record, none of them has created.
// Revisions that were deployed stay until another one is.
func (b *builder) prunedOnFailure() []int {
	if b.in.Options.HistoryMax <= 0 || b.in.Target == nil {
		return nil
	}
	var failed, out []int
	for _, r := range b.in.History {
		if s := r.Info.Status; r.Failed() && (s == release.StatusFailed || s == release.StatusSuperseded) {
			failed = append(failed, r.Version)
		}
	}
	excess, first := len(failed)+1-b.in.Options.HistoryMax, b.firstAttempt()
	for _, version := range failed {
		stays := version == b.in.RollbackTo || version == first || b.undoes(version)
		if !stays && len(out) < excess && b.saidElsewhere(version, out) {
			out = append(out, version)
		}
	}
	return out
}

// firstAttempt returns the oldest revision since the last successful one, 0 if there is none.
func (b *builder) firstAttempt() int {
	attempts := b.in.History
	if good := attempts.LastSuccessful(); good != nil {
		attempts = attempts.Since(good.Version)
	}
	if len(attempts) == 0 {
		return 0
	}
	return attempts[0].Version
}

// saidElsewhere reports whether the new revision and those that stay, all but the removed ones, have every
// object of a revision with every field. An attempt before the last successful revision counts only for
// others of its kind, see ownedDocs.
func (b *builder) saidElsewhere(version int, removed []int) bool {
	for _, s := range b.in.Stored {
		for i, doc := range s.Docs {
			if s.Revisions[i] != version || b.wants(s.ID) && Repeats(b.in.Target.Objects[b.targets[s.ID]], doc) {
				continue
			}
			first := s.Attempts
			if i < s.Attempts {
				first = 0
			}
			repeated := false
			for j := first; j < len(s.Docs) && !repeated; j++ {
				other := s.Revisions[j]
				repeated = other != version && !slices.Contains(removed, other) && Repeats(s.Docs[j], doc)
			}
			if !repeated {
				return false
			}
		}
	}
	return true
}

// Repeats reports whether o, of another revision, sets every field that the same object has in earlier, so that
// whatever earlier has left in the cluster is known from o as well. Values may differ.
func Repeats(o, earlier manifest.Object) bool {
	if o.Doc == earlier.Doc {
		return true
	}
	if o.ID != earlier.ID || o.Version != earlier.Version {
		return false
	}
	return !slices.ContainsFunc(fielddiff.Compare(earlier.Doc.Object, o.Doc.Object), func(c fielddiff.Change) bool {
		items, list := c.From.([]any)
		return c.To == nil || list && !hasItems(c.To, items)
	})
}

// hasItems reports whether v is a list with all of these scalars.
func hasItems(v any, items []any) bool {
	list, _ := v.([]any)
	return !slices.ContainsFunc(items, func(item any) bool { return !apitypes.Contains(list, item) })
}
