package setrun

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// suspended adds to the verdict about an entry what it means that something above its applier, the one of that name,
// is suspended: an applier that is new below it is not created, and one that the change modifies stays as it is in
// the base. What that applies is not known, as its files may have changed as well.
func (p *Planner) suspended(name string, v *releaseset.Verdict) {
	if !p.Base.declares() {
		return
	}
	head, base := p.Head.Set.Appliers, p.Base.Set.Appliers
	for range len(head) { // chains of appliers may be circular
		is, above := head[name], head[head[name].By]
		was, had := base[name]
		changes := had && !reflect.DeepEqual(is.Spec, was.Spec)
		switch {
		case is.By == "", is.By == name:
			return
		case !above.Suspended:
		case !had && base[is.By].Broken == "":
			*v = releaseset.Verdict{Action: idles, Notes: []string{fmt.Sprintf("%s is suspended: it does not create %s, so nothing happens", is.By, name)}}
			return
		case changes && was.Suspended:
			*v = releaseset.Verdict{Action: idles, Notes: []string{fmt.Sprintf("%s is suspended: %s stays suspended as well, so nothing happens", is.By, name)}}
			return
		case changes && (v.Plans || is.Suspended):
			v.Action, v.Then = unsure, nil
			v.Notes = slices.Insert(v.Notes, 0, fmt.Sprintf("%s is suspended: the change of %s is not applied, and what that applies without it is not known", is.By, name))
			return
		}
		name = is.By
	}
}
