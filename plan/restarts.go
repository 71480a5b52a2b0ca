package plan

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// Restart counts the objects of one kind whose pods are replaced, and these pods.
type Restart struct {
	Kind    string `json:"kind"`
	Objects int    `json:"objects"`
	// Pods is absent if it is not known: a comparison can't know how many nodes a DaemonSet runs
	// on.
	Pods int64 `json:"pods,omitempty"`
}

// Restarts reports whether the step replaces pods of its object.
func (s *Step) Restarts() bool {
	pods, known := s.replacedPods()
	return pods > 0 || !known
}

// replacedPods returns how many of its object's pods the step replaces; known is false if there may
// be some whose number is not known.
func (s *Step) replacedPods() (pods int64, known bool) {
	if !kinds.Of(s.Object.GroupKind()).RollsOut || !s.alters() || s.Op == OpDelete {
		return 0, true
	}
	all, known := podsOf(s)
	held := heldBack(s.outcome())
	switch {
	case s.deletesPods():
		if paused(s.outcome()) {
			return 0, true
		}
		return all, known
	case s.touches("spec.template"):
		return max(all-held, 0), known || held > 0
	}
	// What was held back before rolls out now, as far as it is not held back any longer.
	return max(min(outdated(s.Before), min(heldBack(s.Before), all)-held), 0), true
}

// deletesPods reports whether the step deletes the object's pods with it.
func (s *Step) deletesPods() bool { return s.Op == OpRecreate && s.Cascade != "orphan" }

// heldBack returns how many pods of a workload, those with the lowest ordinals, are not replaced when
// its template changes: all while it is paused or its update strategy is OnDelete, otherwise those of
// a StatefulSet below its partition
// (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#partitions).
func heldBack(doc *unstructured.Unstructured) int64 {
	if doc == nil {
		return 0
	}
	strategy, _, _ := unstructured.NestedString(doc.Object, "spec", "updateStrategy", "type")
	if paused(doc) || strategy == "OnDelete" {
		return math.MaxInt64
	}
	partition, _, _ := unstructured.NestedInt64(doc.Object, "spec", "updateStrategy", "rollingUpdate", "partition")
	return partition
}

func paused(doc *unstructured.Unstructured) bool {
	if doc == nil {
		return false
	}
	paused, _, _ := unstructured.NestedBool(doc.Object, "spec", "paused")
	return paused
}

// outdated returns how many pods of a workload are not of its newest template, according to its
// status. A StatefulSet whose revisions are the same has none: a pod that is about to end only counts
// as not updated.
func outdated(doc *unstructured.Unstructured) int64 {
	if doc == nil {
		return 0
	}
	status, _, _ := unstructured.NestedMap(doc.Object, "status")
	if current, _ := status["currentRevision"].(string); current != "" && current == status["updateRevision"] {
		return 0
	}
	count := func(field string) int64 {
		n, _ := status[field].(int64)
		return n
	}
	return max(count("replicas")-count("updatedReplicas"), count("desiredNumberScheduled")-count("updatedNumberScheduled"))
}

// restarts counts restarts by kind, in the order in which the kinds first appear.
type restarts struct{ list []Restart }

func (r *restarts) count(s *Step) {
	pods, known := s.replacedPods()
	if pods == 0 && known {
		return
	}
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
