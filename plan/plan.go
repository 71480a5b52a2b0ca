// Package plan decides what an operation on a release will do. Build compares
// what is stored, what is live and what the chart says now, and gives a Plan:
// an ordered, printable value that package apply carries out step by step.
//
// It is pure: no clock, no network, no files, no randomness. The same input
// gives the same plan, byte for byte. It does not render charts, observe
// clusters or write anything.
package plan

import (
	"slices"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// FormatVersion is the version of the plan's JSON. Minor versions only add.
const FormatVersion = "1.0"

// Operation is what the plan is for.
type Operation string

const (
	Install   Operation = "install"
	Upgrade   Operation = "upgrade"
	Rollback  Operation = "rollback"
	Uninstall Operation = "uninstall"
	Test      Operation = "test"
)

// Plan is everything that one operation will do, in the order in which it will
// do it, and why.
type Plan struct {
	FormatVersion string      `json:"formatVersion"`
	ToolVersion   string      `json:"toolVersion"`
	Operation     Operation   `json:"operation"`
	Release       release.Key `json:"release"`

	// FromRevision is the newest stored revision (0: none), ToRevision the one
	// this plan writes; they are equal when the plan writes no new revision.
	FromRevision int `json:"fromRevision"`
	ToRevision   int `json:"toRevision"`
	// RollbackTo is the revision whose manifest a rollback restores, else 0.
	RollbackTo int `json:"rollbackTo,omitempty"`
	// Found says in one sentence what state the release was in, when that is
	// not simply "deployed": a failed or interrupted attempt.
	Found string `json:"found,omitempty"`
	// FoundPending says that the newest revision was recorded as pending.
	FoundPending bool `json:"foundPending,omitempty"`
	// NoLock says that the release's lock could be taken but not renewed: the Lease
	// may not be updated.
	NoLock bool `json:"-"`
	// PendingElsewhere says that what is pending blocks the plan and may be at work
	// without a lock: it may end by itself.
	PendingElsewhere bool `json:"-"`

	ChartFrom   ChartRef `json:"chartFrom,omitzero"`
	ChartTo     ChartRef `json:"chartTo,omitzero"`
	KubeVersion string   `json:"kubeVersion,omitempty"`
	Cluster     Cluster  `json:"cluster"`
	Options     Options  `json:"options"`

	// Against is what the plan was compared with in the place of live objects;
	// null for every plan that can be applied.
	Against *Against `json:"against,omitempty"`

	// Values are the changes of the user's values and of the chart's defaults
	// since the last revision.
	Values []Change `json:"values,omitempty"`

	Stages []Stage `json:"stages"`
	// OnFailure is what happens when that does not end well; null for a
	// comparison, which is not run.
	OnFailure *OnFailure `json:"onFailure,omitempty"`

	Problems []Problem `json:"problems,omitempty"`
	Summary  Summary   `json:"summary"`

	// Record is the revision that apply will store. It is not part of the
	// printed plan; the saved file holds it.
	Record *release.Revision `json:"-"`
	// CRDs are the chart's, for planning again from a saved file.
	CRDs []manifest.Object `json:"-"`
	// Notes is the chart's rendered NOTES.txt.
	Notes string `json:"-"`
	// Secrets are values that templates have read from Secrets of the cluster. No
	// output shows them; the saved file holds them.
	Secrets [][]byte `json:"-"`
	// Needs are the permissions that the API server should be asked about after
	// a first Build, each once: what no dry run answers.
	Needs []Permission `json:"-"`
	// Counted are the namespaces whose ResourceQuotas a first Build wants to know.
	Counted []string `json:"-"`
}

// ChartRef names a chart. Digest is the SHA-256 of its files in hex.
type ChartRef struct {
	Name       string `json:"name,omitempty"`
	Version    string `json:"version,omitempty"`
	AppVersion string `json:"appVersion,omitempty"`
	Digest     string `json:"digest,omitempty"`
}

// Cluster identifies the cluster that the plan was made for, by what the user who
// made it may read: see Stale.
type Cluster struct {
	// Server is the API server's address.
	Server string `json:"server,omitempty"`
	// CA identifies the certificate authorities that the API server's certificate is
	// checked by: "sha256:" and a checksum in hex, "system" for the machine's own;
	// empty when it is not checked.
	CA string `json:"ca,omitempty"`
	// UID is that of the namespace kube-system, NamespaceUID that of the release's
	// namespace; empty where it may not be read or is not there.
	UID          string `json:"uid,omitempty"`
	NamespaceUID string `json:"namespaceUID,omitempty"`
}

// Options are the choices that change what happens.
type Options struct {
	Atomic         bool `json:"atomic,omitempty"`
	CleanupOnFail  bool `json:"cleanupOnFail,omitempty"`
	Wait           bool `json:"wait,omitempty"`
	WaitForJobs    bool `json:"waitForJobs,omitempty"`
	Force          bool `json:"force,omitempty"`
	ServerSide     bool `json:"serverSide,omitempty"`
	ForceConflicts bool `json:"forceConflicts,omitempty"`
	TakeOwnership  bool `json:"takeOwnership,omitempty"`
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

	// Timeout bounds each wait and each hook. In JSON it is in nanoseconds.
	Timeout time.Duration `json:"timeoutNanoseconds,omitempty"`
	// OverallTimeout bounds the whole apply but not the way back when it fails; 0
	// does not. In JSON it is in nanoseconds.
	OverallTimeout time.Duration `json:"overallTimeoutNanoseconds,omitempty"`
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

// Stage is a part of the run with a name that people know. The next stage
// starts when this one has ended well.
type Stage struct {
	Name  StageName `json:"name"`
	Waves []Wave    `json:"waves"`
}

// StageName is one of the fixed names of stages, hook stages included.
type StageName string

const (
	StageNamespace StageName = "namespace"
	StageCRDs      StageName = "crds"
	StagePending   StageName = "record pending"
	StageResources StageName = "resources"
	StageWait      StageName = "wait"
	StageRecord    StageName = "record"
)

// Wave is a set of steps that may run side by side. The next wave starts when
// all of them have ended well.
type Wave struct {
	Steps []Step `json:"steps"`
}

// Summary counts the plan's steps.
type Summary struct {
	// Risks come first: a step that bears several counts as the gravest.
	Risks     RiskCounts `json:"risks"`
	Create    int        `json:"create"`
	Patch     int        `json:"patch"`
	Replace   int        `json:"replace"`
	Recreate  int        `json:"recreate"`
	Delete    int        `json:"delete"`
	Keep      int        `json:"keep"`
	Adopt     int        `json:"adopt"`
	Unchanged int        `json:"unchanged"`
	Hooks     int        `json:"hooks"`
	Waits     int        `json:"waits"`
	// Drifted counts the objects that were changed outside of the release.
	Drifted  int `json:"drifted"`
	Blocking int `json:"blocking"`
	Warnings int `json:"warnings"`
}

// ObjectChanges counts the steps that change an object of the release.
func (s Summary) ObjectChanges() int {
	return s.Create + s.Patch + s.Replace + s.Recreate + s.Delete + s.Keep + s.Adopt
}

// Blocked says whether a problem forbids applying the plan.
func (p *Plan) Blocked() bool { return p.Summary.Blocking > 0 }

// WithSensitive is the plan with further patterns of fields that no output shows.
func (p *Plan) WithSensitive(patterns []string) *Plan {
	out := *p
	out.Options.Sensitive = slices.Concat(p.Options.Sensitive, patterns)
	return &out
}

// WithSecrets is the plan with these in the place of its Secrets.
func (p *Plan) WithSecrets(secrets [][]byte) *Plan {
	out := *p
	out.Secrets = secrets
	return &out
}

// Steps calls visit for every step of the plan's stages in the order of the run.
func (p *Plan) Steps(visit func(StageName, *Step)) { eachStep(p.Stages, visit) }

// AllSteps calls visit for those of OnFailure, too.
func (p *Plan) AllSteps(visit func(StageName, *Step)) {
	eachStep(p.Stages, visit)
	if p.OnFailure != nil {
		eachStep(p.OnFailure.Stages, visit)
	}
}

func eachStep(stages []Stage, visit func(StageName, *Step)) {
	for i := range stages {
		for j := range stages[i].Waves {
			steps := stages[i].Waves[j].Steps
			for k := range steps {
				visit(stages[i].Name, &steps[k])
			}
		}
	}
}
