package cluster

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
)

// behind is what stands behind an object: the pods of its newest revision, older
// ones that are in the way of these, and, of a Deployment, whether a name is that
// of the newest revision's ReplicaSet.
type behind struct {
	pods, inTheWay []corev1.Pod
	replicaSet     func(name string) bool
}

// behind finds the pods behind an object. Where it can't be read which revision
// is the newest, pods that were created at since or after are taken to be of it.
func (c *Client) behind(ctx context.Context, ref apply.Ref, since time.Time) (behind, error) {
	owner, pods, err := c.podsOf(ctx, ref)
	if err != nil || owner == nil {
		return behind{pods: pods}, err
	}
	label, newest, err := c.newest(ctx, owner)
	if err != nil {
		old := func(pod corev1.Pod) bool { return pod.CreationTimestamp.Time.Before(since) }
		return behind{pods: slices.DeleteFunc(pods, old)}, nil
	}
	if label == "" {
		return behind{pods: pods}, nil
	}
	var b behind
	if ref.Kind == "Deployment" {
		b.replicaSet = func(name string) bool { return newest != "" && strings.HasSuffix(name, "-"+newest) }
	}
	policy, _, _ := unstructured.NestedString(owner.Object, "spec", "podManagementPolicy")
	for _, pod := range pods {
		switch {
		case newest != "" && pod.Labels[label] == newest:
			b.pods = append(b.pods, pod)
		case ref.Kind == "StatefulSet" && policy != "Parallel":
			// https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback
			b.inTheWay = append(b.inTheWay, pod)
		}
	}
	return b, nil
}

// newest is the label of pods by which a workload's controller tells revisions
// apart, and its value for the newest: "" as long as the controller has not seen
// that. The label is "" for kinds without revisions.
func (c *Client) newest(ctx context.Context, owner *unstructured.Unstructured) (label, value string, err error) {
	switch gk := owner.GroupVersionKind().GroupKind(); gk.String() {
	case "Deployment.apps":
		label, value, err = c.newestOf(ctx, owner, "ReplicaSet", "pod-template-hash")
	case "StatefulSet.apps":
		label = "controller-revision-hash"
		value, _, _ = unstructured.NestedString(owner.Object, "status", "updateRevision")
	case "DaemonSet.apps":
		label, value, err = c.newestOf(ctx, owner, "ControllerRevision", "controller-revision-hash")
	}
	if seen, _, _ := unstructured.NestedInt64(owner.Object, "status", "observedGeneration"); seen < owner.GetGeneration() {
		value = ""
	}
	return label, value, err
}

// newestOf reads the label of the newest of the objects that hold an owner's
// revisions: a Deployment's ReplicaSets, a DaemonSet's ControllerRevisions.
func (c *Client) newestOf(ctx context.Context, owner *unstructured.Unstructured, kind, label string) (string, string, error) {
	r, err := c.resource(ctx, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind}, owner.GetNamespace())
	if err != nil {
		return label, "", err
	}
	var list *unstructured.UnstructuredList
	err = c.read(ctx, func(ctx context.Context) (err error) {
		list, err = r.List(ctx, metav1.ListOptions{LabelSelector: selectorOf(owner).String(), Limit: pageSize})
		return err
	})
	if err != nil {
		return label, "", err
	}
	var newest *unstructured.Unstructured
	for i := range list.Items {
		o := &list.Items[i]
		if metav1.IsControlledBy(o, owner) && (newest == nil || revisionOf(o) > revisionOf(newest)) {
			newest = o
		}
	}
	if newest == nil {
		return label, "", nil
	}
	return label, newest.GetLabels()[label], nil
}

// revisionOf is the number of a ReplicaSet's or ControllerRevision's revision.
func revisionOf(o *unstructured.Unstructured) int64 {
	if n, ok, _ := unstructured.NestedInt64(o.Object, "revision"); ok {
		return n
	}
	n, _ := strconv.ParseInt(o.GetAnnotations()["deployment.kubernetes.io/revision"], 10, 64)
	return n
}

// podsOf finds the pods behind an object by the selector of its spec, and gives
// the object, too, unless it is a pod itself.
func (c *Client) podsOf(ctx context.Context, ref apply.Ref) (*unstructured.Unstructured, []corev1.Pod, error) {
	if ref.Kind == "Pod" {
		var pod *corev1.Pod
		err := c.read(ctx, func(ctx context.Context) (err error) {
			pod, err = c.core.Pods(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		return nil, []corev1.Pod{*pod}, nil
	}
	owner, err := c.Get(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	selector := selectorOf(owner)
	if selector.Empty() {
		return nil, nil, nil
	}
	var list *corev1.PodList
	err = c.read(ctx, func(ctx context.Context) (err error) {
		list, err = c.core.Pods(ref.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String(), Limit: pageSize})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return owner, list.Items, nil
}

// selectorOf is the selector of an object's pods: that of spec.selector with
// matchLabels and matchExpressions, or as a plain map (ReplicationController,
// Service). It is empty where there is none.
func selectorOf(owner *unstructured.Unstructured) labels.Selector {
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
