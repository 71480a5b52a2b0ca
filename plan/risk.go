package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Risk marks a step that a reviewer should see first.
type Risk string

const (
	// RiskData means that what the object holds is deleted with it: the objects in a namespace or
	// of a CRD's kind, the data of a volume. The claims of a StatefulSet that is deleted or scaled
	// down are deleted only if its persistentVolumeClaimRetentionPolicy says so.
	RiskData Risk = "data"
	// RiskDelete means that the object is deleted.
	RiskDelete Risk = "delete"
	// RiskRecreate means that the object is deleted and created again.
	RiskRecreate Risk = "recreate"
	// RiskScaleDown means that there will be fewer replicas.
	RiskScaleDown Risk = "scale-down"
	// RiskStateful means that the spec of a PersistentVolumeClaim or PersistentVolume is changed in
	// place, or something that the data of a StatefulSet with volumes depends on: its claims,
	// service, selector, data mounts or images.
	RiskStateful Risk = "stateful"
)

// Risks returns all risks, the most severe first.
func Risks() []Risk {
	return []Risk{RiskData, RiskDelete, RiskRecreate, RiskScaleDown, RiskStateful}
}

// rank returns the risk's place among all risks; without a risk, it is after all of them.
func (r Risk) rank() int {
	if i := slices.Index(Risks(), r); i >= 0 {
		return i
	}
	return len(Risks())
}

// Risks returns the risks of the step, the most severe first: deleting a
// PersistentVolumeClaim is both RiskData and RiskDelete. Step.Risk is the
// first of them.
func (s *Step) Risks() []Risk {
	return slices.DeleteFunc(Risks(), func(r Risk) bool { return !s.bears(r) })
}

// Told returns the risks that are reported to a reviewer: the most severe one, which implies the
// others, and also RiskStateful if the step has it and the object stays: a StatefulSet that is
// scaled down may also change what its data depends on.
func (s *Step) Told() []Risk {
	switch {
	case s.Risk == "":
		return nil
	case s.Risk != RiskStateful && s.bears(RiskStateful) && s.Op != OpDelete && s.Op != OpRecreate:
		return []Risk{s.Risk, RiskStateful}
	}
	return []Risk{s.Risk}
}

func (s *Step) bears(r Risk) bool {
	switch r {
	case RiskData:
		return losesData(s)
	case RiskDelete:
		return s.deletesMoreThanItsOwn() && !s.createdAgain()
	case RiskRecreate:
		return s.Op == OpRecreate || s.MakesRoom() && s.Hook.WasResource
	case RiskScaleDown:
		return s.alters() && scalesDown(s)
	case RiskStateful:
		return s.alters() && s.changesState()
	}
	return false
}

// deletesMoreThanItsOwn reports whether the step deletes something that existed before the run. A
// hook of this run that is deleted because of its delete policy does not count, unless it was a
// resource that became a hook in place.
func (s *Step) deletesMoreThanItsOwn() bool {
	switch {
	case s.Op != OpDelete || !s.HookDeletion():
		return s.Op == OpDelete
	case s.MakesRoom():
		return s.Of == ""
	}
	return s.convertedInPlace() && s.When != WhenFailed
}

// createdAgain reports whether a hook creates the deleted object again, with everything that the
// release had put into it.
func (s *Step) createdAgain() bool {
	return s.MakesRoom() && (s.Hook.WasResource || !s.Hook.Foreign && recreatable(s.Object))
}

// holdsData reports whether deleting the object loses more than the object itself.
func holdsData(id manifest.ID) bool { return kinds.Of(id.GroupKind()).Holds != "" }

// recreatable reports whether objects of this kind hold nothing but what is in the chart. Hooks
// delete and create such objects on every run.
func recreatable(id manifest.ID) bool { return kinds.Of(id.GroupKind()).InChart }

// losesData reports whether data is lost that existed before the run.
func losesData(s *Step) bool {
	switch s.Object.GroupKind() {
	case kinds.StatefulSet, kinds.PersistentVolumeClaim, kinds.PersistentVolume:
		return slices.ContainsFunc(s.volumes(), func(v volumeEffect) bool { return v.Fate == VolumeDeleted })
	}
	return (s.deletesMoreThanItsOwn() || s.Op == OpRecreate) && holdsData(s.Object)
}

// scalesDown reports whether the step reduces the object's number of replicas, or the bounds of a
// HorizontalPodAutoscaler.
func scalesDown(s *Step) bool {
	return slices.ContainsFunc(s.Changes, func(c Change) bool {
		_, ok := s.ScaleDown(c)
		return ok
	})
}

// ScaleDown returns a change of the step's object with the defaults in place of what is absent; ok is
// false if it does not reduce the number of replicas. Without spec.replicas, a workload has one, and
// one is an autoscaler's lower bound (Kubernetes 1.36, pkg/apis/apps/v1/defaults.go,
// pkg/apis/core/v1/defaults.go and pkg/apis/autoscaling/v2/defaults.go). A custom resource may start
// with any number, but is taken to have one once the field is removed.
func (s *Step) ScaleDown(c Change) (filled Change, ok bool) {
	autoscaler := s.Object.GroupKind() == kinds.HorizontalPodAutoscaler
	switch {
	case c.Path == "spec.replicas":
	case autoscaler && (c.Path == "spec.minReplicas" || c.Path == "spec.maxReplicas"):
	default:
		return Change{}, false
	}
	if c.From == nil && (autoscaler || kinds.Of(s.Object.GroupKind()).Pods == "replicas") {
		c.From = int64(1)
	}
	if c.To == nil {
		c.To = int64(1)
	}
	from, okFrom := number(c.From)
	to, okTo := number(c.To)
	return c, okFrom && okTo && to < from
}

// number returns a number of decoded JSON, which may have been decoded without telling integers apart.
func number(v any) (n float64, ok bool) {
	if n, ok := v.(int64); ok {
		return float64(n), true
	}
	n, ok = v.(float64)
	return n, ok
}

// rate sets every step's Risk to the most severe of its risks.
func (p *Document) rate() {
	p.Steps(func(_ StageName, s *Step) {
		s.Risk = ""
		if risks := s.Risks(); len(risks) > 0 {
			s.Risk = risks[0]
		}
	})
}

// RiskCounts counts a plan's steps by their risks, see Step.Told.
type RiskCounts struct {
	Data      int `json:"data"`
	Delete    int `json:"delete"`
	Recreate  int `json:"recreate"`
	ScaleDown int `json:"scaleDown"`
	Stateful  int `json:"stateful"`
}

func (c *RiskCounts) count(r Risk) {
	switch r {
	case RiskData:
		c.Data++
	case RiskDelete:
		c.Delete++
	case RiskRecreate:
		c.Recreate++
	case RiskScaleDown:
		c.ScaleDown++
	case RiskStateful:
		c.Stateful++
	}
}
