package flux

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// HelmReleaseStatus is what helm-controller has seen and done.
type HelmReleaseStatus struct {
	ObservedGeneration                 int64              `json:"observedGeneration,omitempty"`
	ObservedPostRenderersDigest        string             `json:"observedPostRenderersDigest,omitempty"`
	ObservedCommonMetadataDigest       string             `json:"observedCommonMetadataDigest,omitempty"`
	LastAttemptedGeneration            int64              `json:"lastAttemptedGeneration,omitempty"`
	Conditions                         []metav1.Condition `json:"conditions,omitempty"`
	HelmChart                          string             `json:"helmChart,omitempty"`
	StorageNamespace                   string             `json:"storageNamespace,omitempty"`
	History                            []Snapshot         `json:"history,omitempty"`
	Inventory                          *Inventory         `json:"inventory,omitempty"`
	LastAttemptedReleaseAction         Attempt            `json:"lastAttemptedReleaseAction,omitempty"`
	LastAttemptedReleaseActionDuration *metav1.Duration   `json:"lastAttemptedReleaseActionDuration,omitempty"`
	Failures                           int64              `json:"failures,omitempty"`
	InstallFailures                    int64              `json:"installFailures,omitempty"`
	UpgradeFailures                    int64              `json:"upgradeFailures,omitempty"`
	LastAttemptedRevision              string             `json:"lastAttemptedRevision,omitempty"`
	LastAttemptedRevisionDigest        string             `json:"lastAttemptedRevisionDigest,omitempty"`
	LastAttemptedValuesChecksum        string             `json:"lastAttemptedValuesChecksum,omitempty"`
	LastReleaseRevision                int                `json:"lastReleaseRevision,omitempty"`
	LastAttemptedConfigDigest          string             `json:"lastAttemptedConfigDigest,omitempty"`
	LastHandledReconcileAt             string             `json:"lastHandledReconcileAt,omitempty"`
	LastHandledForceAt                 string             `json:"lastHandledForceAt,omitempty"`
	LastHandledResetAt                 string             `json:"lastHandledResetAt,omitempty"`
}

// Attempt is the kind of the last release action.
type Attempt string

const (
	AttemptInstall Attempt = "install"
	AttemptUpgrade Attempt = "upgrade"
)

// Inventory lists the objects of the release.
type Inventory struct {
	Entries []InventoryEntry `json:"entries"`
}

// InventoryEntry is an object: its ID is "namespace_name_group_kind".
type InventoryEntry struct {
	ID      string `json:"id"`
	Version string `json:"v"`
}

// SnapshotAPIVersion is the apiVersion of snapshots whose digest is checked.
const SnapshotAPIVersion = "v2"

// Snapshot is a release record as helm-controller saw it.
type Snapshot struct {
	APIVersion    string               `json:"apiVersion,omitempty"`
	Digest        string               `json:"digest"`
	Name          string               `json:"name"`
	Namespace     string               `json:"namespace"`
	Version       int                  `json:"version"`
	Status        string               `json:"status"`
	Action        string               `json:"action,omitempty"`
	ChartName     string               `json:"chartName"`
	ChartVersion  string               `json:"chartVersion"`
	AppVersion    string               `json:"appVersion,omitempty"`
	ConfigDigest  string               `json:"configDigest"`
	FirstDeployed metav1.Time          `json:"firstDeployed"`
	LastDeployed  metav1.Time          `json:"lastDeployed"`
	Deleted       metav1.Time          `json:"deleted,omitzero"`
	TestHooks     map[string]*TestHook `json:"testHooks,omitzero"`
	OCIDigest     string               `json:"ociDigest,omitempty"`
}

// TestHook is the outcome of a test.
type TestHook struct {
	LastStarted   metav1.Time `json:"lastStarted,omitzero"`
	LastCompleted metav1.Time `json:"lastCompleted,omitzero"`
	Phase         string      `json:"phase,omitempty"`
}

// Snapshots returns the history, newest first: the status may hold it unsorted for
// the duration of one write.
func (s HelmReleaseStatus) Snapshots() []Snapshot {
	out := slices.Clone(s.History)
	slices.SortStableFunc(out, func(a, b Snapshot) int { return cmp.Compare(b.Version, a.Version) })
	return out
}

// TestIn reports whether a test of the snapshot ended in the phase.
func (s Snapshot) TestIn(phase string) bool {
	for _, h := range s.TestHooks {
		if h != nil && h.Phase == phase {
			return true
		}
	}
	return false
}

// Good reports whether a rollback may return to the snapshot's revision: it was deployed, and, unless
// tests are ignored, none has failed (helm-controller 1.6.3, api/v2/snapshot_types.go,
// Snapshots.Previous and Truncate).
func (s Snapshot) Good(ignoreTests bool) bool {
	status := release.Status(s.Status)
	return (status == release.StatusDeployed || status == release.StatusSuperseded) && (ignoreTests || !s.TestIn(TestFailed))
}

// Tested reports whether nothing is left to test: tests were looked for
// (TestHooks is set), and one has failed or all that the filters select have
// succeeded.
func (s Snapshot) Tested(t Test) bool {
	if s.TestHooks == nil {
		return false
	}
	if s.TestIn(TestFailed) {
		return true
	}
	for name, h := range s.TestHooks {
		if t.Selects(name) && (h == nil || h.Phase != TestSucceeded) {
			return false
		}
	}
	return true
}

// Phases of a test.
const (
	TestFailed    = "Failed"
	TestSucceeded = "Succeeded"
)
