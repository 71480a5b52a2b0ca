package digest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/opencontainers/go-digest"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// observation is what helm-controller digests of a record, in its order of
// fields (internal/release.Observation).
type observation struct {
	Name          string         `json:"name"`
	Version       int            `json:"version"`
	Info          release.Info   `json:"info"`
	ChartMetadata chart.Metadata `json:"chartMetadata"`
	Config        map[string]any `json:"config"`
	Manifest      string         `json:"manifest"`
	Hooks         []hook         `json:"hooks"`
	Namespace     string         `json:"namespace"`
	OCIDigest     string         `json:"ociDigest,omitempty"`
}

// hook has the fields of a hook in the order of Helm's type: the last run is in
// the middle.
type hook struct {
	Name              string            `json:"name,omitempty"`
	Kind              string            `json:"kind,omitempty"`
	Path              string            `json:"path,omitempty"`
	Manifest          string            `json:"manifest,omitempty"`
	Events            []manifest.Event  `json:"events,omitempty"`
	LastRun           release.Execution `json:"last_run"`
	Weight            int               `json:"weight,omitempty"`
	DeletePolicies    []manifest.Policy `json:"delete_policies,omitempty"`
	OutputLogPolicies []manifest.Policy `json:"output_log_policies,omitempty"`
}

// Record returns the digest of a release record, "sha256:…", as in status.history.
// ociDigest is that of the chart's artifact, which the record does not hold: the
// snapshot's ociDigest. Tests are not included, since anybody may run them. A record
// of which only the outline was read is an error.
func Record(r *release.Revision, ociDigest string) (string, error) {
	data, err := encode(r, ociDigest)
	if err != nil {
		return "", err
	}
	return digest.Canonical.FromBytes(data).String(), nil
}

// VerifyRecord reports whether the snapshot was taken of the record, whatever
// algorithm its digest uses. A snapshot with another apiVersion was made by an older
// helm-controller: it matches any record. Errors are those of Record.
func VerifyRecord(s flux.Snapshot, r *release.Revision) (bool, error) {
	if s.APIVersion != flux.SnapshotAPIVersion {
		return true, nil
	}
	d, err := digest.Parse(s.Digest)
	if err != nil {
		return false, nil
	}
	data, err := encode(r, s.OCIDigest)
	if err != nil {
		return false, err
	}
	return d.Algorithm().FromBytes(data) == d, nil
}

func encode(r *release.Revision, ociDigest string) ([]byte, error) {
	if r.Part() == release.Outline {
		return nil, fmt.Errorf("digest of %s: only its outline was read", r)
	}
	o := observation{
		Name: r.Name, Version: r.Version, Info: r.Info, Manifest: r.Manifest,
		Namespace: r.Namespace, OCIDigest: ociDigest,
	}
	if len(r.Config) > 0 {
		o.Config = r.Config
	}
	if r.Chart != nil && r.Chart.Metadata != nil {
		o.ChartMetadata = *r.Chart.Metadata
	}
	for _, h := range r.Hooks {
		if h.On(manifest.Test) {
			continue
		}
		o.Hooks = append(o.Hooks, hook{
			h.Name, h.Kind, h.Path, h.Manifest, h.Events, h.LastRun, h.Weight, h.DeletePolicies, h.OutputLogPolicies,
		})
	}
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(o); err != nil {
		return nil, fmt.Errorf("digest of %s: %w", r, err)
	}
	return out.Bytes(), nil
}
