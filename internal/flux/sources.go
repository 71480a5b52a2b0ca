package flux

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Source is any of the kinds of source.toolkit.fluxcd.io/v1: HelmRepository,
// OCIRepository, GitRepository, Bucket, HelmChart, ExternalArtifact.
type Source struct {
	Kind     string
	Metadata Metadata     `json:"metadata"`
	Spec     SourceSpec   `json:"spec"`
	Status   SourceStatus `json:"status,omitzero"`
	Decoded  `json:"-"`
}

// Reference returns a reference to the source.
func (s *Source) Reference() Reference {
	return Reference{Kind: s.Kind, Name: s.Metadata.Name, Namespace: s.Metadata.Namespace}
}

// HasRevisionDigest reports whether the digest in the revision of the source's artifact becomes part
// of the chart's version. The revision of an ExternalArtifact may have none (helm-controller 1.6.3,
// internal/controller/helmrelease_controller.go, isSourceWithRevisionDigest).
func (s *Source) HasRevisionDigest() bool {
	external := s.Kind == KindExternalArtifact && s.Status.Artifact != nil && strings.Contains(s.Status.Artifact.Revision, ":")
	return external || s.Kind == KindOCIRepository
}

// SourceSpec has the fields of all kinds of sources; sourceFields says which
// kind has which.
type SourceSpec struct {
	Interval           metav1.Duration  `json:"interval,omitzero"`
	Timeout            *metav1.Duration `json:"timeout,omitempty"`
	Suspend            bool             `json:"suspend,omitempty"`
	URL                string           `json:"url,omitempty"`
	Type               string           `json:"type,omitempty"`
	Provider           string           `json:"provider,omitempty"`
	SecretRef          *LocalReference  `json:"secretRef,omitempty"`
	CertSecretRef      *LocalReference  `json:"certSecretRef,omitempty"`
	ProxySecretRef     *LocalReference  `json:"proxySecretRef,omitempty"`
	ServiceAccountName string           `json:"serviceAccountName,omitempty"`
	PassCredentials    bool             `json:"passCredentials,omitempty"`
	Insecure           bool             `json:"insecure,omitempty"`
	AccessFrom         any              `json:"accessFrom,omitempty"`
	Ignore             *string          `json:"ignore,omitempty"`
	Verify             *Verification    `json:"verify,omitempty"`

	// Ref is a field of OCIRepository and GitRepository.
	Ref               *SourceVersion `json:"ref,omitempty"`
	LayerSelector     *LayerSelector `json:"layerSelector,omitempty"`
	Include           []Include      `json:"include,omitempty"`
	SparseCheckout    []string       `json:"sparseCheckout,omitempty"`
	RecurseSubmodules bool           `json:"recurseSubmodules,omitempty"`

	BucketName string          `json:"bucketName,omitempty"`
	Endpoint   string          `json:"endpoint,omitempty"`
	Region     string          `json:"region,omitempty"`
	Prefix     string          `json:"prefix,omitempty"`
	STS        *BucketSecurity `json:"sts,omitempty"`

	Chart                    string     `json:"chart,omitempty"`
	Version                  string     `json:"version,omitempty"`
	SourceRef                *Reference `json:"sourceRef,omitempty"`
	ReconcileStrategy        string     `json:"reconcileStrategy,omitempty"`
	ValuesFiles              []string   `json:"valuesFiles,omitempty"`
	IgnoreMissingValuesFiles bool       `json:"ignoreMissingValuesFiles,omitempty"`
}

// SourceVersion says which version of a repository is used: for an OCIRepository
// digest, semver (with semverFilter) or tag; for a GitRepository commit, name,
// semver, tag or branch; the first of these that is set.
type SourceVersion struct {
	Branch       string `json:"branch,omitempty"`
	Tag          string `json:"tag,omitempty"`
	SemVer       string `json:"semver,omitempty"`
	SemverFilter string `json:"semverFilter,omitempty"`
	Name         string `json:"name,omitempty"`
	Commit       string `json:"commit,omitempty"`
	Digest       string `json:"digest,omitempty"`
}

// OCIReference is the ref of an OCIRepository.
type OCIReference = SourceVersion

// LayerSelector says which layer of an artifact is used, and how.
type LayerSelector struct {
	MediaType string `json:"mediaType,omitempty"`
	Operation string `json:"operation,omitempty"`
}

// Include copies another GitRepository's tree into this one's.
type Include struct {
	Repository LocalReference `json:"repository"`
	FromPath   string         `json:"fromPath,omitempty"`
	ToPath     string         `json:"toPath,omitempty"`
}

// BucketSecurity is where a bucket's temporary credentials come from.
type BucketSecurity struct {
	Provider      string          `json:"provider"`
	Endpoint      string          `json:"endpoint"`
	SecretRef     *LocalReference `json:"secretRef,omitempty"`
	CertSecretRef *LocalReference `json:"certSecretRef,omitempty"`
}

// Verification requires a signature: on charts and artifacts (provider), or on
// commits (mode).
type Verification struct {
	Provider          string              `json:"provider,omitempty"`
	Mode              string              `json:"mode,omitempty"`
	SecretRef         *LocalReference     `json:"secretRef,omitempty"`
	MatchOIDCIdentity []map[string]string `json:"matchOIDCIdentity,omitempty"`
	TrustedRootRef    *LocalReference     `json:"trustedRootSecretRef,omitempty"`
}

// SourceStatus is what source-controller has produced.
type SourceStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	Artifact           *Artifact          `json:"artifact,omitempty"`
	ObservedChartName  string             `json:"observedChartName,omitempty"`
}

// Artifact is what source-controller serves.
type Artifact struct {
	URL            string            `json:"url"`
	Path           string            `json:"path,omitempty"`
	Digest         string            `json:"digest,omitempty"`
	Revision       string            `json:"revision"`
	LastUpdateTime metav1.Time       `json:"lastUpdateTime,omitzero"`
	Size           *int64            `json:"size,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"`
}

// NotReady returns why helm-controller would not use the source's artifact, ""
// when it would: the old artifact of a source that is no longer Ready still counts.
func (s *Source) NotReady() string {
	stalled := Condition(s.Status.Conditions, ConditionStalled)
	switch {
	case s.Kind != KindExternalArtifact && s.Metadata.Generation != s.Status.ObservedGeneration:
		if c := Condition(s.Status.Conditions, ConditionReady); c != nil && c.Status == metav1.ConditionFalse {
			return c.Message
		}
		return "latest generation of object has not been reconciled"
	case s.Kind != KindExternalArtifact && stalled != nil && stalled.Status == metav1.ConditionTrue:
		return stalled.Message
	case s.Status.Artifact == nil:
		return "does not have an artifact"
	}
	return ""
}
