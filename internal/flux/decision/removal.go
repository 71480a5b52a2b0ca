package decision

import (
	"fmt"
	"slices"

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

// Cycles returns the cycles of spec.dependsOn, each beginning and ending with the
// same "namespace/name". helm-controller does not notice them: all HelmReleases of
// a cycle wait for ever. A dependency that is not among releases ends a path.
func Cycles(releases []*flux.HelmRelease) [][]string {
	s := search{needs: map[string][]string{}, done: map[string]bool{}}
	for _, hr := range releases {
		for _, dep := range hr.Spec.DependsOn {
			s.needs[hr.String()] = append(s.needs[hr.String()], dep.In(hr.Metadata.Namespace).String())
		}
	}
	for _, hr := range releases {
		s.visit(hr.String(), nil)
	}
	return s.found
}

type search struct {
	needs map[string][]string
	done  map[string]bool
	found [][]string
}

func (s *search) visit(name string, path []string) {
	if i := slices.Index(path, name); i >= 0 {
		s.found = append(s.found, append(slices.Clone(path[i:]), name))
		return
	}
	if s.done[name] {
		return
	}
	path = append(path, name)
	for _, next := range s.needs[name] {
		s.visit(next, path)
	}
	s.done[name] = true
}
