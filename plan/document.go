package plan

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// FormatVersion is the version of the plan's JSON format. Minor versions only add fields.
const FormatVersion = "1.0"

// Operation names what a plan does with a release.
type Operation string

const (
	Install   Operation = "install"
	Upgrade   Operation = "upgrade"
	Rollback  Operation = "rollback"
	Uninstall Operation = "uninstall"
	Test      Operation = "test"
	// CorrectDrift restores in the objects what the newest revision sent, without a new revision
	// and without hooks.
	CorrectDrift Operation = "correct drift"
	// CorrectRecords writes only release records: it corrects the status of those that a killed run
	// left behind.
	CorrectRecords Operation = "correct records"
)

// Document is the plan as it is shown: everything that one operation will do, in order, and why.
// All output formats print it, and docs/plan.schema.json describes it. It may hold secrets, which
// redact.Plan removes.
type Document struct {
	FormatVersion string `json:"formatVersion"`
	ToolVersion   string `json:"toolVersion"`
	// PlanDigest is the digest of the file that the plan is saved in; empty for a plan that is not
	// saved.
	PlanDigest string `json:"planDigest,omitempty"`
	// EffectDigest is the digest of what the plan does, by which it can be approved (see
	// redact.EffectDigest).
	EffectDigest string `json:"effectDigest,omitempty"`
	// Origin is where and when the plan was saved; null for a plan that is not saved.
	Origin *Origin `json:"origin,omitempty"`
	// Operation is "" if the plan can't be made; the only problem says why.
	Operation Operation   `json:"operation"`
	Release   release.Key `json:"release"`
	// EntryName is the release's name in a set of releases, with its cluster:
	// "shop/web@eu"; "" for a plan that is not part of a set. It is not saved.
	EntryName string `json:"-"`

	// FromRevision is the newest stored revision (0: none), ToRevision the one
	// that this plan writes; they are equal if the plan writes no new
	// revision.
	FromRevision int `json:"fromRevision"`
	ToRevision   int `json:"toRevision"`
	// RollbackTo is the revision whose manifest a rollback restores; 0 for other operations.
	RollbackTo int `json:"rollbackTo,omitempty"`
	// Found says in one sentence what state the release was in, if it was not
	// simply "deployed": after a failed or interrupted attempt, for example.
	Found string `json:"found,omitempty"`
	// FoundPending says that the newest revision had a pending status.
	FoundPending bool `json:"foundPending,omitempty"`
	// NoLock says that the run goes ahead without the release's lock: it could be taken but not
	// renewed, for lack of permission to update the Lease.
	NoLock bool `json:"noLock,omitempty"`
	// PendingElsewhere says that a pending revision blocks the plan and that its run may still be
	// at work without a lock, so it may end on its own.
	PendingElsewhere bool `json:"pendingElsewhere,omitempty"`

	// AppliedFrom is how the objects of FromRevision were applied: client-side (csa) or server-side
	// (ssa); empty if there is no revision.
	AppliedFrom release.ApplyMethod `json:"appliedFrom,omitempty"`

	ChartFrom ChartRef `json:"chartFrom,omitzero"`
	ChartTo   ChartRef `json:"chartTo,omitzero"`
	// ChartSource is where ChartTo was fetched from; null for a folder or a file, except for an
	// archive whose signature was verified.
	ChartSource *ChartSource `json:"chartSource,omitempty"`
	// ChartLock describes the Chart.lock of ChartTo; null for a chart without dependencies.
	ChartLock   *ChartLock `json:"chartLock,omitempty"`
	KubeVersion string     `json:"kubeVersion,omitempty"`
	Cluster     Cluster    `json:"cluster"`
	Options     Options    `json:"options"`

	// Place is where the release is declared: the chart's Chart.yaml, or the entry of a set of
	// releases. Findings without a line of their own point to it.
	Place Place `json:"place,omitzero"`

	// Against is the baseline that replaces the live objects in a comparison; null for every plan
	// that can be applied.
	Against *Against `json:"against,omitempty"`

	// ReadOnly says that the plan was made without dry runs, which takes no write permissions:
	// outcomes are estimates.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Applier is the identity whose permissions were checked, if that is not the one that made the
	// plan.
	Applier string `json:"judged,omitempty"`

	// Values are the changes to the user's values and to the chart's defaults
	// since the last revision.
	Values []Change `json:"values,omitempty"`

	Stages []Stage `json:"stages"`
	// OnFailure is what happens if a stage fails; null for a comparison, which is never run, and
	// where a failure is not recorded.
	OnFailure *OnFailure `json:"onFailure,omitempty"`
	// NotUndone is what the rollback of a failed run leaves as it is, because it can't be changed
	// back: the API server would refuse it, for example.
	NotUndone []Lasting `json:"notUndone,omitempty"`

	Problems []Problem `json:"problems,omitempty"`
	// Reviews lists who is asked to review the plan, according to the policy in the options.
	Reviews []Review `json:"reviews,omitempty"`
	Summary Summary  `json:"summary"`
	// Impact sums up the effects of the steps.
	Impact Impact `json:"impact,omitzero"`
}

