package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// immutable turns a change that is not possible in place into a recreate if --force is given, and
// into a problem otherwise. fields are the immutable fields that change.
func (b *builder) immutable(step *Step, why string, fields []string) {
	allowed := b.mayReplace(step.Object, step.Before)
	do := "keep the field as it is, or allow deleting and creating the object with --force"
	switch {
	case allowed && (!b.dataAtStake(step) || b.asksFor(step, fields)):
		b.recreate(step, why)
		return
	case allowed:
		do = "set it in the chart to what it is in the cluster, or delete the object yourself: --force does not delete its data for this"
	case step.Object.GroupKind() == kinds.StatefulSet:
		do = waysOut(step, fields)
	}
	b.refuse(step, Problem{Kind: ProblemImmutable, Fields: fields, What: why, Do: do})
}

// mayReplace reports whether an object may be deleted and created again because it can't be changed: with --force, or
// if the failed run has deleted the object that was there before it, and created this one.
func (b *builder) mayReplace(id manifest.ID, live *unstructured.Unstructured) bool {
	before, recreated := b.in.Recreated[id]
	return b.in.Options.Force || recreated && live != nil && live.GetUID() != before
}

// asksFor reports whether the chart itself changes one of the fields: what is sent differs there from what
// a stored revision has sent. A claim that has grown by hand, for example, is not to be deleted because
// another field has changed in the chart; and a remediation deletes nothing older than what it undoes.
func (b *builder) asksFor(step *Step, fields []string) bool {
	stored, _ := b.storedObject(step.Object)
	if b.in.Spare.older(step.Before) {
		return false
	}
	for _, d := range stored.Docs[stored.Attempts:] {
		for _, c := range fielddiff.Compare(d.Doc.Object, step.Body.Object) {
			if slices.ContainsFunc(fields, func(field string) bool { return within(c.Path, field) || within(field, c.Path) }) {
				return true
			}
		}
	}
	return false
}

// dataAtStake reports whether deleting the step's object and creating it again would lose data.
func (b *builder) dataAtStake(step *Step) bool {
	anew := *step
	anew.Op, anew.Cascade = OpRecreate, b.in.Options.Cascade
	return losesData(&anew)
}

// refuse reports that a step can't be carried out. When a failed run is undone, its object stays as it is
// instead: one object must not keep the others from being restored.
func (b *builder) refuse(step *Step, p Problem) {
	if !b.in.Undoing {
		p.Step, p.Object = step.ID, step.Object
		b.blockUnsent(p)
		return
	}
	b.leave(step, p.What)
}

// forbid blocks the plan because of a step that must not be carried out. When a failed run is undone, its
// object stays as it is instead, as with refuse, which left reports.
func (b *builder) forbid(step *Step, kind ProblemKind, what, do string) (left bool) {
	b.noteOutage(step, what)
	if !b.in.Undoing {
		b.block(kind, step.Object, what, do)
		return false
	}
	b.leave(step, what)
	return true
}

// noteOutage sets the plan's Outage if the API of the step's object can't be discovered.
func (b *builder) noteOutage(step *Step, what string) {
	if b.in.Kinds[step.Object.GroupKind()].Unavailable != "" {
		b.plan.Outage = cmp.Or(b.plan.Outage, fmt.Sprintf("%s: %s", step.Object, what))
	}
}

// forbidHook is forbid for a hook that only a change of the chart could help. A rollback does without it
// instead: its hooks are those of a stored revision, which can't be changed.
func (b *builder) forbidHook(run *Step, kind ProblemKind, what, do string) {
	if b.in.Operation != Rollback || b.in.Undoing {
		b.forbid(run, kind, what, do)
		return
	}
	run.Op = OpNone
	b.leftOut[run.Object] = true
	what += "; the hook is left out"
	again := func(p Problem) bool { return p.Object == run.Object && p.What == what } // a hook of two events
	if !slices.ContainsFunc(b.plan.Problems, again) {
		b.problems(Problem{Kind: kind, Object: run.Object, What: what})
	}
}

// leave turns a step into one that does nothing, and notes that its object is not changed back.
func (b *builder) leave(step *Step, what string) {
	*step = Step{
		ID: step.ID, Op: OpNone, Object: step.Object, APIVersion: step.APIVersion, Source: step.Source,
		Body: step.Body, Before: step.Before, Fidelity: FidelityExact, Expect: step.Expect, Why: what,
	}
	left := Lasting{Step: step.ID, Object: step.Object, What: what}
	again := func(l Lasting) bool { return l.Object == left.Object && l.What == what } // a hook of two events
	if !slices.ContainsFunc(b.plan.NotUndone, again) {
		b.plan.NotUndone = append(b.plan.NotUndone, left)
	}
}

// waysOut says how a StatefulSet's immutable fields can be changed all the same, and what then
// happens to its pods and volumes (Kubernetes 1.36; trust scenario S47).
func waysOut(step *Step, fields []string) string {
	var ways []string
	under := func(path string) bool {
		return slices.ContainsFunc(fields, func(field string) bool { return within(field, path) })
	}
	if !under("spec.selector") { // orphaned pods are adopted again by label
		ways = append(ways, fmt.Sprintf("delete only the StatefulSet (kubectl delete statefulset %s -n %s --cascade=orphan) and run this again: pods and volume claims stay", step.Object.Name, step.Object.Namespace))
	}
	claims := "volume claims stay"
	if fate, _ := fateOf(claimsOf(step.Before).whenDeleted, ""); fate == VolumeDeleted {
		claims = "volume claims are deleted with their data, since persistentVolumeClaimRetentionPolicy has whenDeleted: Delete"
	}
	ways = append(ways, "allow deleting and creating it with --force: pods restart, "+claims)
	text := "keep them as they are; or " + strings.Join(ways, "; or ")
	if slices.ContainsFunc(fields, func(field string) bool { return strings.HasSuffix(field, "].spec.resources.requests.storage") }) {
		text += "; claims that stay keep their size: resize each of them (kubectl patch persistentvolumeclaim)"
	}
	return text
}
