// Package release is a revision of a release as a value: its status, chart, values, manifest and
// hooks in Helm's record format, and what can be learned from a history.
//
// It does not store records (package releasestore does) and does not decide what a new revision
// contains (package plan does).
package release

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// LongestName is the most characters that a release's name may have.
const LongestName = 53

// nameForm is the form of a name; it is only read.
var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// ValidName is Helm's rule for release names (Helm 4.3.1, pkg/chart/v2/util/validate_name.go): a
// DNS subdomain of at most 53 characters.
func ValidName(name string) bool { return len(name) <= LongestName && nameForm.MatchString(name) }

// Key names a release: names are unique within a namespace.
type Key struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns NAMESPACE/NAME, or only the name if there is no namespace: that of a set.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// ApplyMethod says how a revision's objects were sent. Empty means client-side, as in
// every record that Helm 3 wrote.
type ApplyMethod string

const (
	ClientSide ApplyMethod = "csa"
	ServerSide ApplyMethod = "ssa"
)

// Revision is one record of a release's history, in the JSON form
// (https://github.com/helm/helm/blob/v4.3.1/pkg/release/v1/release.go) that Helm 3
// and 4 share. Fields this version does not know survive a round trip.
type Revision struct {
	Name        string         `json:"name,omitempty"`
	Info        Info           `json:"info"`
	Chart       *chart.Chart   `json:"chart,omitempty"`
	Config      map[string]any `json:"config,omitempty"`
	Manifest    string         `json:"manifest,omitempty"`
	Hooks       []Hook         `json:"hooks,omitempty"`
	Version     int            `json:"version,omitempty"`
	Namespace   string         `json:"namespace,omitempty"`
	ApplyMethod ApplyMethod    `json:"apply_method,omitempty"`

	// Labels are the user's own labels. The store keeps them beside the record.
	Labels map[string]string `json:"-"`
	// Modified is when the record was last written after it was made, in whole seconds; zero
	// when it never was. The store keeps it beside the record.
	Modified time.Time `json:"-"`

	// stored are the record's fields as they were read, except for the manifest, and storedChart is its
	// chart, which WriteJSON compares with.
	stored      map[string]json.RawMessage
	storedChart *chart.Chart
	part        Part
}

// Info is the part of a revision that changes after its creation.
type Info struct {
	FirstDeployed    time.Time       `json:"first_deployed,omitzero"`
	LastDeployed     time.Time       `json:"last_deployed,omitzero"`
	Deleted          time.Time       `json:"deleted,omitzero"`
	Description      string          `json:"description,omitempty"`
	Status           Status          `json:"status,omitempty"`
	RollbackRevision int             `json:"rollback_revision,omitempty"`
	Notes            string          `json:"notes,omitempty"`
	Resources        json.RawMessage `json:"resources,omitempty"`
}

// Hook is a hook and its last run.
type Hook struct {
	manifest.Hook
	LastRun Execution `json:"last_run"`
}

// Execution is one run of a hook.
type Execution struct {
	StartedAt   time.Time `json:"started_at,omitzero"`
	CompletedAt time.Time `json:"completed_at,omitzero"`
	Phase       Phase     `json:"phase"`
}

// Phase is how a hook's last run ended. A hook that never ran has none.
type Phase string

const (
	PhaseUnknown   Phase = "Unknown"
	PhaseRunning   Phase = "Running"
	PhaseSucceeded Phase = "Succeeded"
	PhaseFailed    Phase = "Failed"
)

// Key returns the release that the revision belongs to.
func (r *Revision) Key() Key { return Key{Namespace: r.Namespace, Name: r.Name} }

// String returns "web revision 7 (deployed)".
func (r *Revision) String() string {
	return fmt.Sprintf("%s revision %d (%s)", r.Name, r.Version, r.Info.Status)
}

// ChartLabel returns "name-version" of the revision's chart, "" without one.
func (r *Revision) ChartLabel() string {
	if r.Chart == nil || r.Chart.Metadata == nil {
		return ""
	}
	return r.Chart.Metadata.Name + "-" + r.Chart.Metadata.Version
}

// AppVersion returns the application's version from the chart, "" when there is none.
func (r *Revision) AppVersion() string {
	if r.Chart == nil || r.Chart.Metadata == nil {
		return ""
	}
	return r.Chart.Metadata.AppVersion
}

// Annotations returns the chart's annotations, nil when there are none.
func (r *Revision) Annotations() map[string]string {
	if r.Chart == nil || r.Chart.Metadata == nil {
		return nil
	}
	return r.Chart.Metadata.Annotations
}

// Objects parses the revision's manifest. Documents from which the known objects were parsed are
// not parsed again. Errors name the template and, if the revision is stored, the
// revision.
func (r *Revision) Objects(known ...manifest.Object) ([]manifest.Object, error) {
	if r.part == Outline || r.part == HookRuns {
		return nil, fmt.Errorf("manifest of %s: only its outline was read", r)
	}
	objects, err := manifest.Parse(r.Manifest, known...)
	if err != nil && r.Info.Status == StatusUnknown { // it was just rendered
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("manifest of %s: %w", r, err)
	}
	return objects, nil
}

