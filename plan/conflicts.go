package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/managedfields"
)

// conflicts says what the API server would say about a step's server-side apply according to the live object's
// managedFields: whether it has to be forced, which reverts what kubectl has changed, and the refusal for the
// fields of other managers; nil without these.
func (b *builder) conflicts(step *Step) (force bool, refusal *Refusal) {
	if step.PatchType != types.ApplyPatchType || step.Before == nil || step.Body == nil || b.in.Options.ForceConflicts {
		return false, nil
	}
	var r Refusal
	for _, c := range managedfields.Conflicts(b.others(step, b.live(step.Object).Managers), step.Before.Object, step.Body.Object) {
		force = true
		if !c.ByKubectl() {
			r.Managers = with(r.Managers, c.Owner.Manager)
			r.Fields = append(r.Fields, c.Path)
		}
	}
	if len(r.Managers) > 0 {
		refusal = &r
	}
	return force, refusal
}

// foreseeConflicts adds them to a step about which the API server was not asked at all.
func (b *builder) foreseeConflicts(step *Step) {
	if step.Op != OpPatch && step.Op != OpAdopt {
		return
	}
	force, r := b.conflicts(step)
	step.ForcesDrift = force
	if r != nil {
		b.conflict(step, *r)
	}
}

// conflict refuses a step because of the fields of other managers.
func (b *builder) conflict(step *Step, r Refusal) {
	b.refuse(step, Problem{
		Kind: ProblemConflict, Fields: r.Fields,
		What: fmt.Sprintf("%s set by %s", fieldList(r.Fields), strings.Join(r.Managers, ", ")),
		Do:   "take the fields over with --force-conflicts, or drop them from the chart",
	})
}
