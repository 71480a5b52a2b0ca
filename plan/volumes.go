package plan

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// VolumeFate says what happens to volumes.
type VolumeFate string

const (
	// VolumeDeleted means that they are deleted with their data, unless the reclaim policy of the
	// volume behind a claim is Retain.
	VolumeDeleted VolumeFate = "deleted"
	// VolumeKept means that they stay when what they belong to is deleted. Nothing removes them
	// afterwards.
	VolumeKept VolumeFate = "kept"
	// VolumeReused means that claims that are there already become those of a StatefulSet's new pods, which get
	// the data in them.
	VolumeReused VolumeFate = "reused"
	// VolumeCreated means that they are created.
	VolumeCreated VolumeFate = "created"
	// VolumeResized means that the requested storage changes.
	VolumeResized VolumeFate = "resized"
)

// VolumeChange is the effect of a step on volumes.
type VolumeChange struct {
	// Object is the claim or volume, or the StatefulSet that the claims belong to.
	Object manifest.ID `json:"object"`
	Fate   VolumeFate  `json:"fate"`
	// Claims are the names of a StatefulSet's claims; if they are derived from the number of pods, at
	// most 10,000.
	Claims []string `json:"claims,omitempty"`
	// From and To are the requested storage before and after; new volumes have only To.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Why is the field that decides the fate, such as "whenDeleted: Delete".
	Why string `json:"why,omitempty"`
}

// volumeEffect is a VolumeChange with what it takes to recognise the names of a StatefulSet's
// claims.
type volumeEffect struct {
	VolumeChange
	// prefixes are the claims' names without the ordinal, pods the ordinals that are meant.
	prefixes []string
	pods     []ordinals
	// whole says that all claims are meant, including those of pods that no longer exist.
	whole bool
}

// volumes returns the step's effects on volumes, as far as its own objects show them.
func (s *Step) volumes() []volumeEffect {
	switch s.Object.GroupKind() {
	case kinds.PersistentVolumeClaim:
		return s.claimChanges()
	case kinds.PersistentVolume:
		return s.volumeChanges()
	case kinds.StatefulSet:
		return s.setChanges()
	}
	return nil
}

// removes reports whether the step deletes an object that existed before the run.
func (s *Step) removes() bool { return s.deletesMoreThanItsOwn() || s.Op == OpRecreate }

func (s *Step) claimChanges() []volumeEffect {
	change := VolumeChange{Object: s.Object, From: requested(s.Before), To: requested(s.outcome())}
	switch {
	case s.removes():
		change.Fate, change.To = VolumeDeleted, ""
	case s.Op == OpKeep:
		change.Fate, change.To = VolumeKept, ""
	case s.Op == OpCreate:
		change.Fate = VolumeCreated
	case s.alters() && change.From != change.To:
		change.Fate = VolumeResized
	default:
		return nil
	}
	return []volumeEffect{{VolumeChange: change}}
}

// volumeChanges returns the effect on a PersistentVolume. A volume that was created by hand is
// retained by default (k8s.io/api/core/v1/types.go, PersistentVolumeSpec).
func (s *Step) volumeChanges() []volumeEffect {
	var volume corev1.PersistentVolume
	if !s.removes() || s.Before != nil && !apitypes.Typed(s.Before, &volume) {
		return nil
	}
	change := VolumeChange{Object: s.Object, Fate: VolumeDeleted}
	switch volume.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain, "":
		change.Fate, change.Why = VolumeKept, "persistentVolumeReclaimPolicy: Retain"
	case corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle:
	}
	return []volumeEffect{{VolumeChange: change}}
}

// setChanges returns the effect on a StatefulSet's claims, derived from the ordinals of its pods and its
// persistentVolumeClaimRetentionPolicy, which defaults to Retain
// (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention).
func (s *Step) setChanges() []volumeEffect {
	before, after := claimsOf(s.Before), claimsOf(s.outcome())
	switch {
	case s.removes():
		fate, why := fateOf(before.whenDeleted, "whenDeleted")
		if s.Cascade == "orphan" { // the garbage collector then leaves its claims, too
			fate, why = VolumeKept, "--cascade orphan"
		}
		if s.Op == OpRecreate && fate == VolumeKept {
			return recreated(VolumeChange{Object: s.Object, Fate: fate, Why: why}, before, after)
		}
		return before.change(volumeEffect{VolumeChange: VolumeChange{Object: s.Object, Fate: fate, Why: why}, whole: true}, setClaims{})
	case !s.alters():
		return nil
	}
	fate, why := fateOf(after.whenScaled, "whenScaled")
	gone := before.change(volumeEffect{VolumeChange: VolumeChange{Object: s.Object, Fate: fate, Why: why}}, after)
	return append(gone, after.change(volumeEffect{VolumeChange: VolumeChange{Object: s.Object, Fate: VolumeCreated}}, before)...)
}

