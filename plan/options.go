package plan

import "time"

// DefaultTimeout is how long a wait or a hook may take, as in Helm.
const DefaultTimeout = 5 * time.Minute

// FieldManager is the field manager of Helm's writes, client-side and server-side (3.22.0, 4.3.1), and by
// default of ours, so a release can move between the tools without conflicts.
const FieldManager = "helm"

// Options are the user's choices that change what happens.
type Options struct {
	// Atomic rolls back to the last successful revision if the run fails. If there is none, a failed
	// install is uninstalled, and nothing else is undone.
	Atomic bool `json:"atomic,omitempty"`
	// CleanupOnFail deletes the resources that a run has created if it fails.
	CleanupOnFail bool `json:"cleanupOnFail,omitempty"`
	// Wait waits until the resources are ready, or after an uninstall until they are gone;
	// WaitForJobs also waits until Jobs have completed.
	Wait        bool `json:"wait,omitempty"`
	WaitForJobs bool `json:"waitForJobs,omitempty"`
	// Force replaces objects (PUT) instead of patching them client-side, and allows deleting and
	// recreating those whose immutable fields change (--force).
	Force bool `json:"force,omitempty"`
	// ServerSide uses server-side apply instead of three-way patches. ForceConflicts makes it take
	// over fields that other managers own.
	ServerSide     bool `json:"serverSide,omitempty"`
	ForceConflicts bool `json:"forceConflicts,omitempty"`
	// TakeOwnership adopts objects that belong to another release, or to none.
	TakeOwnership bool `json:"takeOwnership,omitempty"`
	// TakeOver goes ahead although another operation is recorded as pending.
	TakeOver        bool `json:"takeOver,omitempty"`
	NoHooks         bool `json:"noHooks,omitempty"`
	SkipCRDs        bool `json:"skipCRDs,omitempty"`
	CreateNamespace bool `json:"createNamespace,omitempty"`
	// UpdateCRDs also updates existing CRDs to those of crds/ folders;
	// otherwise existing CRDs stay as they are.
	UpdateCRDs  bool `json:"updateCRDs,omitempty"`
	KeepHistory bool `json:"keepHistory,omitempty"`
	// Replace lets an install reuse the name of an uninstalled release.
	Replace bool `json:"replace,omitempty"`

	// OnlyTests names the tests to run (all of them if it is empty), SkipTests
	// those to skip. HookLogs also shows the logs of hooks that succeed.
	OnlyTests []string `json:"onlyTests,omitempty"`
	SkipTests []string `json:"skipTests,omitempty"`
	HookLogs  bool     `json:"hookLogs,omitempty"`

	// Timeout limits each wait and each hook; 0 means the default of 5 minutes. In JSON it is in
	// nanoseconds.
	Timeout time.Duration `json:"timeoutNanoseconds,omitempty"`
	// OverallTimeout limits the whole apply, but not the rollback if it fails; 0
	// means no limit. In JSON it is in nanoseconds.
	OverallTimeout time.Duration `json:"overallTimeoutNanoseconds,omitempty"`
	// AsHelm makes a run fail where Helm fails, and record what Helm records. What the API server
	// is known to refuse is sent all the same, so the revision is recorded as failed; and if no
	// revision is deployed, an upgrade of a failed revision records that one as superseded.
	AsHelm bool `json:"asHelm,omitempty"`
	// RecordHooks makes the run say in its pending record which hooks have started and ended, so a
	// run that resumes it after it was killed runs none of them again (see Resumable). The record is
	// then updated before and after each hook. CRDs of crds/ are written before it, as by an install by
	// Helm (4.3.1, pkg/action/install.go, RunWithContext): a run that resumes a revision finds them there.
	RecordHooks bool `json:"recordHooks,omitempty"`
	// HistoryMax is the number of revisions to keep; 0 keeps all.
	HistoryMax int `json:"historyMax,omitempty"`
	// Cascade is the deletion propagation policy: background, foreground or orphan.
	Cascade      string            `json:"cascade,omitempty"`
	Description  string            `json:"description,omitempty"`
	FieldManager string            `json:"fieldManager,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	// Sensitive are patterns of fields whose values no output shows (see
	// redact.CheckPattern).
	Sensitive []string `json:"sensitive,omitempty"`
	// Policy says which risks block the plan. It does not apply to the
	// rollback of an atomic operation, which undoes what was allowed.
	Policy Policy `json:"policy,omitzero"`
}
