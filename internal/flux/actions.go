package flux

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Names of strategies, remedies and drift detection modes.
const (
	RemediateOnFailure = "RemediateOnFailure"
	RetryOnFailure     = "RetryOnFailure"

	RemedyRollback  = "rollback"
	RemedyUninstall = "uninstall"

	InPlaceUpdate = "InPlaceUpdate"

	DriftEnabled = "enabled"
	DriftWarn    = "warn"
)

// Deployment has the options that installs and upgrades share.
type Deployment struct {
	Timeout                  *metav1.Duration `json:"timeout,omitempty"`
	Strategy                 *Strategy        `json:"strategy,omitempty"`
	Remediation              *Remediation     `json:"remediation,omitempty"`
	DisableTakeOwnership     bool             `json:"disableTakeOwnership,omitempty"`
	DisableWait              bool             `json:"disableWait,omitempty"`
	DisableWaitForJobs       bool             `json:"disableWaitForJobs,omitempty"`
	DisableHooks             bool             `json:"disableHooks,omitempty"`
	DisableOpenAPIValidation bool             `json:"disableOpenAPIValidation,omitempty"`
	DisableSchemaValidation  bool             `json:"disableSchemaValidation,omitempty"`
}

// Install has the options of installs.
type Install struct {
	Deployment
	Replace         bool   `json:"replace,omitempty"`
	SkipCRDs        bool   `json:"skipCRDs,omitempty"`
	CRDs            string `json:"crds,omitempty"`
	CreateNamespace bool   `json:"createNamespace,omitempty"`
	ServerSideApply *bool  `json:"serverSideApply,omitempty"`
}

// Upgrade has the options of upgrades.
type Upgrade struct {
	Deployment
	Force                   bool   `json:"force,omitempty"`
	PreserveValues          bool   `json:"preserveValues,omitempty"`
	CleanupOnFail           bool   `json:"cleanupOnFail,omitempty"`
	CRDs                    string `json:"crds,omitempty"`
	ServerSideApply         string `json:"serverSideApply,omitempty"`
	ChartNameChangeStrategy string `json:"chartNameChangeStrategy,omitempty"`
}

// Strategy says what to do about a failed install or upgrade.
type Strategy struct {
	Name          string           `json:"name"`
	RetryInterval *metav1.Duration `json:"retryInterval,omitempty"`
}

// Remediation is what RemediateOnFailure does. Installs have no Strategy: a
// failed one is uninstalled.
type Remediation struct {
	Retries              int    `json:"retries,omitempty"`
	IgnoreTestFailures   *bool  `json:"ignoreTestFailures,omitempty"`
	RemediateLastFailure *bool  `json:"remediateLastFailure,omitempty"`
	Strategy             string `json:"strategy,omitempty"`
}

// Test has the options of tests.
type Test struct {
	Enable         bool             `json:"enable,omitempty"`
	Timeout        *metav1.Duration `json:"timeout,omitempty"`
	IgnoreFailures bool             `json:"ignoreFailures,omitempty"`
	Filters        []TestFilter     `json:"filters,omitempty"`
}

// TestFilter includes or excludes a test by name.
type TestFilter struct {
	Name    string `json:"name"`
	Exclude bool   `json:"exclude,omitempty"`
}

// Selects reports whether the filters select the test: excludes win over
// includes, and without any include all tests that are not excluded are selected.
func (t Test) Selects(name string) bool {
	includes, included := false, false
	for _, f := range t.Filters {
		if f.Exclude && f.Name == name {
			return false
		}
		if !f.Exclude {
			includes = true
			included = included || f.Name == name
		}
	}
	return included || !includes
}

// Rollback has the options of rollbacks, which are only ever remediations.
type Rollback struct {
	Timeout            *metav1.Duration `json:"timeout,omitempty"`
	DisableWait        bool             `json:"disableWait,omitempty"`
	DisableWaitForJobs bool             `json:"disableWaitForJobs,omitempty"`
	DisableHooks       bool             `json:"disableHooks,omitempty"`
	Recreate           bool             `json:"recreate,omitempty"`
	Force              bool             `json:"force,omitempty"`
	CleanupOnFail      bool             `json:"cleanupOnFail,omitempty"`
	ServerSideApply    string           `json:"serverSideApply,omitempty"`
}

// Uninstall has the options of uninstalls.
type Uninstall struct {
	Timeout             *metav1.Duration `json:"timeout,omitempty"`
	DisableHooks        bool             `json:"disableHooks,omitempty"`
	KeepHistory         bool             `json:"keepHistory,omitempty"`
	DisableWait         bool             `json:"disableWait,omitempty"`
	DeletionPropagation string           `json:"deletionPropagation,omitempty"`
}

// retryInterval is RetryOnFailure's default interval.
const retryInterval = 5 * time.Minute

// Interval returns the time between a failure and the next try, five minutes by default.
func (s Strategy) Interval() time.Duration {
	if s.RetryInterval == nil {
		return retryInterval
	}
	return s.RetryInterval.Duration
}
