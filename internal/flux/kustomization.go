package flux

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kustomization says what kustomize-controller builds and applies.
type Kustomization struct {
	Metadata Metadata            `json:"metadata"`
	Spec     KustomizationSpec   `json:"spec"`
	Status   KustomizationStatus `json:"status,omitzero"`
	Decoded  `json:"-"`
}

// KustomizationSpec is what the user asks for.
type KustomizationSpec struct {
	CommonMetadata          *CommonMetadata  `json:"commonMetadata,omitempty"`
	DependsOn               []Dependency     `json:"dependsOn,omitempty"`
	Decryption              *Decryption      `json:"decryption,omitempty"`
	Interval                metav1.Duration  `json:"interval"`
	RetryInterval           *metav1.Duration `json:"retryInterval,omitempty"`
	KubeConfig              *KubeConfig      `json:"kubeConfig,omitempty"`
	Path                    string           `json:"path,omitempty"`
	PostBuild               *PostBuild       `json:"postBuild,omitempty"`
	Prune                   bool             `json:"prune"`
	DeletionPolicy          string           `json:"deletionPolicy,omitempty"`
	HealthChecks            []Reference      `json:"healthChecks,omitempty"`
	HealthCheckExprs        []HealthCheck    `json:"healthCheckExprs,omitempty"`
	NamePrefix              string           `json:"namePrefix,omitempty"`
	NameSuffix              string           `json:"nameSuffix,omitempty"`
	Patches                 []Patch          `json:"patches,omitempty"`
	Images                  []Image          `json:"images,omitempty"`
	ServiceAccountName      string           `json:"serviceAccountName,omitempty"`
	SourceRef               Reference        `json:"sourceRef"`
	Suspend                 bool             `json:"suspend,omitempty"`
	TargetNamespace         string           `json:"targetNamespace,omitempty"`
	Timeout                 *metav1.Duration `json:"timeout,omitempty"`
	Force                   bool             `json:"force,omitempty"`
	Wait                    bool             `json:"wait,omitempty"`
	BuildMetadata           []string         `json:"buildMetadata,omitempty"`
	Components              []string         `json:"components,omitempty"`
	IgnoreMissingComponents bool             `json:"ignoreMissingComponents,omitempty"`
	Ignore                  []DriftIgnore    `json:"ignore,omitempty"`
}

// Decryption says how the build's Secrets are decrypted.
type Decryption struct {
	Provider           string          `json:"provider"`
	ServiceAccountName string          `json:"serviceAccountName,omitempty"`
	SecretRef          *LocalReference `json:"secretRef,omitempty"`
}

// PostBuild substitutes variables in what was built.
type PostBuild struct {
	SubstituteStrategy string                `json:"substituteStrategy,omitempty"`
	Substitute         map[string]string     `json:"substitute,omitempty"`
	SubstituteFrom     []SubstituteReference `json:"substituteFrom,omitempty"`
}

// SubstituteReference is a ConfigMap or Secret whose keys become variables.
type SubstituteReference struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Optional bool   `json:"optional,omitempty"`
}

// KustomizationStatus is what kustomize-controller has done.
type KustomizationStatus struct {
	ObservedGeneration  int64              `json:"observedGeneration,omitempty"`
	Conditions          []metav1.Condition `json:"conditions,omitempty"`
	LastAppliedRevision string             `json:"lastAppliedRevision,omitempty"`
}

// String returns "namespace/name".
func (k *Kustomization) String() string { return k.Metadata.Namespace + "/" + k.Metadata.Name }

// DeletesApplied reports whether what the Kustomization has applied is deleted when it is deleted
// itself (kustomize-controller 1.9.4, internal/controller/kustomization_controller.go,
// finalizerShouldDeleteResources).
func (k *Kustomization) DeletesApplied() bool {
	switch k.Spec.DeletionPolicy {
	case "", "MirrorPrune":
		return k.Spec.Prune && !k.Spec.Suspend
	case "Delete", "WaitForTermination":
		return !k.Spec.Suspend
	}
	return false
}

// Unapplied returns the label or annotation because of which kustomize-controller does not apply an
// object, such as "kustomize.toolkit.fluxcd.io/reconcile: disabled", "" if it does. It counts in the
// source and in the cluster (kustomize-controller 1.9.4,
// internal/controller/kustomization_controller.go, apply; fluxcd/pkg ssa 0.76.1, manager_apply.go,
// shouldSkipApply).
func (m Metadata) Unapplied() string {
	return cmp.Or(m.says("reconcile", "disabled"), m.says("ssa", "Ignore"))
}

// OnlyCreated returns the label or annotation in the source because of which an object that exists is
// not changed any more, "" if there is none.
func (m Metadata) OnlyCreated() string { return m.says("ssa", "IfNotPresent") }

// Undeleted returns the label or annotation because of which an object is not deleted when it leaves
// its source, or with its Kustomization, "" if it is. It counts in the cluster (deleteObjects).
func (m Metadata) Undeleted() string { return cmp.Or(m.says("prune", "disabled"), m.Unapplied()) }

// says returns a label or annotation of kustomize-controller if it has that value, in any case
// (fluxcd/pkg ssa 0.76.1, utils/meta.go, AnyInMetadata).
func (m Metadata) says(name, value string) string {
	key := KustomizeGroup + "/" + name
	if strings.EqualFold(m.Labels[key], value) || strings.EqualFold(m.Annotations[key], value) {
		return key + ": " + value
	}
	return ""
}
