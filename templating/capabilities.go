package templating

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// Defaults of .Capabilities without a cluster. The Helm version is the one whose results we
// reproduce. The Kubernetes version is that of the client-go release that this program is built
// with.
const (
	defaultKubeVersion = "v1.37.0"
	helmVersion        = "v4.3.1"
	kubeClientVersion  = "v1.37"
)

// Capabilities is .Capabilities: what templates can ask about the cluster.
type Capabilities struct {
	KubeVersion KubeVersion
	APIVersions VersionSet
	HelmVersion HelmVersion
}

// Format prints what fmt prints for a pointer to a struct, even where fmt would print the address,
// so a map with capabilities always prints the same.
func (c *Capabilities) Format(f fmt.State, verb rune) {
	fmt.Fprintf(f, "&"+fmt.FormatString(f, verb), *c)
}

// DefaultCapabilities returns the capabilities of a render without a cluster: the
// built-in API versions and the Kubernetes version they belong to.
func DefaultCapabilities() *Capabilities {
	kube, err := ParseKubeVersion(defaultKubeVersion)
	if err != nil {
		kube = KubeVersion{Version: defaultKubeVersion}
	}
	return &Capabilities{
		KubeVersion: kube,
		APIVersions: DefaultAPIVersions(),
		HelmVersion: HelmVersion{
			Version: helmVersion, GitTreeState: "clean", GoVersion: runtime.Version(), KubeClientVersion: kubeClientVersion,
		},
	}
}

// DefaultAPIVersions returns a fresh copy of the built-in group versions.
func DefaultAPIVersions() VersionSet {
	return VersionSet(strings.Fields(builtinAPIVersions))
}

// KubeVersion is .Capabilities.KubeVersion. What ParseKubeVersion returns prints as the version
// without vendor suffixes, which Version keeps; a cluster's prints as Version.
type KubeVersion struct {
	Version    string
	normalized string
	Major      string
	Minor      string
}

// ParseKubeVersion reads a version such as v1.36.3, 1.36 or v1.33.4-gke.1245000, as
// Helm 4.3.1 does (pkg/chart/common/capabilities.go). Major and Minor are decimal numbers. It is an
// error if the text does not begin with two or more numbers, with or without a "v" before them.
func ParseKubeVersion(text string) (KubeVersion, error) {
	v, err := version.ParseGeneric(text)
	if err != nil {
		return KubeVersion{}, fmt.Errorf("parse Kubernetes version %q: %w", text, err)
	}
	full := text
	if !strings.HasPrefix(full, "v") {
		full = "v" + full
	}
	return KubeVersion{
		Version:    full,
		normalized: "v" + v.String(),
		Major:      strconv.FormatUint(uint64(v.Major()), 10),
		Minor:      strconv.FormatUint(uint64(v.Minor()), 10),
	}, nil
}

// String returns the version for constraints: vMAJOR.MINOR.PATCH.
func (v *KubeVersion) String() string {
	if v.normalized != "" {
		return v.normalized
	}
	return v.Version
}

// GitVersion returns Version, under the name that it had in Helm 2.
func (v *KubeVersion) GitVersion() string { return v.Version }

// VersionSet lists API versions: "v1", "apps/v1", and with a cluster
// "apps/v1/Deployment" as well.
type VersionSet []string

// Has reports whether an API version (or group, version and kind) is served.
func (s VersionSet) Has(apiVersion string) bool { return slices.Contains(s, apiVersion) }

// hasAmong is Has where some APIs can't be discovered: not to know is an error, since a template that
// leaves something out would have it deleted.
func (s VersionSet) hasAmong(undiscovered map[string]string, apiVersion string) (bool, error) {
	if s.Has(apiVersion) {
		return true, nil
	}
	for _, api := range slices.Sorted(maps.Keys(undiscovered)) {
		if strings.HasPrefix(apiVersion, api+"/") {
			return false, fmt.Errorf("the API %s can't be discovered: %s", api, undiscovered[api])
		}
	}
	return false, nil
}

// hasMethod returns Has as a template calls it, where some APIs can't be discovered.
func (s VersionSet) hasMethod(undiscovered map[string]string) *function {
	return newFunction("Has", reflect.ValueOf(func(apiVersion string) (bool, error) { return s.hasAmong(undiscovered, apiVersion) }))
}

// hasFunction returns sprig's has, or mustHas, where some APIs can't be discovered: search is mustHas.
func hasFunction(undiscovered map[string]string, search func(needle, list any) (bool, error)) any {
	return func(needle, list any) (bool, error) {
		versions, isSet := list.(VersionSet)
		apiVersion, isText := needle.(string)
		if isSet && isText {
			return versions.hasAmong(undiscovered, apiVersion)
		}
		return search(needle, list)
	}
}

// HelmVersion is .Capabilities.HelmVersion.
type HelmVersion struct {
	Version           string `json:"version,omitempty"`
	GitCommit         string `json:"git_commit,omitempty"`
	GitTreeState      string `json:"git_tree_state,omitempty"`
	GoVersion         string `json:"go_version,omitempty"`
	KubeClientVersion string `json:"kube_client_version"`
}
