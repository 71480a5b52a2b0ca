package controller

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Versions of the APIs that are read and written.
var (
	helmVersion   = schema.GroupVersion{Group: flux.HelmGroup, Version: "v2"}
	sourceVersion = schema.GroupVersion{Group: flux.SourceGroup, Version: "v1"}
)

// object is an object of kind K as the cache holds it: spec and status stay raw JSON,
// which takes a fraction of the memory of decoded ones, and are decoded by a pass
// over it. The bytes are never modified, so copies share them.
type object[K any] struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`

	Spec   json.RawMessage `json:"spec,omitempty"`
	Status json.RawMessage `json:"status,omitempty"`
}

// listOf is a list of such objects.
type listOf[K any] struct {
	metav1.TypeMeta
	metav1.ListMeta `json:"metadata"`

	Items []object[K] `json:"items"`
}

// The kinds that K stands for.
type (
	helmReleaseKind      struct{}
	helmChartKind        struct{}
	ociRepositoryKind    struct{}
	externalArtifactKind struct{}
)

type helmRelease = object[helmReleaseKind]

// DeepCopyObject implements runtime.Object.
func (o *object[K]) DeepCopyObject() runtime.Object {
	out := &object[K]{TypeMeta: o.TypeMeta, Spec: o.Spec, Status: o.Status}
	o.DeepCopyInto(&out.ObjectMeta)
	return out
}

// DeepCopyObject implements runtime.Object.
func (l *listOf[K]) DeepCopyObject() runtime.Object {
	out := &listOf[K]{TypeMeta: l.TypeMeta, Items: make([]object[K], len(l.Items))}
	l.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*object[K])
	}
	return out
}

// content returns the object, decoded as client-go does it: whole numbers are int64.
func (o *object[K]) content() (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("read %s/%s: %w", o.Namespace, o.Name, err)
	}
	return out, nil
}

// addTypes registers the kinds with a scheme.
func addTypes(scheme *runtime.Scheme) {
	add[helmReleaseKind](scheme, helmVersion, flux.KindHelmRelease)
	add[helmChartKind](scheme, sourceVersion, flux.KindHelmChart)
	add[ociRepositoryKind](scheme, sourceVersion, flux.KindOCIRepository)
	add[externalArtifactKind](scheme, sourceVersion, flux.KindExternalArtifact)
	metav1.AddToGroupVersion(scheme, helmVersion)
	metav1.AddToGroupVersion(scheme, sourceVersion)
}

func add[K any](scheme *runtime.Scheme, version schema.GroupVersion, kind string) {
	scheme.AddKnownTypeWithName(version.WithKind(kind), &object[K]{})
	scheme.AddKnownTypeWithName(version.WithKind(kind+"List"), &listOf[K]{})
}

// slim removes from an object that enters the cache what nobody reads there.
func slim(in any) (any, error) {
	if o, ok := in.(*metav1.PartialObjectMetadata); ok { // of Secrets and ConfigMaps
		o.ObjectMeta = metav1.ObjectMeta{
			Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, Labels: o.Labels,
		}
		return o, nil
	}
	if o, ok := in.(metav1.Object); ok {
		o.SetManagedFields(nil)
		if a := o.GetAnnotations(); a[corev1.LastAppliedConfigAnnotation] != "" {
			delete(a, corev1.LastAppliedConfigAnnotation)
			o.SetAnnotations(a)
		}
	}
	return in, nil
}
