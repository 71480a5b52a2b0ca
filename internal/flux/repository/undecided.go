package repository

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// The fields of a Kustomization that decide whether what leaves it, or what it has applied when it leaves itself,
// is deleted. spec.suspend of a HelmRelease decides, too.
const fieldPrune, fieldSuspend, fieldDeletionPolicy = "spec.prune", "spec.suspend", "spec.deletionPolicy"

// deleting makes a Kustomization delete where that depends on fields that are not known, and returns them: what it
// leaves running even so stays in any case. without are the fields that were left out of it.
func deleting(k *flux.Kustomization, without []string) (unknown []string) {
	for _, field := range []string{fieldPrune, fieldSuspend} { // one that is not suspended deletes
		if slices.Contains(without, field) {
			unknown = append(unknown, field)
			k.Spec.Prune = k.Spec.Prune || field == fieldPrune
		}
	}
	if holds(k.Spec.DeletionPolicy) {
		unknown = append(unknown, fieldDeletionPolicy)
		k.Spec.DeletionPolicy = "Delete"
	}
	return unknown
}

// deciding returns the fields that decide whether a Kustomization that leaves deletes what it has applied.
func deciding(k *flux.Kustomization) []string {
	if p := k.Spec.DeletionPolicy; p == "" || p == "MirrorPrune" {
		return []string{fieldSuspend, fieldPrune}
	}
	return []string{fieldSuspend, fieldDeletionPolicy}
}

// undecided returns which of the deciding fields of an object are not known: "spec.prune of Kustomization apps/web".
func undecided(object string, unknown []string, deciding ...string) (out []string) {
	for _, field := range deciding {
		if slices.Contains(unknown, field) {
			out = append(out, field+" of "+object)
		}
	}
	return out
}
