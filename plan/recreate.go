package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// ReplacementID is the ID under which a step is asked about that deletes and creates
// its object: the server's first answer, under the step's own ID, was that it
// can't be changed in place.
func ReplacementID(id string) string { return id + "/anew" }

// recreate turns the step into one that deletes and creates the object.
func (b *builder) recreate(step *Step, why string) {
	step.Op, step.Patch, step.PatchType, step.MigrateOwnership, step.Clears, step.Empties = OpRecreate, nil, "", nil, nil, nil
	if b.in.Options.ServerSide {
		step.PatchType = types.ApplyPatchType
	}
	step.Cascade = b.in.Options.Cascade
	step.Why = why + "; --force allows deleting and creating it"
	b.predictReplacement(step)
}

// predictReplacement sets the outcome of creating the object again. The dry run uses another name,
// since the object's own is still taken. For kinds whose names have a meaning, such as CRDs, there
// is no dry run.
func (b *builder) predictReplacement(step *Step) {
	step.After, step.Fidelity = step.Body, FidelityEstimated
	answer, asked := b.in.Predictions[ReplacementID(step.ID)]
	switch {
	case step.Estimate != "":
	case kinds.Of(step.Object.GroupKind()).NamesAPI:
		step.Estimate = "it can't be tried under another name"
	case b.in.ReadOnly:
		step.Estimate = NotAsked
	case !asked:
	case answer.Estimated != "":
		step.Estimate = answer.Estimated
	case answer.Refused == nil:
		step.After, step.Fidelity = serverfields.StripServerAssigned(answer.After, nil, step.Body), FidelityExact
	case aboutName(*answer.Refused):
		step.Estimate = "it was tried under another name, and refused: " + answer.Refused.Message
	default:
		b.blockUnsent(Problem{
			Kind: answer.Refused.kind(), Step: step.ID, Object: step.Object,
			What: "it has to be deleted and created, and the API server would refuse it then: " + answer.Refused.Message, Do: remedy(*answer.Refused),
		})
	}
}

// aboutName reports whether a refusal may be due to the dry run itself: to the other name, or to
// the original object, which still exists.
func aboutName(r Refusal) bool {
	about := func(path string) bool { return path == "metadata" || path == "metadata.name" }
	return r.Reason != "Invalid" && r.Reason != "BadRequest" || strings.Contains(r.Message, "already allocated") || slices.ContainsFunc(r.Fields, about)
}
