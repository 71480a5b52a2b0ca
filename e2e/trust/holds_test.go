//go:build cluster

package trust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// resources are the kinds of objects that this suite's releases may have.
var resources = map[string]schema.GroupVersionResource{
	"ConfigMap":           {Version: "v1", Resource: "configmaps"},
	"Secret":              {Version: "v1", Resource: "secrets"},
	"Service":             {Version: "v1", Resource: "services"},
	"ServiceAccount":      {Version: "v1", Resource: "serviceaccounts"},
	"Deployment":          {Group: "apps", Version: "v1", Resource: "deployments"},
	"StatefulSet":         {Group: "apps", Version: "v1", Resource: "statefulsets"},
	"Job":                 {Group: "batch", Version: "v1", Resource: "jobs"},
	"CronJob":             {Group: "batch", Version: "v1", Resource: "cronjobs"},
	"Role":                {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"PodDisruptionBudget": {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	"NetworkPolicy":       {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	"Lease":               {Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	"Widget":              {Group: "interop.example.com", Version: "v1", Resource: "widgets"},
}

// holding is what a namespace contains, by Kind/name, without what the control plane puts
// there on its own, records, and objects that have an owner or are being deleted.
type holding map[string]*unstructured.Unstructured

// look is a client that reads what a namespace contains.
type look struct {
	client    dynamic.Interface
	namespace string
}

func newLook(t testing.TB, namespace string) look {
	t.Helper()
	config := cluster.Config(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return look{client, namespace}
}

func (l look) holds(t testing.TB) holding {
	t.Helper()
	found := holding{}
	for kind, resource := range resources {
		list, err := l.client.Resource(resource).Namespace(l.namespace).List(t.Context(), metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // the cluster does not have this kind
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if object := &list.Items[i]; !bornWithNamespace(object) {
				found[kind+"/"+object.GetName()] = object
			}
		}
	}
	return found
}

// anything allows any other objects next to a manifest.
func anything(string, *unstructured.Unstructured) bool { return true }

func bornWithNamespace(o *unstructured.Unstructured) bool {
	record, _, _ := unstructured.NestedString(o.Object, "type")
	return len(o.GetOwnerReferences()) > 0 || o.GetDeletionTimestamp() != nil || record == "helm.sh/release.v1" ||
		o.GetKind() == "ConfigMap" && o.GetName() == "kube-root-ca.crt" || o.GetKind() == "ServiceAccount" && o.GetName() == "default"
}

// objectsOf returns the objects of a manifest, by Kind/name.
func objectsOf(t testing.TB, manifest string) holding {
	t.Helper()
	found := holding{}
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096); ; {
		object := map[string]any{}
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("read a manifest: %v\n%s", err, manifest)
		}
		if u := (&unstructured.Unstructured{Object: object}); u.GetKind() != "" {
			found[u.GetKind()+"/"+u.GetName()] = u
		}
	}
}

// exactly returns how a namespace differs from a manifest: what is missing, what
// should not be there, and each field that is not as the API server would make it if
// the object were created now. allowed reports what else may be there.
func (l look) exactly(t testing.TB, release, manifest string, held holding, allowed func(name string, object *unstructured.Unstructured) bool) []string {
	t.Helper()
	var differences []string
	wanted := objectsOf(t, manifest)
	for name, object := range wanted {
		live := held[name]
		if live == nil {
			differences = append(differences, name+" is missing")
			continue
		}
		for _, d := range fieldsApart("", l.asNew(t, release, object), bare(live)) {
			differences = append(differences, name+" "+d)
		}
	}
	for name, object := range held {
		if wanted[name] == nil && !allowed(name, object) {
			differences = append(differences, name+" is left")
		}
	}
	slices.Sort(differences)
	return differences
}

// asNew returns what the API server would make of an object of the release, by a dry
// run under another name.
func (l look) asNew(t testing.TB, release string, object *unstructured.Unstructured) any {
	t.Helper()
	sent := object.DeepCopy()
	sent.SetName(object.GetName() + "-as-new")
	labels, annotations := sent.GetLabels(), sent.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels["app.kubernetes.io/managed-by"] = "Helm"
	annotations["meta.helm.sh/release-name"], annotations["meta.helm.sh/release-namespace"] = release, l.namespace
	sent.SetLabels(labels)
	sent.SetAnnotations(annotations)
	made, err := l.client.Resource(resources[object.GetKind()]).Namespace(l.namespace).
		Create(context.WithoutCancel(t.Context()), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatalf("try to create %s/%s: %v", object.GetKind(), object.GetName(), err)
	}
	return bare(made)
}

// bare returns an object without the fields that differ between two objects created from the same manifest.
func bare(object *unstructured.Unstructured) any {
	o := object.DeepCopy()
	for _, path := range [][]string{
		{"status"},
		{"metadata", "name"},
		{"metadata", "uid"},
		{"metadata", "resourceVersion"},
		{"metadata", "creationTimestamp"},
		{"metadata", "generation"},
		{"metadata", "managedFields"},
		{"metadata", "annotations", "deployment.kubernetes.io/revision"},
		{"spec", "clusterIP"},
		{"spec", "clusterIPs"},
	} {
		unstructured.RemoveNestedField(o.Object, path...)
	}
	return o.Object
}

// fieldsApart lists the fields in which a live object differs from the wanted
// one. Lists whose items have names are compared by name, ignoring the order.
func fieldsApart(path string, wanted, live any) []string {
	if empty(wanted) && empty(live) {
		return nil
	}
	switch {
	case empty(wanted):
		return []string{path + " is left"}
	case empty(live):
		return []string{path + " is missing"}
	}
	wantedFields, isMap := wanted.(map[string]any)
	liveFields, alsoMap := live.(map[string]any)
	if !isMap || !alsoMap {
		wantedFields, isMap = byName(wanted)
		liveFields, alsoMap = byName(live)
	}
	if !isMap || !alsoMap {
		if reflect.DeepEqual(wanted, live) {
			return nil
		}
		return []string{fmt.Sprintf("%s is %v, not %v", path, live, wanted)}
	}
	keys := slices.Collect(maps.Keys(wantedFields))
	for key := range liveFields {
		if _, known := wantedFields[key]; !known {
			keys = append(keys, key)
		}
	}
	var apart []string
	for _, key := range keys {
		apart = append(apart, fieldsApart(path+"."+key, wantedFields[key], liveFields[key])...)
	}
	return apart
}

func byName(list any) (map[string]any, bool) {
	items, ok := list.([]any)
	if !ok {
		return nil, false
	}
	fields := map[string]any{}
	for _, item := range items {
		m, _ := item.(map[string]any)
		name, named := m["name"].(string)
		if !named {
			return nil, false
		}
		fields[name] = item
	}
	return fields, len(fields) == len(items)
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(v any) bool { return !empty(v) })
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	}
	return false
}
