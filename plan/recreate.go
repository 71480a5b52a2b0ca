package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// replacementID returns the ID for the dry run of creating again what a step deletes and creates. In
// an earlier dry run the server has answered that the object can't be changed in place.
func replacementID(id string) string { return id + "/anew" }

// Recreated returns the UIDs of the objects that the plan deletes and creates again.
func (p *Document) Recreated() map[manifest.ID]types.UID {
	out := map[manifest.ID]types.UID{}
	p.Steps(func(_ StageName, s *Step) {
		if s.Op == OpRecreate {
			out[s.Object] = s.Expect.UID
		}
	})
	return out
}

// recreate turns the step into one that deletes and creates the object.
func (b *builder) recreate(step *Step, why string) {
	step.Op, step.Patch, step.PatchType = OpRecreate, nil, ""
	step.MigrateOwnership, step.Clears, step.Empties, step.Unserved = nil, nil, nil, nil
	if b.in.Options.ServerSide {
		step.PatchType = types.ApplyPatchType
	}
	step.Cascade = b.in.Options.Cascade
	step.Why = why + "; --force allows deleting and creating it"
	if step.Object.IsCRD() {
		b.checkRecreatedCRD(step.Object)
	}
	if n, _ := podsOf(step); n > 0 && step.deletesPods() && paused(step.Body) {
		b.warn(step.Object, "it is paused, so its pods are deleted with it and none are created", "set spec.paused to false")
	}
	b.predictReplacement(step)
}

// predictReplacement sets the outcome of creating the object again. The dry run uses another name,
// since the object's own is still taken. There is no dry run for kinds whose names have a meaning,
// such as CRDs.
func (b *builder) predictReplacement(step *Step) {
	step.After, step.Fidelity = step.Body, FidelityEstimated
	answer, asked := b.in.Predictions[replacementID(step.ID)]
	switch {
	case step.Estimate != "":
	case kinds.Of(step.Object.GroupKind()).NamesAPI:
		step.Estimate = "a dry run under another name is not possible"
	case b.in.ReadOnly:
		step.Estimate = NotAsked
	case !asked:
	case answer.Estimated != "":
		step.Estimate = answer.Estimated
	case answer.Refused == nil:
		step.After, step.Fidelity = serverfields.StripServerAssigned(answer.After, nil, step.Body), FidelityExact
	case b.awaited(step, *answer.Refused) != "":
		step.Estimate = b.awaited(step, *answer.Refused)
	case aboutName(*answer.Refused):
		step.Estimate = "a dry run under another name was refused: " + answer.Refused.Message
	default:
		b.refuse(step, irreplaceable(*answer.Refused))
	}
}

// irreplaceable returns the problem that an object can't be created again once it is deleted. Policies
// may also look at names, and the dry run had another one.
func irreplaceable(r Refusal) Problem {
	p := Problem{Kind: r.kind(), Do: remedy(r)}
	if !byPolicy(r) {
		p.What = "it has to be deleted and created again, which the API server would refuse: " + r.Message
		return p
	}
	p.What = "it has to be deleted and created again, which was refused in a dry run under another name: " + r.Message
	p.Do += "; if only the other name is refused, delete the object yourself and run this again"
	return p
}

// aboutName reports whether a refusal may be due to the dry run itself: to the other name, or to
// the original object that still exists and counts in quotas. Missing permissions are reported for the
// whole plan, see checkAccess.
func aboutName(r Refusal) bool {
	about := func(path string) bool { return path == "metadata" || path == "metadata.name" }
	switch {
	case r.taken(), slices.ContainsFunc(r.Fields, about):
		return true
	case byAdmission(r), r.Reason == "Invalid", r.Reason == "BadRequest":
		return false
	case r.Reason == "Forbidden": // by a LimitRange, for example
		return r.exceedsQuota() || forbidden.MatchString(r.Message)
	}
	return true
}

// taken reports whether the API server refuses a port or an IP address because an object has it, which may
// be the one that is to make room. A Service is given its own before anything else is checked, in a dry run,
// too (Kubernetes 1.36.3, pkg/registry/core/service/storage/storage.go, beginCreate).
func (r Refusal) taken() bool { return strings.Contains(r.Message, "already allocated") }
