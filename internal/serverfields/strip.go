// Package serverfields knows what the API server changes in a document on its own: fields
// that it sets regardless of what is sent, values that it chooses at each write, and a
// Secret's stringData, which it stores as data.
//
// Defaulted fields are not among them; internal/apitypes knows those that matter.
package serverfields

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// StripServerAssigned returns after, the response to a dry run, without the values that
// the API server will choose again at the real write: the UID of a new object and what
// is derived from it (a Job's selector and labels), addresses and ports of a Service
// that nobody asked for, and the name of a Pod's token volume. Values that before, the
// live object, already has are kept.
//
// before is nil for a new object; sent is the document that is sent. In case the object
// exists although before is nil, what controllers have chosen is removed as well: a Pod's
// node, a claim's volume. after is not changed, and may be returned itself if there is
// nothing to strip.
//
// The values are assigned in
// https://github.com/kubernetes/kubernetes/tree/v1.36.3/pkg/registry
// (batch/job/strategy.go, core/service/storage/alloc.go) and
// plugin/pkg/admission/serviceaccount/admission.go.
func StripServerAssigned(after, before, sent *unstructured.Unstructured) *unstructured.Unstructured {
	if after == nil {
		return nil
	}
	kind := after.GroupVersionKind().GroupKind()
	if before != nil && kind != kinds.Service && kind != kinds.Pod {
		return after
	}
	doc, _ := jsontree.Copy(after.Object).(map[string]any)
	out := &unstructured.Unstructured{Object: doc}
	if sent == nil {
		sent = &unstructured.Unstructured{}
	}
	if before == nil {
		before = &unstructured.Unstructured{}
		stripUID(doc, string(after.GetUID()))
		unstructured.RemoveNestedField(doc, "metadata", "creationTimestamp")
		stripScheduling(out, sent, kind)
	}
	switch kind {
	case kinds.Service:
		stripAllocated(section(doc), section(before.Object), section(sent.Object))
	case kinds.Pod:
		stripTokenVolume(section(doc), section(before.Object))
	}
	jsontree.Share(doc, after.Object, nil) // usually everything but the metadata
	return out
}

// section returns an object's spec.
func section(doc map[string]any) map[string]any {
	spec, _ := doc["spec"].(map[string]any)
	return spec
}

// stripUID removes every field that holds the UID, and the maps left empty.
func stripUID(doc map[string]any, uid string) {
	if uid == "" {
		return
	}
	for k, v := range doc {
		if v == uid {
			delete(doc, k)
			continue
		}
		inner, ok := v.(map[string]any)
		if !ok || len(inner) == 0 {
			continue
		}
		if stripUID(inner, uid); len(inner) == 0 {
			delete(doc, k)
		}
	}
}

// stripScheduling removes what the scheduler writes into a Pod and the volume controller
// into a claim, unless sent asks for it.
func stripScheduling(u, sent *unstructured.Unstructured, kind schema.GroupKind) {
	field, prefixes := "", []string(nil)
	switch kind {
	case kinds.Pod:
		field, prefixes = "nodeName", []string{"topology.kubernetes.io/"}
	case kinds.PersistentVolumeClaim:
		field, prefixes = "volumeName", []string{"pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/"}
	default:
		return
	}
	if _, asked := section(sent.Object)[field]; !asked {
		delete(section(u.Object), field)
	}
	for _, names := range []string{"labels", "annotations"} {
		asked, _, _ := unstructured.NestedMap(sent.Object, "metadata", names)
		metadata, _ := u.Object["metadata"].(map[string]any)
		has, _ := metadata[names].(map[string]any)
		for name := range has {
			_, ours := asked[name]
			if !ours && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
				delete(has, name)
			}
		}
	}
}

// stripAllocated removes a Service's addresses and node ports that nobody asked for and
// that it did not have before.
func stripAllocated(spec, before, sent map[string]any) {
	for _, field := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
		if _, asked := sent[field]; !asked && !jsontree.Same(spec[field], before[field]) {
			delete(spec, field)
		}
	}
	had, asked := nodePorts(before), nodePorts(sent)
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port, ok := p.(map[string]any); ok && !had[port["nodePort"]] && !asked[port["nodePort"]] {
			delete(port, "nodePort")
		}
	}
}

func nodePorts(spec map[string]any) map[any]bool {
	found := map[any]bool{}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port, ok := p.(map[string]any); ok {
			found[jsontree.Number(port["nodePort"])] = true
		}
	}
	return found
}

// tokenVolume is the prefix of the volumes that the API server adds to a Pod for its
// service account's token; five random characters follow.
const tokenVolume = "kube-api-access-"

func stripTokenVolume(spec, before map[string]any) {
	had := map[any]bool{}
	volumes, _ := before["volumes"].([]any)
	for _, v := range volumes {
		had[jsontree.KeyOf(v, "name")] = true
	}
	chosen := func(item any) bool {
		name, _ := jsontree.KeyOf(item, "name").(string)
		return strings.HasPrefix(name, tokenVolume) && !had[name]
	}
	without(spec, "volumes", chosen)
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for _, c := range containers {
			if container, ok := c.(map[string]any); ok {
				without(container, "volumeMounts", chosen)
			}
		}
	}
}

// without removes items from a list, and the list itself if it ends up empty.
func without(doc map[string]any, field string, drop func(any) bool) {
	list, ok := doc[field].([]any)
	if !ok {
		return
	}
	kept := []any{}
	for _, item := range list {
		if !drop(item) {
			kept = append(kept, item)
		}
	}
	if doc[field] = kept; len(kept) == 0 {
		delete(doc, field)
	}
}

// Assigned reports whether the API server sets a field of metadata regardless of what is sent.
func Assigned(key string) bool {
	switch key {
	case "managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds":
		return true
	}
	return false
}

// IsExcluded reports whether a top-level field takes no part in a merge: the identity, and
// the status, which belongs to controllers.
func IsExcluded(key string) bool {
	switch key {
	case "apiVersion", "kind", "status":
		return true
	}
	return false
}
