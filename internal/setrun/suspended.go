package setrun

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// suspended adds to the verdict about an entry what it means that something above its applier, the one of that name,
// is suspended: an applier that is new below it is not created, and one that the change modifies stays as it is in
// the base. What that applies is not known, as its files may have changed as well: an entry that has left may be
// uninstalled even if the change prevents that. It reports whether the applier is not created.
func (p *Planner) suspended(name string, v *releaseset.Verdict, left bool) (uncreated bool) {
	if !p.Base.declares() {
		return false
	}
	head, base := p.Head.Set.Appliers, p.Base.Set.Appliers
	for range len(head) { // chains of appliers may be circular
		is, above := head[name], head[head[name].By]
		was, had := base[name]
		changes := had && !reflect.DeepEqual(is.Spec, was.Spec)
		switch {
		case is.By == "", is.By == name:
			return false
		case !above.Suspended:
		case !had && base[is.By].Broken == "":
			*v = releaseset.Verdict{Action: idles, Notes: []string{fmt.Sprintf("%s is suspended: it does not create %s", is.By, name)}}
			return true
		case changes && was.Suspended:
			*v = releaseset.Verdict{Action: idles, Notes: []string{fmt.Sprintf("%s is suspended: %s stays suspended as well, so nothing happens", is.By, name)}}
			return false
		case changes && (left || v.Plans || is.Suspended):
			v.Action, v.Then = unsure, nil
			v.Notes = slices.Insert(v.Notes, 0, fmt.Sprintf("%s is suspended: the change of %s is not applied, and what that applies without it is not known", is.By, name))
			return false
		}
		name = is.By
	}
	return false
}
