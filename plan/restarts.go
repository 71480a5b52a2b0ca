package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// Restart counts the objects of one kind whose pods are replaced, and the pods that they have now.
type Restart struct {
	Kind    string `json:"kind"`
	Objects int    `json:"objects"`
	// Pods is absent if it is not known: a comparison can't know how many nodes a DaemonSet runs
	// on.
	Pods int64 `json:"pods,omitempty"`
}

// Restarts reports whether the step replaces pods of its object: the pod template changes or the
// object is recreated, it has pods, and it rolls out changes on its own.
func (s *Step) Restarts() bool {
	if !kinds.Of(s.Object.GroupKind()).RollsOut || !s.alters() || s.Op == OpDelete {
		return false
	}
	changes := s.Op == OpRecreate || slices.ContainsFunc(s.Changes, func(c Change) bool { return within(c.Path, "spec.template") })
	if !changes || waitsForSomebody(s.outcome()) {
		return false
	}
	pods, known := podsOf(s)
	return pods > 0 || !known
}

// waitsForSomebody reports whether a workload does not replace its pods on its own, because it is
// paused or its update strategy is OnDelete.
func waitsForSomebody(doc *unstructured.Unstructured) bool {
	if doc == nil {
		return false
	}
	paused, _, _ := unstructured.NestedBool(doc.Object, "spec", "paused")
	strategy, _, _ := unstructured.NestedString(doc.Object, "spec", "updateStrategy", "type")
	return paused || strategy == "OnDelete"
}

// restarts counts restarts by kind, in the order in which the kinds first appear.
type restarts struct{ list []Restart }

func (r *restarts) count(s *Step) {
	if !s.Restarts() {
		return
	}
	pods, _ := podsOf(s)
	at := slices.IndexFunc(r.list, func(other Restart) bool { return other.Kind == s.Object.Kind })
	if at < 0 {
		at = len(r.list)
		r.list = append(r.list, Restart{Kind: s.Object.Kind})
	}
	r.list[at].Objects++
	r.list[at].Pods += pods
}

// podsOf returns how many pods an object has before the step.
func podsOf(s *Step) (pods int64, known bool) {
	if s.Before == nil {
		return 0, false
	}
	if kinds.Of(s.Object.GroupKind()).Pods == "" {
		pods, known, _ = unstructured.NestedInt64(s.Before.Object, "status", "desiredNumberScheduled")
		return pods, known
	}
	return workloadOf(s.Object, s.Before, 1).pods, true
}
