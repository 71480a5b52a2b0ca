package decision

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Removed returns what happens to a release whose HelmRelease is removed from the
// repository. owner is the Kustomization that has applied it, nil when none is
// known; gone reports whether that is deleted, too.
func Removed(hr *flux.HelmRelease, owner *flux.Kustomization, gone bool) Decision {
	switch {
	case owner == nil:
		return decide(Nothing, "LeftRunning", "left running: no known Kustomization would delete the HelmRelease")
	case owner.Spec.Suspend:
		return decide(Nothing, "LeftRunning", fmt.Sprintf("left running: Kustomization %s is suspended", owner))
	case gone && !owner.DeletesApplied():
		return decide(Nothing, "LeftRunning", fmt.Sprintf("left running: Kustomization %s is deleted, and %s", owner, keeping(owner)))
	case !gone && !owner.Spec.Prune:
		return decide(Nothing, "LeftRunning", fmt.Sprintf("left running: Kustomization %s does not prune", owner))
	case hr.Spec.Suspend:
		return decide(Nothing, "LeftRunning", "left running: the HelmRelease is suspended, and is deleted without an uninstall")
	}
	why := "prunes"
	if gone && !owner.Spec.Prune {
		why = "is deleted, with deletionPolicy " + owner.Spec.DeletionPolicy
	}
	return decide(Uninstall, "Deleted", fmt.Sprintf("Kustomization %s %s: the HelmRelease is deleted, and the release uninstalled", owner, why))
}

// keeping says why a Kustomization that is deleted leaves what it has applied.
func keeping(k *flux.Kustomization) string {
	if k.Spec.DeletionPolicy == "" || k.Spec.DeletionPolicy == "MirrorPrune" {
		return "does not prune"
	}
	return "its deletionPolicy is " + k.Spec.DeletionPolicy
}
