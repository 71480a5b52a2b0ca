package plan

import "github.com/kubectl-release/kubectl-release/internal/managedfields"

// ownedDocs returns a stored object with those of its documents that belong to this release; ok is
// false when none does. Documents of attempts before the last successful revision count only if the
// attempt may have left something in the cluster that nobody else owns: the live object carries the
// release's ownership metadata and, if the target still has the object, no other field manager has
// ever written to it. (An autoscaler, for example, may have taken over a field that the release
// once sent and later dropped.)
func (b *builder) ownedDocs(s StoredObject, wanted bool) (_ StoredObject, ok bool) {
	if s.Attempts == 0 {
		return s, true
	}
	live := b.live(s.ID)
	if s.leftover() && !wanted && live.Object != nil && b.keeps(s.Latest(), live.Object, true) {
		return s, false // a later revision has already disowned it
	}
	if live.Object != nil && live.Unreadable == "" && foreign(live.Object, b.in.Release) == "" {
		if !wanted && s.leftover() || managedfields.WrittenOnlyBy(live.Managers, FieldManager, b.in.Options.FieldManager) {
			return s, true
		}
	}
	s.Docs, s.Attempts = s.Docs[s.Attempts:], 0
	return s, len(s.Docs) > 0
}

// leftover reports whether the object is known only from attempts before the last
// successful revision.
func (s StoredObject) leftover() bool { return s.Attempts == len(s.Docs) }
