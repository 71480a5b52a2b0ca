package plan

import "time"

// DefaultTimeout is Helm's: how long a wait or a hook may take.
const DefaultTimeout = 5 * time.Minute

// Options are the choices that change what happens.
type Options struct {
	// Atomic returns to the last successful revision when the run fails, or uninstalls the
	// release where there is none.
	Atomic bool `json:"atomic,omitempty"`
	// CleanupOnFail deletes the resources that a run has created when it fails.
	CleanupOnFail bool `json:"cleanupOnFail,omitempty"`
	// Wait waits until the resources are ready, of an uninstall until they are gone; WaitForJobs
	// also until Jobs have completed.
	Wait        bool `json:"wait,omitempty"`
	WaitForJobs bool `json:"waitForJobs,omitempty"`
	// Force overwrites objects by PUT where a client-side patch would do (--force), and allows
	// deleting and creating those whose immutable fields change.
	Force bool `json:"force,omitempty"`
	// ServerSide sends server-side applies in the place of three-way patches. ForceConflicts has
	// them take fields over that other managers own.
	ServerSide     bool `json:"serverSide,omitempty"`
	ForceConflicts bool `json:"forceConflicts,omitempty"`
	// TakeOwnership takes objects into the release that belong to another one, or to none.
	TakeOwnership bool `json:"takeOwnership,omitempty"`
	// TakeOver goes on although another operation is recorded as pending.
	TakeOver        bool `json:"takeOver,omitempty"`
	NoHooks         bool `json:"noHooks,omitempty"`
	SkipCRDs        bool `json:"skipCRDs,omitempty"`
	CreateNamespace bool `json:"createNamespace,omitempty"`
	// UpdateCRDs makes the CRDs of crds/ folders what these say, too; otherwise
	// those that are there stay as they are.
	UpdateCRDs  bool `json:"updateCRDs,omitempty"`
	KeepHistory bool `json:"keepHistory,omitempty"`
	// Replace lets an install reuse the name of an uninstalled release.
	Replace bool `json:"replace,omitempty"`

	// OnlyTests and SkipTests are names of tests: without the former all are run
	// but the latter. HookLogs shows the logs of hooks that succeed, too.
	OnlyTests []string `json:"onlyTests,omitempty"`
	SkipTests []string `json:"skipTests,omitempty"`
	HookLogs  bool     `json:"hookLogs,omitempty"`

	// Timeout bounds each wait and each hook; 0 is DefaultTimeout. In JSON it is in nanoseconds.
	Timeout time.Duration `json:"timeoutNanoseconds,omitempty"`
	// OverallTimeout bounds the whole apply but not the rollback when it fails; 0
	// does not. In JSON it is in nanoseconds.
	OverallTimeout time.Duration `json:"overallTimeoutNanoseconds,omitempty"`
	// AsHelm has a run fail where Helm's does, and record what Helm's records: what the API server
	// is known to refuse is sent all the same, so that the revision is recorded as failed, and an
	// upgrade of a failed revision, where none is deployed, records that one as superseded.
	AsHelm bool `json:"asHelm,omitempty"`
	// HistoryMax is how many revisions stay stored; 0 keeps all.
	HistoryMax int `json:"historyMax,omitempty"`
	// Cascade is the deletion propagation: background, foreground or orphan.
	Cascade      string            `json:"cascade,omitempty"`
	Description  string            `json:"description,omitempty"`
	FieldManager string            `json:"fieldManager,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	// Sensitive are patterns of fields whose values no output shows, see
	// redact.CheckPattern.
	Sensitive []string `json:"sensitive,omitempty"`
	// Policy says which risks block the plan. A rollback by Atomic is not
	// judged: it undoes what was allowed.
	Policy Policy `json:"policy,omitzero"`
}
