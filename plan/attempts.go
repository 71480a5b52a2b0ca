package plan

import "github.com/kubectl-release/kubectl-release/internal/managedfields"

// ownedDocs is a stored object with those of its documents that are this release's to
// decide over. What attempts before the last successful revision sent is so only where
// something of it can be left behind and be nobody else's: the live object carries the
// release's ownership and, for an object that the target has, nobody but the release
// has ever written to it. (A field that the release once sent and then dropped may be
// an autoscaler's by now.) ok is false when none of them is.
func (b *builder) ownedDocs(s StoredObject, wanted bool) (_ StoredObject, ok bool) {
	if s.Attempts == 0 {
		return s, true
	}
	live := b.live(s.ID)
	if s.leftover() && !wanted && live.Object != nil && b.keeps(s.Latest(), live.Object, true) {
		return s, false // it was let go then
	}
	if live.Object != nil && live.Unreadable == "" && foreign(live.Object, b.in.Release) == "" {
		if !wanted && s.leftover() || managedfields.WrittenOnlyBy(live.Managers, helmsManager, b.in.Options.FieldManager) {
			return s, true
		}
	}
	s.Docs, s.Attempts = s.Docs[s.Attempts:], 0
	return s, len(s.Docs) > 0
}

// leftover reports whether the object is known only from attempts before the last
// successful revision.
func (s StoredObject) leftover() bool { return s.Attempts == len(s.Docs) }