// recreated returns what becomes of the claims of a StatefulSet that is deleted without them and created
// again: its pods find theirs by name.
func recreated(kept VolumeChange, before, after setClaims) []volumeEffect {
	reused, created := kept, VolumeChange{Object: kept.Object, Fate: VolumeCreated}
	reused.Fate = VolumeReused
	same := before.where(after.has)
	again := same
	again.ordinals = ordinals{max(same.ordinals.from, after.ordinals.from), min(same.ordinals.end, after.ordinals.end)}
	return slices.Concat(
		before.where(func(name string) bool { return !after.has(name) }).change(volumeEffect{VolumeChange: kept, whole: true}, setClaims{}),
		same.change(volumeEffect{VolumeChange: kept}, after),
		again.change(volumeEffect{VolumeChange: reused}, setClaims{}),
		after.where(before.has).change(volumeEffect{VolumeChange: created}, before),
		after.where(func(name string) bool { return !before.has(name) }).change(volumeEffect{VolumeChange: created}, setClaims{}),
	)
}

func fateOf(policy appsv1.PersistentVolumeClaimRetentionPolicyType, field string) (VolumeFate, string) {
	if policy == appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
		return VolumeDeleted, field + ": Delete"
	}
	return VolumeKept, field + ": Retain"
}

// setClaims is the part of a StatefulSet that determines its claims.
type setClaims struct {
	name                    string
	templates               []corev1.PersistentVolumeClaim
	ordinals                ordinals
	whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType
}

func claimsOf(doc *unstructured.Unstructured) setClaims {
	if doc == nil {
		return setClaims{}
	}
	set := setOf(doc)
	start, replicas := int64(0), int64(1)
	if n := set.Spec.Replicas; n != nil {
		replicas = int64(*n)
	}
	if o := set.Spec.Ordinals; o != nil {
		start = int64(o.Start)
	}
	out := setClaims{name: set.Name, templates: set.Spec.VolumeClaimTemplates, ordinals: ordinals{start, start + replicas}}
	if p := set.Spec.PersistentVolumeClaimRetentionPolicy; p != nil {
		out.whenDeleted, out.whenScaled = p.WhenDeleted, p.WhenScaled
	}
	return out
}

// where returns the set with the claim templates whose names hold.
func (c setClaims) where(holds func(name string) bool) setClaims {
	c.templates = slices.DeleteFunc(slices.Clone(c.templates), func(t corev1.PersistentVolumeClaim) bool { return !holds(t.Name) })
	return c
}

// has reports whether the set has a claim template of that name.
func (c setClaims) has(name string) bool {
	return slices.ContainsFunc(c.templates, func(t corev1.PersistentVolumeClaim) bool { return t.Name == name })
}

// change returns the effect on the claims of those pods that the other set does not have.
func (c setClaims) change(effect volumeEffect, other setClaims) []volumeEffect {
	effect.pods = c.ordinals.without(other.ordinals)
	if len(c.templates) == 0 || len(effect.pods) == 0 && !effect.whole {
		return nil
	}
	for _, t := range c.templates {
		prefix := fmt.Sprintf("%s-%s-", t.Name, c.name)
		effect.prefixes = append(effect.prefixes, prefix)
		for _, part := range effect.pods {
			for at := part.from; at < part.end && len(effect.Claims) < maxNamedClaims; at++ {
				effect.Claims = append(effect.Claims, fmt.Sprint(prefix, at))
			}
		}
	}
	if effect.Fate == VolumeCreated && len(c.templates) == 1 {
		effect.To = storage(c.templates[0].Spec)
	}
	return []volumeEffect{effect}
}

func requested(doc *unstructured.Unstructured) string {
	var claim corev1.PersistentVolumeClaim
	if doc == nil || !apitypes.Typed(doc, &claim) {
		return ""
	}
	return storage(claim.Spec)
}

func storage(claim corev1.PersistentVolumeClaimSpec) string {
	if size, ok := claim.Resources.Requests[corev1.ResourceStorage]; ok {
		return size.String()
	}
	return ""
}

// outcome returns the object after the step: After if that is known, otherwise Body.
func (s *Step) outcome() *unstructured.Unstructured {
	if s.After != nil {
		return s.After
	}
	return s.Body
}

// leaves reports whether the step leaves its object as it is.
func (s *Step) leaves() bool { return s.Op == OpNone || s.Op == OpKeep }

// result returns what is there of the object after the step, nil if that is nothing.
func (s *Step) result() *unstructured.Unstructured {
	switch {
	case s.Op == OpDelete:
		return nil
	case s.leaves():
		return s.Before
	}
	return s.outcome()
}
