package flux

import (
	"cmp"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// HelmRelease says which chart to keep released, with which values and how.
type HelmRelease struct {
	Metadata Metadata          `json:"metadata"`
	Spec     HelmReleaseSpec   `json:"spec"`
	Status   HelmReleaseStatus `json:"status,omitzero"`
	Decoded  `json:"-"`
}

// HelmReleaseSpec is what the user asks for. Pointers tell an unset field from its
// zero value where helm-controller does.
type HelmReleaseSpec struct {
	Chart              *ChartTemplate    `json:"chart,omitempty"`
	ChartRef           *Reference        `json:"chartRef,omitempty"`
	Interval           metav1.Duration   `json:"interval"`
	KubeConfig         *KubeConfig       `json:"kubeConfig,omitempty"`
	Suspend            bool              `json:"suspend,omitempty"`
	ReleaseName        string            `json:"releaseName,omitempty"`
	TargetNamespace    string            `json:"targetNamespace,omitempty"`
	StorageNamespace   string            `json:"storageNamespace,omitempty"`
	DependsOn          []Dependency      `json:"dependsOn,omitempty"`
	Timeout            *metav1.Duration  `json:"timeout,omitempty"`
	MaxHistory         *int              `json:"maxHistory,omitempty"`
	ServiceAccountName string            `json:"serviceAccountName,omitempty"`
	PersistentClient   *bool             `json:"persistentClient,omitempty"`
	DriftDetection     *DriftDetection   `json:"driftDetection,omitempty"`
	Install            *Install          `json:"install,omitempty"`
	Upgrade            *Upgrade          `json:"upgrade,omitempty"`
	Test               *Test             `json:"test,omitempty"`
	Rollback           *Rollback         `json:"rollback,omitempty"`
	Uninstall          *Uninstall        `json:"uninstall,omitempty"`
	ValuesFrom         []ValuesReference `json:"valuesFrom,omitempty"`
	Values             json.RawMessage   `json:"values,omitempty"`
	PostRenderers      []PostRenderer    `json:"postRenderers,omitempty"`
	PostRenderStrategy string            `json:"postRenderStrategy,omitempty"`
	CommonMetadata     *CommonMetadata   `json:"commonMetadata,omitempty"`
	WaitStrategy       *WaitStrategy     `json:"waitStrategy,omitempty"`
	HealthCheckExprs   []HealthCheck     `json:"healthCheckExprs,omitempty"`
}

// ChartTemplate describes a chart inline; helm-controller creates a HelmChart from
// it, or an OCIRepository (Kind, API 1.7).
type ChartTemplate struct {
	Kind     string             `json:"kind,omitempty"`
	Metadata *TemplateMetadata  `json:"metadata,omitempty"`
	Spec     *ChartTemplateSpec `json:"spec"`
}

// TemplateMetadata is copied to the source that is created.
type TemplateMetadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ChartTemplateSpec has the fields of HelmChart and of OCIRepository; Validate
// checks which go together.
type ChartTemplateSpec struct {
	Chart                    string           `json:"chart,omitempty"`
	Version                  string           `json:"version,omitempty"`
	SourceRef                *Reference       `json:"sourceRef,omitempty"`
	Interval                 *metav1.Duration `json:"interval,omitempty"`
	ReconcileStrategy        string           `json:"reconcileStrategy,omitempty"`
	ValuesFiles              []string         `json:"valuesFiles,omitempty"`
	IgnoreMissingValuesFiles bool             `json:"ignoreMissingValuesFiles,omitempty"`
	Verify                   *Verification    `json:"verify,omitempty"`

	URL                string           `json:"url,omitempty"`
	Ref                *OCIReference    `json:"ref,omitempty"`
	LayerSelector      *LayerSelector   `json:"layerSelector,omitempty"`
	Provider           string           `json:"provider,omitempty"`
	SecretRef          *LocalReference  `json:"secretRef,omitempty"`
	ServiceAccountName string           `json:"serviceAccountName,omitempty"`
	CertSecretRef      *LocalReference  `json:"certSecretRef,omitempty"`
	ProxySecretRef     *LocalReference  `json:"proxySecretRef,omitempty"`
	Timeout            *metav1.Duration `json:"timeout,omitempty"`
	Ignore             *string          `json:"ignore,omitempty"`
	Insecure           bool             `json:"insecure,omitempty"`
	Suspend            bool             `json:"suspend,omitempty"`
}

// Dependency is an object of the same kind that has to be ready first.
type Dependency struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	// ReadyExpr is a CEL expression over self and dep that replaces the check of
	// the Ready condition.
	ReadyExpr string `json:"readyExpr,omitempty"`
}

// In returns the dependency with an empty namespace filled in.
func (d Dependency) In(namespace string) Dependency {
	d.Namespace = cmp.Or(d.Namespace, namespace)
	return d
}

// String returns "namespace/name".
func (d Dependency) String() string { return d.Namespace + "/" + d.Name }

// KubeConfig says where another cluster's credentials are.
type KubeConfig struct {
	ConfigMapRef *LocalReference `json:"configMapRef,omitempty"`
	SecretRef    *KeyReference   `json:"secretRef,omitempty"`
}

// Holder returns the object in the HelmRelease's namespace that holds them, nil if there is none.
func (k *KubeConfig) Holder() *Reference {
	switch {
	case k == nil:
	case k.SecretRef != nil:
		return &Reference{Kind: kinds.Secret.Kind, Name: k.SecretRef.Name}
	case k.ConfigMapRef != nil:
		return &Reference{Kind: kinds.ConfigMap.Kind, Name: k.ConfigMapRef.Name}
	}
	return nil
}

// KeyReference names a key of an object in the same namespace.
type KeyReference struct {
	Name string `json:"name"`
	Key  string `json:"key,omitempty"`
}

// ValuesReference is a ConfigMap or Secret that holds values, always in the
// HelmRelease's namespace.
type ValuesReference struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	ValuesKey  string `json:"valuesKey,omitempty"`
	TargetPath string `json:"targetPath,omitempty"`
	Optional   bool   `json:"optional,omitempty"`
	Literal    bool   `json:"literal,omitempty"`
}

// Key returns the key that holds the values, "values.yaml" by default.
func (r ValuesReference) Key() string {
	if r.ValuesKey == "" {
		return "values.yaml"
	}
	return r.ValuesKey
}

// DriftDetection says whether live objects are compared with the stored
// manifest.
type DriftDetection struct {
	Mode   string        `json:"mode,omitempty"`
	Ignore []DriftIgnore `json:"ignore,omitempty"`
}

// DriftIgnore is a set of JSON pointers that are not compared.
type DriftIgnore struct {
	Paths  []string  `json:"paths"`
	Target *Selector `json:"target,omitempty"`
}

// WaitStrategy is how readiness is determined.
type WaitStrategy struct {
	Name string `json:"name"`
}

// HealthCheck has the CEL expressions for the readiness of a kind; without Kind, of a group.
type HealthCheck struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Current    string `json:"current"`
	InProgress string `json:"inProgress,omitempty"`
	Failed     string `json:"failed,omitempty"`
}
