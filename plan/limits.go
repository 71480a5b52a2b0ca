package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// LimitChange is a new or lowered resource limit of a container: what ran well before may now be
// OOM-killed, evicted or throttled.
type LimitChange struct {
	Container string              `json:"container"`
	Resource  corev1.ResourceName `json:"resource"`
	// From is absent if there was no limit.
	From string `json:"from,omitempty"`
	To   string `json:"to"`
	// Objects are the workloads that have the container.
	Objects []manifest.ID `json:"objects"`
}

// limits collects new and lowered limits of containers that exist both before and after the step.
type limits struct{ list []LimitChange }

func (l *limits) collect(s *Step) {
	if !kinds.Of(s.Object.GroupKind()).RollsOut || !s.alters() || s.Op == OpDelete {
		return
	}
	if s.Before != nil && s.After != nil && !s.touches("spec.template") {
		return
	}
	before, after := podsSpec(s.Before), podsSpec(s.outcome())
	was := map[string]corev1.ResourceList{}
	for _, c := range slices.Concat(before.InitContainers, before.Containers) {
		was[c.Name] = c.Resources.Limits
	}
	for _, c := range slices.Concat(after.InitContainers, after.Containers) {
		old, there := was[c.Name]
		if !there {
			continue
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceCPU, corev1.ResourceEphemeralStorage} {
			to, limited := c.Resources.Limits[name]
			from, wasLimited := old[name]
			switch {
			case limited && !wasLimited:
				l.add(s.Object, LimitChange{Container: c.Name, Resource: name, To: to.String()})
			case limited && to.Cmp(from) < 0:
				l.add(s.Object, LimitChange{Container: c.Name, Resource: name, From: from.String(), To: to.String()})
			}
		}
	}
}

// podsSpec returns the pod spec in a workload's template; empty if there is none.
func podsSpec(doc *unstructured.Unstructured) corev1.PodSpec {
	var of struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if doc != nil && apitypes.Typed(doc, &of) {
		return of.Spec.Template.Spec
	}
	return corev1.PodSpec{}
}

func (l *limits) add(id manifest.ID, change LimitChange) {
	at := slices.IndexFunc(l.list, func(other LimitChange) bool {
		return other.Container == change.Container && other.Resource == change.Resource && other.From == change.From && other.To == change.To
	})
	if at < 0 {
		at = len(l.list)
		l.list = append(l.list, change)
	}
	l.list[at].Objects = append(l.list[at].Objects, id)
}