// ChartRef identifies a chart. Digest is the SHA-256 of its files, in hex.
type ChartRef struct {
	Name       string `json:"name,omitempty"`
	Version    string `json:"version,omitempty"`
	AppVersion string `json:"appVersion,omitempty"`
	Digest     string `json:"digest,omitempty"`
}

// ChartOf returns the chart's reference without a Digest; it is empty for nil and for a chart
// without metadata.
func ChartOf(c *chart.Chart) ChartRef {
	if c == nil || c.Metadata == nil {
		return ChartRef{}
	}
	return ChartRef{Name: c.Metadata.Name, Version: c.Metadata.Version, AppVersion: c.Metadata.AppVersion}
}

// Cluster identifies the cluster that the plan was made for, as far as the user
// who made it may read that: see Stale.
type Cluster struct {
	// Context is the name of the kubeconfig context; empty if there is none.
	Context string `json:"context,omitempty"`
	// Server is the API server's address.
	Server string `json:"server,omitempty"`
	// CA identifies the certificate authorities that the API server's certificate is verified
	// against: "sha256:" and a checksum in hex, or "system" for the machine's own; empty if it is
	// not verified.
	CA string `json:"ca,omitempty"`
	// UID is the UID of the namespace kube-system, NamespaceUID that of the release's namespace;
	// empty if the namespace can't be read or does not exist.
	UID          string `json:"uid,omitempty"`
	NamespaceUID string `json:"namespaceUID,omitempty"`
}

// String returns the cluster's name for users: "context dev (10.0.0.1:6443)",
// or "cluster 10.0.0.1:6443" without a context.
func (c Cluster) String() string {
	_, host, found := strings.Cut(c.Server, "://")
	if !found {
		host = c.Server
	}
	host = strings.TrimSuffix(host, "/")
	if c.Context == "" {
		return "cluster " + host
	}
	return "context " + c.Context + " (" + host + ")"
}

// Stage is a named part of the run. The next stage starts when this one has
// succeeded.
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
	// StageInterrupted deletes what hooks of an interrupted run have left, and waits until it is gone.
	StageInterrupted StageName = "interrupted hooks"
	StageResources   StageName = "resources"
	StageWait        StageName = "wait"
	StageRecord      StageName = "record"
)

// Wave is a set of steps that may run in parallel. The next wave starts when
// all of them have succeeded.
type Wave struct {
	Steps []Step `json:"steps"`
}

// Summary counts the plan's steps.
type Summary struct {
	// Risks counts the steps by risk: each under its most severe risk and, if its object stays, also
	// under stateful if it has that risk, too.
	Risks  RiskCounts `json:"risks"`
	Create int        `json:"create"`
	Patch  int        `json:"patch"`
	// LabelsOnly counts the steps of Patch that change only labels of their objects.
	LabelsOnly int `json:"labelsOnly"`
	Replace    int `json:"replace"`
	Recreate   int `json:"recreate"`
	Delete     int `json:"delete"`
	Keep       int `json:"keep"`
	Adopt      int `json:"adopt"`
	Unchanged  int `json:"unchanged"`
	Hooks      int `json:"hooks"`
	Waits      int `json:"waits"`
	// Drifted counts the objects that were changed outside of the release.
	Drifted  int `json:"drifted"`
	Blocking int `json:"blocking"`
	Warnings int `json:"warnings"`
}

// ObjectChanges counts the steps that change an object of the release.
func (s Summary) ObjectChanges() int {
	return s.Create + s.Patch + s.Replace + s.Recreate + s.Delete + s.Keep + s.Adopt
}

// Blocked reports whether a problem forbids applying the plan.
func (p *Document) Blocked() bool { return p.Summary.Blocking > 0 }

// Steps calls visit for every step of the plan's stages in the order of the run.
func (p *Document) Steps(visit func(StageName, *Step)) { eachStep(p.Stages, visit) }

// AllSteps is like Steps, and also calls visit for the steps of OnFailure.
func (p *Document) AllSteps(visit func(StageName, *Step)) {
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
