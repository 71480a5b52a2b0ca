package patch

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Foreseen is the part of a dry run's answer that will hold: after without what
// the API server chooses anew at the real write (Kubernetes 1.36). That is the
// UID of a new object and what is derived from it (a Job's selector and labels),
// addresses and ports of a Service that were not asked for, and the name of the
// token volume of a Pod. What before has already stays. before is nil for a new
// object, sent is what is sent. Of a new object that is there already, nothing is
// left of what controllers have chosen either: a Pod's node, a claim's volume. after is not changed; where all of it holds, it is
// what is returned.
func Foreseen(after, before, sent *unstructured.Unstructured) *unstructured.Unstructured {
	kind := ""
	if after != nil {
		kind = apiVersionKind(after)
	}
	if after == nil || before != nil && kind != "v1/Service" && kind != "v1/Pod" {
		return after
	}
	doc, _ := copied(after.Object).(map[string]any)
	out := &unstructured.Unstructured{Object: doc}
	if sent == nil {
		sent = &unstructured.Unstructured{}
	}
	if before == nil {
		before = &unstructured.Unstructured{}
		withoutUID(doc, string(after.GetUID()))
		unstructured.RemoveNestedField(doc, "metadata", "creationTimestamp")
		withoutPlace(out, sent, kind)
	}
	switch kind {
	case "v1/Service":
		withoutAllocated(section(doc), section(before.Object), section(sent.Object))
	case "v1/Pod":
		withoutTokenVolume(section(doc), section(before.Object))
	}
	return out
}

func apiVersionKind(u *unstructured.Unstructured) string {
	return u.GetAPIVersion() + "/" + u.GetKind()
}

// section is an object's spec.
func section(doc map[string]any) map[string]any {
	spec, _ := doc["spec"].(map[string]any)
	return spec
}

// withoutUID removes every field that holds the UID, and the maps that are empty
// then.
func withoutUID(doc map[string]any, uid string) {
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
		if withoutUID(inner, uid); len(inner) == 0 {
			delete(doc, k)
		}
	}
}

// withoutPlace removes what the scheduler writes into a Pod and the volume
// controller into a claim, unless it is asked for.
func withoutPlace(u, sent *unstructured.Unstructured, kind string) {
	field, prefixes := "", []string(nil)
	switch kind {
	case "v1/Pod":
		field, prefixes = "nodeName", []string{"topology.kubernetes.io/"}
	case "v1/PersistentVolumeClaim":
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

// withoutAllocated removes a Service's addresses and ports that nobody has asked
// for and that it did not have before.
func withoutAllocated(spec, before, sent map[string]any) {
	for _, field := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
		if _, asked := sent[field]; !asked && !same(spec[field], before[field]) {
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
			found[number(port["nodePort"])] = true
		}
	}
	return found
}

// tokenVolume is how the volumes are called that the API server gives to a Pod
// for its account's token; five random characters follow.
const tokenVolume = "kube-api-access-"

func withoutTokenVolume(spec, before map[string]any) {
	had := map[any]bool{}
	volumes, _ := before["volumes"].([]any)
	for _, v := range volumes {
		had[keyOf(v, "name")] = true
	}
	chosen := func(item any) bool {
		name, _ := keyOf(item, "name").(string)
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

// without removes items of a list, and the list when it is empty then.
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
