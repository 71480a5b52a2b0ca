package flux

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// ControllerName is helm-controller's name: its lease and its events carry it.
const ControllerName = "helm-controller"

// FieldManager is helm-controller's, so releases can change hands without conflicts.
const FieldManager = ControllerName

// ReleaseName returns the name of the release, shortened to what Helm allows:
// spec.releaseName, else the HelmRelease's name, prefixed with the target
// namespace when there is one.
func (hr *HelmRelease) ReleaseName() string {
	switch {
	case hr.Spec.ReleaseName != "":
		return shorten(hr.Spec.ReleaseName)
	case hr.Spec.TargetNamespace != "":
		return shorten(hr.Spec.TargetNamespace + "-" + hr.Metadata.Name)
	}
	return shorten(hr.Metadata.Name)
}

// shorten keeps the first 40 bytes of a name that is too long and appends 12 digits
// of the whole name's SHA-256 (helm-controller 1.6.3, internal/release/name.go, ShortenName).
func shorten(name string) string {
	const kept, digits = 40, 12
	if len(name) <= release.LongestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:kept] + "-" + hex.EncodeToString(sum[:])[:digits]
}

// ReleaseNamespace returns the namespace of the release's objects.
func (hr *HelmRelease) ReleaseNamespace() string {
	if hr.Spec.TargetNamespace != "" {
		return hr.Spec.TargetNamespace
	}
	return hr.Metadata.Namespace
}

// StorageNamespace returns the namespace of the release's records: unless it is
// set, the HelmRelease's and not the target's.
func (hr *HelmRelease) StorageNamespace() string {
	if hr.Spec.StorageNamespace != "" {
		return hr.Spec.StorageNamespace
	}
	return hr.Metadata.Namespace
}

// Cluster returns what the release's cluster is called: "Secret/shop/other" after the object that holds its
// kubeconfig, with the key unless that is the default one; "" for the cluster of the HelmRelease.
func (hr *HelmRelease) Cluster() string {
	k := hr.Spec.KubeConfig
	holder := k.Holder()
	switch {
	case holder == nil:
		return ""
	case k.SecretRef != nil && k.SecretRef.Key != "" && k.SecretRef.Key != "value":
		return holder.In(hr.Metadata.Namespace).String() + "/" + k.SecretRef.Key
	}
	return holder.In(hr.Metadata.Namespace).String()
}

// String returns "namespace/name".
func (hr *HelmRelease) String() string { return hr.Metadata.Namespace + "/" + hr.Metadata.Name }

// Origin returns the labels that all objects of the release get, including the CRDs of crds/.
func (hr *HelmRelease) Origin() map[string]string {
	return map[string]string{OriginName: hr.Metadata.Name, OriginNamespace: hr.Metadata.Namespace}
}

// ChartSource returns the source whose artifact is the chart: what chartRef names,
// or what helm-controller creates from the template. The latter is named after the
// HelmRelease's namespace and name; a HelmChart goes to the namespace of the
// template's source, an OCIRepository to that of the HelmRelease.
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

// CrossNamespace returns helm-controller's error about a chart whose source is in another namespace, which
// the flag --no-cross-namespace-refs forbids; nil if it is in the HelmRelease's.
func (hr *HelmRelease) CrossNamespace() error {
	if ref := hr.ChartSource(); ref.Namespace != hr.Metadata.Namespace {
		return fmt.Errorf("can't access '%s', cross-namespace references have been blocked", ref)
	}
	return nil
}
