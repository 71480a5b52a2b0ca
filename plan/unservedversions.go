package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/managedfields"
)

// unservedVersions returns the versions in which field managers have written a custom resource and which the cluster
// does not serve, or no longer serves after this plan. The API server compares every apply with what each
// manager owns, in that manager's version, and fails where the CRD does not have it ("request to convert CR to
// an invalid group/version", k8s.io/apiextensions-apiserver v0.36.3, pkg/apiserver/conversion/converter.go,
// Convert). Of its own kinds it forgets such owners instead.
func (b *builder) unservedVersions(step *Step) []string {
	id := step.Object
	served := b.servedThen(id.GroupKind())
	_, builtin := apitypes.Strategic(schema.FromAPIVersionAndKind(step.APIVersion, id.Kind))
	if len(served) == 0 || builtin || id.IsCRD() {
		return nil
	}
	return slices.DeleteFunc(managedfields.Versions(b.live(id).Managers, id.Group), func(version string) bool {
		return slices.Contains(served, version)
	})
}

// withConflicts adds its conflicts to the API server's answer about a step with unserved versions: about its apply the
// server could not be asked, only about the outcome.
func (b *builder) withConflicts(step *Step, answer Prediction) Prediction {
	if len(step.Unserved) > 0 && answer.After != nil {
		answer.NeedsForce, answer.Refused = b.conflicts(step)
	}
	return answer
}
