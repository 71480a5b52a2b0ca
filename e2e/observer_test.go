//go:build cluster

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

// object is one object as the API server returns it.
type object = *unstructured.Unstructured

// observer reads the cluster without using the program's own code.
type observer struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func newObserver(t *testing.T) *observer {
	t.Helper()
	config := cluster.Config(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &observer{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}
}

// get reads one object; it returns nil if there is none.
func (o *observer) get(t *testing.T, apiVersion, kind, namespace, name string) object {
	t.Helper()
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	mapping, err := o.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) { // its CRD may be new
		o.mapper.Reset()
		mapping, err = o.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
	var resource dynamic.ResourceInterface = o.client.Resource(mapping.Resource)
	if namespace != "" {
		resource = o.client.Resource(mapping.Resource).Namespace(namespace)
	}
	found, err := resource.Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// namespaced are the resources of the kinds that charts put into a namespace.
var namespaced = []schema.GroupVersionResource{
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Version: "v1", Resource: "persistentvolumeclaims"},
	{Version: "v1", Resource: "pods"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
	{Group: "batch", Version: "v1", Resource: "jobs"},
	{Group: "batch", Version: "v1", Resource: "cronjobs"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
}

// all returns by "Kind/name" what people have put into a namespace, without
// release records and what controllers have created.
func (o *observer) all(t *testing.T, namespace string) map[string]object {
	t.Helper()
	found := map[string]object{}
	for _, resource := range namespaced {
		options := metav1.ListOptions{}
		if resource.Resource == "secrets" {
			options.FieldSelector = "type!=helm.sh/release.v1"
		}
		list, err := o.client.Resource(resource).Namespace(namespace).List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			u := &list.Items[i]
			name := strings.ToLower(u.GetKind()) + "/" + u.GetName()
			if len(u.GetOwnerReferences()) == 0 && !bornWith[name] && !claimOfPod(u) {
				found[u.GetKind()+"/"+u.GetName()] = u
			}
		}
	}
	return found
}

// claimOfPod reports whether a StatefulSet created the claim, which then has no owner reference.
func claimOfPod(u object) bool {
	return u.GetKind() == "PersistentVolumeClaim" && u.GetLabels()["app.kubernetes.io/managed-by"] == ""
}

// quiet waits until controllers have finished with the namespace's new objects, and
// returns what is there.
func (o *observer) quiet(t *testing.T, namespace string) map[string]object {
	t.Helper()
	var left string
	for range 6000 {
		left = ""
		found := o.all(t, namespace)
		for name, u := range found {
			if why := unsettled(u); why != "" {
				left = fmt.Sprintf("%s: %s", name, why)
			}
		}
		if left == "" {
			return found
		}
		time.Sleep(150 * time.Millisecond) // each look lists every kind
	}
	t.Fatalf("nothing happens any more: %s", left)
	return nil
}

// unsettled returns what a controller has yet to do to an object, or "" if nothing
// is left to do.
func unsettled(u object) string {
	switch u.GetKind() {
	case "Deployment", "StatefulSet", "DaemonSet":
		if seen, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration"); seen < u.GetGeneration() {
			return "its controller has not seen it"
		}
	case "PersistentVolumeClaim":
		if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase != "Bound" {
			return "it is not bound"
		}
	}
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
		return "it is being deleted"
	}
	return ""
}
