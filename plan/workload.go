package plan

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/quota"
)

// workload holds the number and the spec of an object's pods.
type workload struct {
	pods int64
	spec *corev1.PodSpec
}

// workloadOf returns the workload of an object whose kind has a number of pods in its spec; was is
// the number to use if the object does not set it.
func workloadOf(id manifest.ID, doc *unstructured.Unstructured, was int64) workload {
	field := kinds.Of(id.GroupKind()).Pods
	if doc == nil || field == "" {
		return workload{}
	}
	var of struct {
		Spec struct {
			Suspend  bool                   `json:"suspend"`
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if !apitypes.Typed(doc, &of) {
		return workload{}
	}
	pods, given, err := unstructured.NestedInt64(doc.Object, "spec", field)
	if !given || err != nil {
		pods = was
	}
	if all, limited, err := unstructured.NestedInt64(doc.Object, "spec", "completions"); limited && err == nil {
		pods = min(pods, all)
	}
	if of.Spec.Suspend {
		pods = 0
	}
	return workload{pods: pods, spec: &of.Spec.Template.Spec}
}

// usage returns what all the pods together use of quotas.
func (w workload) usage() quota.Usage { return quota.OfPods(w.spec, w.pods) }

// usageOf returns what the object itself uses of quotas, without pods of controllers; it is empty for
// cluster-scoped objects.
func (b *builder) usageOf(id manifest.ID, doc *unstructured.Unstructured) quota.Usage {
	resource := b.in.Kinds[id.GroupKind()].Resource
	if resource == "" && b.bringsKind(id) {
		resource, _ = b.resourceOf(id)
	}
	if doc == nil || id.Namespace == "" || resource == "" {
		return quota.Usage{}
	}
	return quota.Of(id, resource, doc)
}

// held returns the usage of a live object.
func (b *builder) held(id manifest.ID, live *unstructured.Unstructured) quota.Usage {
	u := b.usageOf(id, live)
	if live != nil && id.GroupKind() == kinds.Pod {
		phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
		if phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed) {
			return u.Ended()
		}
	}
	return u
}
