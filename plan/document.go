package plan

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// FormatVersion is the version of the plan's JSON. Minor versions only add.
const FormatVersion = "1.0"

// Operation names what a plan does with a release.
type Operation string

const (
	Install   Operation = "install"
	Upgrade   Operation = "upgrade"
	Rollback  Operation = "rollback"
	Uninstall Operation = "uninstall"
	Test      Operation = "test"
	// CorrectDrift gives objects back what the newest revision sent, without a new
	// revision and without hooks.
	CorrectDrift Operation = "correct drift"
	// CorrectRecords writes records alone: it brings those that a run which was killed has
	// left to what they stand for.
	CorrectRecords Operation = "correct records"
)

// Document is the plan as it is shown: everything that one operation will do, in the order
// in which it will do it, and why. All formats print it, and docs/plan.schema.json describes
// it. It may hold secrets, which redact.Plan removes.
type Document struct {
	FormatVersion string `json:"formatVersion"`
	ToolVersion   string `json:"toolVersion"`
	// PlanDigest is Digest of the file that the plan is saved in; "" for a plan that
	// is not saved.
	PlanDigest string `json:"planDigest,omitempty"`
	// EffectDigest is that of the plan's effect, see redact.EffectDigest.
	EffectDigest string `json:"effectDigest,omitempty"`
	// Origin is where and when the plan was saved; null for one that is not.
	Origin    *Origin     `json:"origin,omitempty"`
	Operation Operation   `json:"operation"`
	Release   release.Key `json:"release"`
	// EntryName is the release's name in a set of releases, with its cluster:
	// "shop/web@eu"; "" for a plan that is not part of a set. It is not saved.
	EntryName string `json:"-"`

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
	// NoLock says that the run goes without the release's lock, which could be taken
	// but not renewed: the Lease may not be updated.
	NoLock bool `json:"noLock,omitempty"`
	// PendingElsewhere says that what is pending blocks the plan and may be at work
	// without a lock: it may end by itself.
	PendingElsewhere bool `json:"pendingElsewhere,omitempty"`

	// AppliedFrom is how the objects of FromRevision were sent: client-side (csa) or
	// server-side (ssa); "" where there is no revision.
	AppliedFrom release.ApplyMethod `json:"appliedFrom,omitempty"`

	ChartFrom ChartRef `json:"chartFrom,omitzero"`
	ChartTo   ChartRef `json:"chartTo,omitzero"`
	// ChartSource is where ChartTo was fetched from; null for a folder or a file, but for
	// an archive whose signature was verified.
	ChartSource *ChartSource `json:"chartSource,omitempty"`
	// ChartLock is the lock of ChartTo; null for a chart without dependencies.
	ChartLock   *ChartLock `json:"chartLock,omitempty"`
	KubeVersion string     `json:"kubeVersion,omitempty"`
	Cluster     Cluster    `json:"cluster"`
	Options     Options    `json:"options"`

	// Place is where the release is declared: the chart's Chart.yaml, or the entry of a
	// set of releases. Whatever has no line of its own points to it.
	Place Place `json:"place,omitzero"`

	// Against is the baseline that stands in for live objects in a comparison; null for
	// every plan that can be applied.
	Against *Against `json:"against,omitempty"`

	// ReadOnly says that the plan was made without dry runs, which needs no permission to
	// write: outcomes are estimated.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Judged is who was asked about in the place of who has planned: problems about
	// permissions are theirs.
	Judged string `json:"judged,omitempty"`

	// Values are the changes of the user's values and of the chart's defaults
	// since the last revision.
	Values []Change `json:"values,omitempty"`

	Stages []Stage `json:"stages"`
	// OnFailure is what happens when a stage fails; null for a comparison, which is not
	// run.
	OnFailure *OnFailure `json:"onFailure,omitempty"`

	Problems []Problem `json:"problems,omitempty"`
	// Reviews are who is asked to look at it, by Options.Policy.
	Reviews []Review `json:"reviews,omitempty"`
	Summary Summary  `json:"summary"`
	// Impact sums up the effects of the steps.
	Impact Impact `json:"impact,omitzero"`
}

// ChartRef names a chart. Digest is the SHA-256 of its files in hex.
type ChartRef struct {
	Name       string `json:"name,omitempty"`
	Version    string `json:"version,omitempty"`
	AppVersion string `json:"appVersion,omitempty"`
	Digest     string `json:"digest,omitempty"`
}

// ChartOf names a chart, without a Digest; it is empty for one without metadata, and for nil.
func ChartOf(c *chart.Chart) ChartRef {
	if c == nil || c.Metadata == nil {
		return ChartRef{}
	}
	return ChartRef{Name: c.Metadata.Name, Version: c.Metadata.Version, AppVersion: c.Metadata.AppVersion}
}

// Cluster identifies the cluster that the plan was made for, by what the user who
// made it may read: see Stale.
type Cluster struct {
	// Context is that of the kubeconfig, by which people know the cluster; empty where
	// there is none.
	Context string `json:"context,omitempty"`
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

// String names the cluster for users: "context dev (10.0.0.1:6443)", or
// "cluster 10.0.0.1:6443" without a context.
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
	Risks  RiskCounts `json:"risks"`
	Create int        `json:"create"`
	Patch  int        `json:"patch"`
	// LabelsOnly are those of Patch that change labels of their objects and nothing else.
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

// AllSteps calls visit for those of OnFailure, too.
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
