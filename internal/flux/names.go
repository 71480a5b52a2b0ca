package flux

import (
	"crypto/sha256"
	"encoding/hex"
)

// maxReleaseName is Helm's limit for the name of a release.
const maxReleaseName = 53

// ReleaseName is the name of the release: spec.releaseName, else the
// HelmRelease's name, with the target namespace in front when there is one,
// shortened to what Helm allows.
func (hr *HelmRelease) ReleaseName() string {
	switch {
	case hr.Spec.ReleaseName != "":
		return shorten(hr.Spec.ReleaseName)
	case hr.Spec.TargetNamespace != "":
		return shorten(hr.Spec.TargetNamespace + "-" + hr.Metadata.Name)
	}
	return shorten(hr.Metadata.Name)
}

// shorten keeps the first 40 bytes and puts 12 digits of the whole name's
// SHA-256 behind (helm-controller, internal/release.ShortenName).
func shorten(name string) string {
	const kept, digits = 40, 12
	if len(name) <= maxReleaseName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:kept] + "-" + hex.EncodeToString(sum[:])[:digits]
}

// ReleaseNamespace is where the release's objects go.
func (hr *HelmRelease) ReleaseNamespace() string {
	if hr.Spec.TargetNamespace != "" {
		return hr.Spec.TargetNamespace
	}
	return hr.Metadata.Namespace
}

// StorageNamespace is where the release's records are: the HelmRelease's
// namespace and not the target's, unless it is set.
func (hr *HelmRelease) StorageNamespace() string {
	if hr.Spec.StorageNamespace != "" {
		return hr.Spec.StorageNamespace
	}
	return hr.Metadata.Namespace
}

// String is "namespace/name".
func (hr *HelmRelease) String() string { return hr.Metadata.Namespace + "/" + hr.Metadata.Name }

// Origin are the labels that all objects of the release get, CRDs of crds/ included.
func (hr *HelmRelease) Origin() map[string]string {
	return map[string]string{OriginName: hr.Metadata.Name, OriginNamespace: hr.Metadata.Namespace}
}

// ChartSource is the source whose artifact is the chart: what chartRef names,
// or what helm-controller makes of the template, in the namespace of the
// template's source and under the HelmRelease's two names.
func (hr *HelmRelease) ChartSource() Reference {
	if ref := hr.Spec.ChartRef; ref != nil {
		return ref.In(hr.Metadata.Namespace)
	}
	made := Reference{Kind: KindHelmChart, Name: hr.Metadata.Namespace + "-" + hr.Metadata.Name, Namespace: hr.Metadata.Namespace}
	t := hr.Spec.Chart
	switch {
	case t == nil || t.Spec == nil:
	case t.Kind == KindOCIRepository:
		made.Kind = KindOCIRepository
	case t.Spec.SourceRef != nil:
		made.Namespace = t.Spec.SourceRef.In(hr.Metadata.Namespace).Namespace
	}
	return made
}
