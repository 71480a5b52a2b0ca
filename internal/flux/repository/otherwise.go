package repository

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// hasUnknown reports whether an object has a variable that is not known.
func (r *Repository) hasUnknown() bool {
	return slices.ContainsFunc(r.objects, func(p placed) bool { return len(p.unknown) > 0 })
}

// noteOtherwise adds to HelmReleases what neither markers nor defaults alone tell about variables that
// are not known: markers are the same before and after a change of a default, and where a default
// is, nothing shows that it stands for something else.
func (r *Repository) noteOtherwise(entries []releaseset.Entry) {
	if r.otherwise == nil {
		return
	}
	others := map[string]*Managed{}
	for _, e := range r.otherwise.Set().Entries {
		others[e.Manager.String()] = e.Manager.(*Managed)
	}
	for _, e := range entries {
		m := e.Manager.(*Managed)
		other, found := others[m.String()]
		if !found {
			continue // its name has such a variable
		}
		m.unknown = union(m.unknown, other.unknown)
		if declared := other.declared(); declared != m.declared() || other.values != m.values {
			m.otherwise = declared + other.values
		}
	}
}
