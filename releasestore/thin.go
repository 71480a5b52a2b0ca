package releasestore

import (
	"errors"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// reading is the reading of a history within one allowance.
type reading struct {
	*allowance
	thin func(*release.Revision)
	// thinned says that the allowance did not suffice, read is what was read before.
	thinned bool
	read    []taken
}

// taken is a revision of which more than the outline was read, and the entries that were taken for it.
type taken struct {
	revision *release.Revision
	entries  int
}

// more reads more of a record. If there is no room for it, it makes some, once, by thinning all that was read.
func (r *reading) more(read func() found) found {
	before := *r.allowance
	f := read()
	var corrupt *CorruptError
	if r.thin != nil && !r.thinned && r.scanned > 0 && errors.As(f.err, &corrupt) && corrupt.TooMuch() {
		r.kept, r.entries, r.thinned = before.kept, before.entries, true
		for _, p := range r.read {
			r.cut(p)
		}
		r.read, before = nil, *r.allowance
		f = read()
	}
	switch p := (taken{f.revision, before.entries - r.entries}); {
	case f.err != nil || r.thin == nil:
	case r.thinned:
		r.cut(p)
	default:
		r.read = append(r.read, p)
	}
	return f
}

// cut thins a revision, and gives back what it no longer holds.
func (r *reading) cut(p taken) {
	size := sent(p.revision)
	r.thin(p.revision)
	if p.revision.Part() == release.Whole {
		return
	}
	r.kept += size - sent(p.revision)
	if len(p.revision.Config)+len(p.revision.Hooks) == 0 {
		r.entries += p.entries
	}
}