// Succeeded reports whether the revision is the deployed one, or was until another one was deployed or an
// uninstall of it began and did not end. Helm marks a first install that
// failed as superseded once an upgrade has succeeded; its description still says that it failed (Helm
// 3.22.0 and 4.3.1, pkg/action/upgrade.go, performUpgrade).
func (r *Revision) Succeeded() bool {
	return r.Info.Status == StatusDeployed || r.Info.Status == StatusSuperseded && !r.Failed() || r.leftByUninstall()
}

// Failed reports whether the revision was recorded as failed, whatever its status is by now. A failed
// uninstall does not count.
func (r *Revision) Failed() bool {
	return (r.Info.Status == StatusFailed || r.describedAsFailed()) && !r.leftByUninstall()
}

// describedAsFailed reports whether the description is one that Helm, helm-controller or this program gives
// a revision that failed or that was left pending (Helm 3.22.0 and 4.3.1, pkg/action/install.go, failRelease,
// upgrade.go, failRelease, and rollback.go, performRollback; helm-controller 1.6.3,
// internal/reconcile/unlock.go).
func (r *Revision) describedAsFailed() bool {
	for _, operation := range []string{"Release", "Upgrade", "Rollback", UninstallOfFailed} {
		if strings.HasPrefix(r.Info.Description, fmt.Sprintf("%s %q failed: ", operation, r.Name)) {
			return true
		}
	}
	return r.Info.Description == Interrupted || strings.HasPrefix(r.Info.Description, "Release unlocked from stale '")
}

// Interrupted is the description of a revision that was left pending, once a later run has marked it as
// failed.
const Interrupted = "The run was interrupted"

// QuotesError reports whether the description may quote an error, and with it what was sent.
func (r *Revision) QuotesError() bool { return r.Info.Status == StatusFailed || r.Failed() }

// leftByUninstall reports whether an uninstall of this revision, which had succeeded, has failed or is under
// way. The uninstall overwrites the revision's status; its description says the rest.
func (r *Revision) leftByUninstall() bool {
	switch r.Info.Status {
	case StatusUninstalling:
		return strings.HasPrefix(r.Info.Description, UninstallUnderWay)
	case StatusFailed, StatusSuperseded:
		return strings.HasPrefix(r.Info.Description, UninstallFailed(r.Name))
	case StatusUnknown, StatusDeployed, StatusUninstalled, StatusPendingInstall, StatusPendingUpgrade, StatusPendingRollback:
	}
	return false
}

// HalfUninstalled reports whether an uninstall of this revision, whoever ran it, has failed or is under way.
func (r *Revision) HalfUninstalled() bool {
	return r.Info.Status == StatusUninstalling || r.Info.Status == StatusFailed &&
		(r.leftByUninstall() || strings.HasPrefix(r.Info.Description, UninstallOfFailed))
}

// UninstallUnderWay begins the description of a revision that had succeeded and is being uninstalled.
const UninstallUnderWay = "kubectl-release: uninstall under way"

// UninstallComplete is Helm's description of a revision that is uninstalled (4.3.1, pkg/action/uninstall.go, Run).
const UninstallComplete = "Uninstallation complete"

// UninstallOfFailed begins the description of a revision that had failed before its uninstall failed, too.
const UninstallOfFailed = "Uninstall of the failed release"

// UninstallFailed returns how the description of a revision begins that had succeeded, and whose uninstall
// has failed.
func UninstallFailed(name string) string { return fmt.Sprintf("Uninstall of %q failed: ", name) }

// WithStatus returns a copy of the revision with another status. Chart, values and manifest are
// shared with r; hooks and labels are copied.
func (r *Revision) WithStatus(s Status, description string) *Revision {
	next := *r
	next.Hooks = slices.Clone(r.Hooks)
	next.Info.Status = s
	next.Info.Description = description
	next.Labels = maps.Clone(r.Labels)
	return &next
}

// Status is the state of a revision, in Helm's words.
type Status string

const (
	StatusUnknown         Status = "unknown"
	StatusDeployed        Status = "deployed"
	StatusUninstalled     Status = "uninstalled"
	StatusSuperseded      Status = "superseded"
	StatusFailed          Status = "failed"
	StatusUninstalling    Status = "uninstalling"
	StatusPendingInstall  Status = "pending-install"
	StatusPendingUpgrade  Status = "pending-upgrade"
	StatusPendingRollback Status = "pending-rollback"
)

// Pending reports whether an operation is under way or was interrupted.
func (s Status) Pending() bool {
	switch s {
	case StatusPendingInstall, StatusPendingUpgrade, StatusPendingRollback, StatusUninstalling:
		return true
	case StatusUnknown, StatusDeployed, StatusUninstalled, StatusSuperseded, StatusFailed:
		return false
	}
	return false
}
