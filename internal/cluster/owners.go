package cluster

import (
	"context"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-release/kubectl-release/apply"
)

// workloadPods holds the pods that a workload runs: those of its newest revision, and older ones that hold
// these up. For a Deployment with too few pods, replicaSet reports whether a name is that of the newest
// revision's ReplicaSet.
type workloadPods struct {
	pods, inTheWay []corev1.Pod
	replicaSet     func(name string) bool
}

// findPods finds the pods of an object. If the newest revision can't be read, pods that were created
// since Since are assumed to belong to it.
func (s *survey) findPods(ctx context.Context, a apply.Asked) (workloadPods, error) {
	owner, pods, err := s.podsOf(ctx, a)
	if err != nil || owner == nil {
		return workloadPods{pods: pods}, err
	}
	label, newest, err := s.newest(ctx, owner)
	if err != nil {
		old := func(pod corev1.Pod) bool { return pod.CreationTimestamp.Time.Before(a.Since) }
		return workloadPods{pods: slices.DeleteFunc(pods, old)}, nil
	}
	if label == "" {
		return workloadPods{pods: pods}, nil
	}
	var b workloadPods
	policy, _, _ := unstructured.NestedString(owner.Object, "spec", "podManagementPolicy")
	for _, pod := range pods {
		switch {
		case newest != "" && pod.Labels[label] == newest:
			b.pods = append(b.pods, pod)
		case a.Kind == "StatefulSet" && policy != "Parallel":
			// https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback
			b.inTheWay = append(b.inTheWay, pod)
		}
	}
	if wanted, _, _ := unstructured.NestedInt64(owner.Object, "spec", "replicas"); a.Kind == "Deployment" && int64(len(b.pods)) < wanted {
		b.replicaSet = func(name string) bool { return newest != "" && strings.HasSuffix(name, "-"+newest) }
	}
	return b, nil
}

// newest returns the label with which a workload's controller marks the pods of a revision, and its
// value for the newest revision: "" until the controller has created that. The label is "" for
// kinds without revisions.
func (s *survey) newest(ctx context.Context, owner *unstructured.Unstructured) (label, value string, err error) {
	switch gk := owner.GroupVersionKind().GroupKind(); gk.String() {
	case "Deployment.apps":
		label, value, err = s.newestOf(ctx, owner, "ReplicaSet", "pod-template-hash")
	case "StatefulSet.apps":
		label = "controller-revision-hash"
		value, _, _ = unstructured.NestedString(owner.Object, "status", "updateRevision")
	case "DaemonSet.apps":
		label, value, err = s.newestOf(ctx, owner, "ControllerRevision", "controller-revision-hash")
	}
	if seen, _, _ := unstructured.NestedInt64(owner.Object, "status", "observedGeneration"); seen < owner.GetGeneration() {
		value = ""
	}
	return label, value, err
}

// newestOf reads the label of the newest of the objects that hold a workload's revisions: a
// Deployment's ReplicaSets, a DaemonSet's ControllerRevisions.
func (s *survey) newestOf(ctx context.Context, owner *unstructured.Unstructured, kind, label string) (string, string, error) {
	holders, err := s.holdersBy(ctx, kind, owner.GetNamespace(), PodSelector(owner))
	if err != nil {
		return label, "", err
	}
	var newest *unstructured.Unstructured
	for i := range holders {
		o := &holders[i]
		if metav1.IsControlledBy(o, owner) && (newest == nil || revisionOf(o) > revisionOf(newest)) {
			newest = o
		}
	}
	if newest == nil {
		return label, "", nil
	}
	return label, newest.GetLabels()[label], nil
}

// revisionOf returns the revision number of a ReplicaSet or ControllerRevision.
func revisionOf(o *unstructured.Unstructured) int64 {
	if n, ok, _ := unstructured.NestedInt64(o.Object, "revision"); ok {
		return n
	}
	n, _ := strconv.ParseInt(o.GetAnnotations()["deployment.kubernetes.io/revision"], 10, 64)
	return n
}

// podsOf finds the pods of an object by its spec.selector, and returns the object as well, unless
// it is a pod itself.
func (s *survey) podsOf(ctx context.Context, a apply.Asked) (*unstructured.Unstructured, []corev1.Pod, error) {
	if a.Kind == "Pod" {
		var pod *corev1.Pod
		err := s.read(ctx, func(ctx context.Context) (err error) {
			pod, err = s.core.Pods(a.Namespace).Get(ctx, a.Name, metav1.GetOptions{})
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		return nil, []corev1.Pod{*pod}, nil
	}
	owner := a.Object
	if owner == nil {
		var err error
		if owner, err = s.Get(ctx, a.Ref); err != nil {
			return nil, nil, err
		}
	}
	selector := PodSelector(owner)
	if selector.Empty() {
		return nil, nil, nil
	}
	pods, err := s.podsBy(ctx, a.Namespace, selector)
	if err != nil {
		return nil, nil, err
	}
	return owner, pods, nil
}

// PodSelector returns the selector of an object's pods: spec.selector with matchLabels and
// matchExpressions, or as a plain map (ReplicationController, Service). It selects everything if
// there is none.
func PodSelector(owner *unstructured.Unstructured) labels.Selector {
	raw, ok, _ := unstructured.NestedMap(owner.Object, "spec", "selector")
	if !ok {
		return labels.Everything()
	}
	if plain, ok, err := unstructured.NestedStringMap(owner.Object, "spec", "selector"); ok && err == nil {
		return labels.SelectorFromSet(plain)
	}
	var typed metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &typed); err != nil {
		return labels.Everything()
	}
	selector, err := metav1.LabelSelectorAsSelector(&typed)
	if err != nil {
		return labels.Everything()
	}
	return selector
}
