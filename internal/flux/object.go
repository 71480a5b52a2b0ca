// Package flux holds the objects of Flux that deploy charts as plain values:
// HelmRelease (helm.toolkit.fluxcd.io/v2), the sources it names
// (source.toolkit.fluxcd.io/v1) and Kustomization
// (kustomize.toolkit.fluxcd.io/v1), with their defaults, the names that follow
// from them and the version that helm-controller gives a chart.
//
// The types are the project's own, read from the field tables of the APIs
// (helm-controller/api 1.6 and 1.7, source-controller/api 1.9,
// kustomize-controller/api 1.10), so that no version of Kubernetes is tied to
// Flux's. Fields that a later API adds are kept and named, see Unknown.
//
// It reads no files and no cluster and decides nothing: what helm-controller
// would do is internal/flux/decision.
package flux

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Groups of Flux's kinds. A version is not looked at: v2 of HelmRelease and v1
// of the others are all that Flux stores.
const (
	HelmGroup      = "helm.toolkit.fluxcd.io"
	SourceGroup    = "source.toolkit.fluxcd.io"
	KustomizeGroup = "kustomize.toolkit.fluxcd.io"
)

// Kinds of Flux's objects.
const (
	KindHelmRelease      = "HelmRelease"
	KindHelmChart        = "HelmChart"
	KindHelmRepository   = "HelmRepository"
	KindOCIRepository    = "OCIRepository"
	KindGitRepository    = "GitRepository"
	KindBucket           = "Bucket"
	KindExternalArtifact = "ExternalArtifact"
	KindKustomization    = "Kustomization"
)

// Labels and annotations that Flux's controllers read or write.
const (
	// OriginName and OriginNamespace are the labels of every object that a
	// HelmRelease makes.
	OriginName      = HelmGroup + "/name"
	OriginNamespace = HelmGroup + "/namespace"

	AnnotationRequestedAt = "reconcile.fluxcd.io/requestedAt"
	AnnotationForceAt     = "reconcile.fluxcd.io/forceAt"
	AnnotationResetAt     = "reconcile.fluxcd.io/resetAt"
)

// Metadata is what matters of an object's metadata.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace,omitempty"`
	Generation        int64             `json:"generation,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	Finalizers        []string          `json:"finalizers,omitempty"`
	DeletionTimestamp *metav1.Time      `json:"deletionTimestamp,omitempty"`
}

// Reference names an object of a kind; an empty namespace is that of the object
// that refers.
type Reference struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`
}

// In is the reference with the namespace filled in.
func (r Reference) In(namespace string) Reference {
	if r.Namespace == "" {
		r.Namespace = namespace
	}
	return r
}

// String is "Kind/namespace/name".
func (r Reference) String() string {
	return fmt.Sprintf("%s/%s/%s", r.Kind, r.Namespace, r.Name)
}

// LocalReference names an object in the same namespace.
type LocalReference struct {
	Name string `json:"name"`
}

// ConditionTrue says whether the condition of the type is there and True.
func ConditionTrue(conditions []metav1.Condition, name string) bool {
	c := Condition(conditions, name)
	return c != nil && c.Status == metav1.ConditionTrue
}

// Condition is the condition of the type, nil when there is none.
func Condition(conditions []metav1.Condition, name string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == name {
			return &conditions[i]
		}
	}
	return nil
}
