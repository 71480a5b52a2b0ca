package plan

import (
	"cmp"
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Build decides. It is called first without answers of the API server, to learn what
// to ask it, then with them, until there are no questions left. The input is not
// changed. Errors: input that makes no sense; what stands against applying is among
// the plan's problems.
func Build(in Input) (*Plan, Questions, error) {
	if in.Operation != Uninstall && in.Operation != CorrectRecords && in.Target == nil {
		return nil, Questions{}, fmt.Errorf("plan %s of %s: there is no target", in.Operation, in.Release)
	}
	b := &builder{in: in, plan: newPlan(in), targets: wantedBy(in), left: map[manifest.ID]*Step{}, sentLast: map[string]any{}}
	b.learnKinds()
	b.problems(in.Warnings...)
	b.checkHistory()
	switch in.Operation {
	case Install, Upgrade, Rollback:
		b.deploy()
	case Uninstall:
		b.uninstall()
	case Test:
		b.test()
	case CorrectDrift:
		b.correctDrift()
	case CorrectRecords:
		b.correctRecords()
	}
	b.onFailure()
	b.impact()
	b.questions.QuotaNamespaces = b.counted()
	b.checkQuotas()
	b.summarize()
	b.questions.DryRuns = b.dryRuns()
	b.estimateUnknown()
	return b.plan, b.questions, nil
}

// builder is one run of Build.
type builder struct {
	in        Input
	plan      *Plan
	questions Questions
	stored    map[manifest.ID]*StoredObject
	// targets are the objects that the target has as resources.
	targets map[manifest.ID]bool
	// converted are the resources that are hooks from now on.
	converted map[manifest.ID]bool
	// left are the runs that are planned, by their objects: the last one of each.
	left map[manifest.ID]*Step
	// deployed are the hooks of the last deployed revision, by event: see lastHooks.
	deployed map[hookKey]manifest.Object
	// lacking are permissions for want of which dry runs were refused.
	lacking []requiredPermission
	// disruptions are the release's PodDisruptionBudgets: see disruptionBudgets.
	disruptions []policyv1.PodDisruptionBudget
	// defined are the kinds that the target's CRDs define, and brings those of them that come
	// with this plan.
	defined, brings map[schema.GroupKind]kinds.Definition
	// sentLast are labels and annotations of the body that was made last: see sent.
	sentLast map[string]any
}

func newPlan(in Input) *Plan {
	p := &Plan{Document: Document{
		FormatVersion: FormatVersion,
		ToolVersion:   in.ToolVersion,
		Operation:     in.Operation,
		Release:       in.Release,
		RollbackTo:    in.RollbackTo,
		KubeVersion:   in.KubeVersion,
		Cluster:       in.Cluster,
		Options:       in.Options,
		Values:        in.Values,
		Against:       in.Against,
		ReadOnly:      in.ReadOnly,
		Judged:        in.Judged,
		Stages:        []Stage{},
	}, Bundle: Bundle{Secrets: in.Secrets}}
	if namespace := in.Live[NamespaceID(in.Release.Namespace)].Object; namespace != nil && in.Against == nil {
		p.Cluster.NamespaceUID = string(namespace.GetUID())
	}
	if last := in.History.Last(); last != nil {
		p.FromRevision = last.Version
		p.ToRevision = last.Version
		p.ChartFrom = ChartOf(last.Chart)
		p.AppliedFrom = cmp.Or(last.ApplyMethod, release.ClientSide)
	}
	if in.Against != nil && in.Against.Chart != (ChartRef{}) {
		p.ChartFrom = in.Against.Chart
	}
	if in.Target != nil {
		p.ChartTo, p.ChartSource, p.ChartLock = in.Target.Chart, in.Target.Source, in.Target.Lock
		p.Record, p.CRDs = in.Target.Record, in.Target.CRDs
		p.Notes = in.Target.Record.Info.Notes
		p.ToRevision = in.Target.Record.Version
	}
	if in.Against != nil {
		p.ToRevision = p.FromRevision // a comparison writes no revision
	}
	return p
}

// deploy plans install, upgrade and rollback.
func (b *builder) deploy() {
	pre, post, pending := moments(b.in.Operation)
	b.checkTwice()
	b.checkNamespaces()
	b.filterStored()
	b.namespaceStage()
	b.crdStage()
	if !b.in.Resume {
		b.recordStage(StagePending, b.pendingRecord(pending))
	}
	b.hookStage(pre)
	b.stage(StageResources, b.resources())
	b.waitStage()
	b.hookStage(post)
	b.recordStage(StageRecord, b.finalRecord())
	b.compared()
}

// recordStage writes a record; a comparison has none to write.
func (b *builder) recordStage(name StageName, step Step) {
	if b.in.Against == nil {
		b.stage(name, oneByOne([]Step{step}))
	}
}

// moments are an operation's hook events and the status it is pending in.
func moments(op Operation) (pre, post manifest.Event, pending release.Status) {
	switch op {
	case Install:
		return manifest.PreInstall, manifest.PostInstall, release.StatusPendingInstall
	case Upgrade:
		return manifest.PreUpgrade, manifest.PostUpgrade, release.StatusPendingUpgrade
	case Rollback:
		return manifest.PreRollback, manifest.PostRollback, release.StatusPendingRollback
	case Uninstall:
		return manifest.PreDelete, manifest.PostDelete, release.StatusUninstalling
	case Test:
		return manifest.Test, manifest.Test, release.StatusUnknown
	case CorrectDrift, CorrectRecords:
	}
	return "", "", release.StatusUnknown
}

func (b *builder) stage(name StageName, waves []Wave) {
	if len(waves) > 0 {
		b.plan.Stages = append(b.plan.Stages, Stage{Name: name, Waves: waves})
	}
}

func (b *builder) problems(ps ...Problem) {
	b.plan.Problems = append(b.plan.Problems, ps...)
}

// block notes a problem that forbids applying.
func (b *builder) block(kind ProblemKind, id manifest.ID, what, do string) {
	b.problems(Problem{Kind: kind, Object: id, Blocking: true, What: what, Do: do})
}

// blockUnsent notes a problem that Helm meets only when it sends the object. It forbids applying
// unless the plan is to fail as Helm does.
func (b *builder) blockUnsent(p Problem) {
	p.Blocking = !b.in.Options.AsHelm
	b.problems(p)
}

// warn notes a problem that does not.
func (b *builder) warn(id manifest.ID, what, do string) {
	b.problems(Problem{Object: id, What: what, Do: do})
}

// filterStored keeps what of the stored objects is this release's to decide over.
func (b *builder) filterStored() {
	b.stored = make(map[manifest.ID]*StoredObject, len(b.in.Stored))
	b.converted = map[manifest.ID]bool{}
	for i := range b.in.Stored {
		s := &b.in.Stored[i]
		owned, ok := b.ownedDocs(*s, b.targets[s.ID])
		if !ok {
			continue
		}
		if len(owned.Docs) != len(s.Docs) {
			changed := owned // the rest are not copied
			s = &changed
		}
		b.stored[s.ID] = s
	}
}

// storedObject is what filterStored has left of an object.
func (b *builder) storedObject(id manifest.ID) (s StoredObject, known bool) {
	if s := b.stored[id]; s != nil {
		return *s, true
	}
	return StoredObject{}, false
}

// wantedBy are the objects that the input's target has as resources.
func wantedBy(in Input) map[manifest.ID]bool {
	targets := map[manifest.ID]bool{}
	if in.Target != nil {
		targets = make(map[manifest.ID]bool, len(in.Target.Objects))
		for _, o := range in.Target.Objects {
			targets[o.ID] = true
		}
	}
	return targets
}

// resources decides over every object of the target and of what is stored.
func (b *builder) resources() []Wave {
	var removals []Step
	forward := make([]Step, 0, len(b.in.Target.Objects)) // a step is large: growing would copy it many times
	wanted := make(map[manifest.ID]bool, len(b.in.Target.Objects))
	for _, o := range b.in.Target.Objects {
		if wanted[o.ID] {
			continue // checkTwice has said so
		}
		wanted[o.ID] = true
		forward = append(forward, b.wantedStep(o))
	}
	hooks := map[manifest.ID]bool{}
	for _, h := range b.in.Target.HookObjects {
		hooks[h.ID] = true
	}
	for _, s := range b.in.Stored {
		s, known := b.storedObject(s.ID)
		if !known || wanted[s.ID] {
			continue
		}
		if step, ok := b.unwantedStep(s, hooks[s.ID]); ok {
			removals = append(removals, step)
		}
	}
	return append(installWaves(forward), uninstallWaves(removals)...)
}

// live is what was observed of an object.
func (b *builder) live(id manifest.ID) Observation { return b.in.Live[id] }

// version is the version to reach an object through: the written one when it
// is served, else the cluster's preferred one (an apiVersion that was removed).
func (b *builder) version(o manifest.Object) string {
	kind := b.in.Kinds[o.GroupKind()]
	if len(kind.Versions) == 0 || slices.Contains(kind.Versions, o.Version) {
		return o.Version
	}
	return kind.Versions[0]
}

func apiVersion(group, version string) string {
	return schema.GroupVersion{Group: group, Version: version}.String()
}

func stepID(stage StageName, id manifest.ID) string { return string(stage) + "/" + id.Key() }
