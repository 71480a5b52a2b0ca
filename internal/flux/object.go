// Package flux has plain types for the Flux objects that deploy charts:
// HelmRelease (helm.toolkit.fluxcd.io/v2), the sources it names
// (source.toolkit.fluxcd.io/v1) and Kustomization
// (kustomize.toolkit.fluxcd.io/v1), with their defaults, the names derived
// from them and the version that helm-controller gives a chart.
//
// The types are the project's own, written from the field tables of the APIs
// (helm-controller/api 1.6 and 1.7, source-controller/api 1.9,
// kustomize-controller/api 1.10), so our version of Kubernetes is not tied to
// Flux's. Fields that a later API adds are kept and listed, see Decoded.Unknown.
//
// It reads neither files nor a cluster, and decides nothing: what helm-controller
// would do is in internal/flux/decision.
package flux

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// API groups of Flux's kinds. Versions are ignored: Flux stores only v2 of
// HelmRelease and v1 of the others.
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
	// OriginName and OriginNamespace are labels of every object that a
	// HelmRelease creates.
	OriginName      = HelmGroup + "/name"
	OriginNamespace = HelmGroup + "/namespace"

	AnnotationRequestedAt = "reconcile.fluxcd.io/requestedAt"
	AnnotationForceAt     = "reconcile.fluxcd.io/forceAt"
	AnnotationResetAt     = "reconcile.fluxcd.io/resetAt"
)

// Metadata is the part of an object's metadata that matters here.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace,omitempty"`
	Generation        int64             `json:"generation,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	Finalizers        []string          `json:"finalizers,omitempty"`
	DeletionTimestamp *metav1.Time      `json:"deletionTimestamp,omitempty"`
}

// Reference names an object of a kind; an empty namespace is that of the
// referring object.
type Reference struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`
}

// In returns the reference with an empty namespace filled in.
func (r Reference) In(namespace string) Reference {
	if r.Namespace == "" {
		r.Namespace = namespace
	}
	return r
}

// String returns "Kind/namespace/name".
func (r Reference) String() string {
	return fmt.Sprintf("%s/%s/%s", r.Kind, r.Namespace, r.Name)
}

// LocalReference names an object in the same namespace.
type LocalReference struct {
	Name string `json:"name"`
}

// ConditionTrue reports whether there is a condition of the type, and it is True.
func ConditionTrue(conditions []metav1.Condition, name string) bool {
	c := Condition(conditions, name)
	return c != nil && c.Status == metav1.ConditionTrue
}

// Types of conditions that all of Flux's objects have.
const (
	ConditionReady       = "Ready"
	ConditionReconciling = "Reconciling"
	ConditionStalled     = "Stalled"
)

// Condition returns the condition of the type, nil when there is none.
func Condition(conditions []metav1.Condition, name string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == name {
			return &conditions[i]
		}
	}
	return nil
}
