// Package apitypes knows what the Go types of Kubernetes' built-in kinds say about
// their fields: which lists have merge keys, which fields exclude each other, what
// is omitted when it is zero, and so whether two values mean the same to the API
// server.
//
// It merges nothing and compares no whole objects. Of custom resources it knows
// only the metadata.
package apitypes

import (
	"reflect"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1alpha1 "k8s.io/api/certificates/v1alpha1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	discoveryv1beta1 "k8s.io/api/discovery/v1beta1"
	eventsv1 "k8s.io/api/events/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	nodev1 "k8s.io/api/node/v1"
	nodev1beta1 "k8s.io/api/node/v1beta1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// builtin is built by the first document that needs it, so commands that look at
// no object don't pay for it.
var builtin = sync.OnceValue(newRegistry)

// registry knows the Go types of the built-in kinds and what they say about
// their fields. It is safe for concurrent use.
type registry struct {
	types map[schema.GroupVersionKind]reflect.Type
	meta  *Node

	mu      sync.Mutex
	kinds   map[schema.GroupVersionKind]*Node
	structs map[reflect.Type]map[string]*Node
}

func newRegistry() *registry {
	scheme := runtime.NewScheme()
	for _, add := range groups() {
		if err := add(scheme); err != nil {
			// Only two types with the same name could cause this, which would be
			// a bug in the modules we are built with, and every test would fail.
			panic(err)
		}
	}
	r := &registry{
		types:   scheme.AllKnownTypes(),
		kinds:   map[schema.GroupVersionKind]*Node{},
		structs: map[reflect.Type]map[string]*Node{},
	}
	r.meta = r.nodeOf(reflect.TypeFor[metav1.ObjectMeta]())
	return r
}

func groups() []func(*runtime.Scheme) error {
	return []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, admissionv1alpha1.AddToScheme, admissionv1beta1.AddToScheme,
		appsv1.AddToScheme, appsv1beta1.AddToScheme, appsv1beta2.AddToScheme,
		autoscalingv1.AddToScheme, autoscalingv2.AddToScheme,
		batchv1.AddToScheme, batchv1beta1.AddToScheme,
		certificatesv1.AddToScheme, certificatesv1alpha1.AddToScheme, certificatesv1beta1.AddToScheme,
		coordinationv1.AddToScheme, coordinationv1beta1.AddToScheme,
		corev1.AddToScheme,
		discoveryv1.AddToScheme, discoveryv1beta1.AddToScheme,
		eventsv1.AddToScheme, extensionsv1beta1.AddToScheme,
		flowcontrolv1.AddToScheme, flowcontrolv1beta3.AddToScheme,
		networkingv1.AddToScheme, networkingv1beta1.AddToScheme,
		nodev1.AddToScheme, nodev1beta1.AddToScheme,
		policyv1.AddToScheme, policyv1beta1.AddToScheme,
		rbacv1.AddToScheme, rbacv1beta1.AddToScheme,
		resourcev1.AddToScheme, resourcev1beta1.AddToScheme, resourcev1beta2.AddToScheme,
		schedulingv1.AddToScheme, schedulingv1beta1.AddToScheme,
		storagev1.AddToScheme, storagev1beta1.AddToScheme,
		apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme,
	}
}

// kind returns what is known about a kind's fields. Kinds that are not built
// in get a node that knows the metadata and nothing else.
func (r *registry) kind(gvk schema.GroupVersionKind) *Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, ok := r.kinds[gvk]; ok {
		return n
	}
	n := &Node{form: FormAny, fields: map[string]*Node{"metadata": r.meta}}
	if t, ok := r.types[gvk]; ok {
		n = r.nodeOf(t)
	}
	r.kinds[gvk] = n
	return n
}

// strategic is Strategic. It excludes CustomResourceDefinitions: their schemas hold
// free-form JSON, on which strategic merge gives up.
func (r *registry) strategic(gvk schema.GroupVersionKind) (reflect.Type, bool) {
	t, ok := r.types[gvk]
	return t, ok && gvk.Group != apiextensionsv1.GroupName
}

// Of returns what is known about a kind's fields: of a kind that is not built in,
// only the metadata. It is safe for concurrent use.
func Of(gvk schema.GroupVersionKind) *Node { return builtin().kind(gvk) }

// Strategic returns the Go type that governs strategic merges of a kind, and
// whether they are possible. It is safe for concurrent use.
func Strategic(gvk schema.GroupVersionKind) (reflect.Type, bool) { return builtin().strategic(gvk) }

// Typed converts an object to its Go type and reports whether that succeeded. The API server would
// refuse an object for which it fails.
func Typed(doc *unstructured.Unstructured, into any) bool {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(doc.Object, into) == nil
}
