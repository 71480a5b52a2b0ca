package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// immutable turns a change that is not possible in place into a recreate if --force is given, and
// into a problem otherwise. fields are the immutable fields that change.
func (b *builder) immutable(step *Step, why string, fields []string) {
	if b.in.Options.Force {
		b.recreate(step, why)
		return
	}
	do := "keep the field as it is, or allow deleting and creating the object with --force"
	if step.Object.GroupKind() == kinds.StatefulSet {
		do = waysOut(step, fields)
	}
	b.blockUnsent(Problem{Kind: ProblemImmutable, Step: step.ID, Object: step.Object, Fields: fields, What: why, Do: do})
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
	if under("spec.volumeClaimTemplates") {
		text += "; claims that stay keep their size: resize each of them (kubectl patch persistentvolumeclaim)"
	}
	return text
}
