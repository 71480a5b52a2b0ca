package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// blockTerminating blocks on an object of the target that is being deleted: it would be gone soon
// after it was written.
func (b *builder) blockTerminating(id manifest.ID, live *unstructured.Unstructured) {
	b.block(ProblemConflict, id, terminating(live), "wait until it is gone, or clear its finalizers, then plan again")
}

func terminating(live *unstructured.Unstructured) string {
	if f := live.GetFinalizers(); len(f) > 0 {
		return "it is being deleted and waits for the finalizers " + strings.Join(f, ", ")
	}
	return "it is being deleted"
}

// isTerminating reports whether the object exists and is being deleted.
func (b *builder) isTerminating(id manifest.ID) bool {
	live := b.live(id).Object
	return live != nil && live.GetDeletionTimestamp() != nil
}

// comesBack reports whether an object of the target is being deleted, and the plan creates it again
// once it is gone. Only a rollback does: what has made it necessary may have deleted the object a
// moment ago, or keep it from going, as a pod does with its volume claim. Helm patches such an object
// and goes on (4.3.1, pkg/kube/client.go, update). Any other plan is blocked, see blockTerminating.
func (b *builder) comesBack(id manifest.ID) bool {
	return b.in.Operation == Rollback && b.wants(id) && b.isTerminating(id)
}

// goesWith returns the namespace of an object or the CRD of its kind, if that comes back: the object
// is deleted with it.
func (b *builder) goesWith(id manifest.ID) (manifest.ID, bool) {
	for _, outer := range []manifest.ID{NamespaceID(id.Namespace), b.brings[id.GroupKind()].CRD.ID} {
		if b.comesBack(outer) {
			return outer, true
		}
	}
	return manifest.ID{}, false
}

// isLate reports whether the object can be created only after something is gone.
func (b *builder) isLate(id manifest.ID) bool {
	_, with := b.goesWith(id)
	return with || b.comesBack(id)
}

// createLate turns the step into the creation of an object that isLate.
func (b *builder) createLate(step *Step, o manifest.Object) {
	step.Op, step.Body, step.Expect = OpCreate, b.sent(o.Doc), Expect{Absent: true}
	step.Why = "once the live object, which is being deleted, is gone"
	why := "the live object is being deleted"
	if b.in.Options.ServerSide {
		step.PatchType = types.ApplyPatchType
	}
	live := b.live(o.ID).Object
	if live != nil {
		step.Expect = Expect{UID: live.GetUID()}
	}
	if outer, with := b.goesWith(o.ID); with {
		step.Why = fmt.Sprintf("once %s, which is being deleted, is back", outer)
		why = fmt.Sprintf("%s is being deleted", outer)
	} else if len(live.GetFinalizers()) > 0 {
		b.warn(o.ID, terminating(live), "it is created again once they are cleared; everything else is rolled back before that")
	}
	b.estimated(step, step.Body, why)
}

// lateWaves orders the steps of createLate: namespaces and CRDs come first, and then what goes with
// them. All the rest comes back at the same time, and last, since any of it may be held up for good.
func (b *builder) lateWaves(steps []Step) []Wave {
	var outer, inner, rest []Step
	for _, s := range steps {
		switch _, with := b.goesWith(s.Object); {
		case with:
			inner = append(inner, s)
		case s.Object.IsCRD(), s.Object.GroupKind() == kinds.Namespace:
			outer = append(outer, s)
		default:
			rest = append(rest, s)
		}
	}
	return slices.Concat(oneWave(outer), b.inTurn(installWaves(inner)), oneWave(rest))
}

// oneWave puts all steps into one wave, in Helm's order; there is none without steps.
func oneWave(steps []Step) []Wave {
	if len(steps) == 0 {
		return nil
	}
	installWaves(steps) // reorders them in place
	return []Wave{{Steps: steps}}
}
