package plan

import (
	"cmp"
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Build makes the plan. Callers call it first without any answers from the API server, to learn
// what to ask, and then again with the answers until no questions are left. It does not change the
// input. It returns an error only for input that makes no sense; whatever forbids applying becomes
// a problem in the plan.
func Build(in Input) (*Plan, Questions, error) {
	if in.Operation != Uninstall && in.Operation != CorrectRecords && in.Target == nil {
		return nil, Questions{}, fmt.Errorf("plan %s of %s: there is no target", in.Operation, in.Release)
	}
	b := &builder{in: in, plan: newPlan(in), targets: placesIn(in.Target), lastRuns: map[manifest.ID]*Step{}, leftOut: map[manifest.ID]bool{}, hooked: map[schema.GroupKind]manifest.DefinedKind{}, redefined: map[schema.GroupKind]bool{}, waits: map[string]manifest.ID{}}
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
	b.serverWarnings()
	b.summarize()
	b.questions.DryRuns = b.dryRuns()
	b.estimateUnknown()
	return b.plan, b.questions, nil
}

// builder holds the state of one call of Build.
type builder struct {
	in        Input
	plan      *Plan
	questions Questions
	stored    map[manifest.ID]*StoredObject
	// targets maps the IDs of the target's resources, without hooks, to their indexes in
	// Target.Objects: the last index for a resource that is rendered twice.
	targets map[manifest.ID]int
	// converted are the resources that this plan turns into hooks.
	converted map[manifest.ID]bool
	// lastRuns holds this plan's last run of each hook object, or the deletion of one that an interrupted run
	// has run.
	lastRuns map[manifest.ID]*Step
	// leftOut are the objects of hooks that a rollback does without, see forbidHook.
	leftOut map[manifest.ID]bool
	// deployed caches the result of lastHooks.
	deployed map[hookKey]lastHook
	// lacking holds the permissions whose absence made the API server refuse reads and dry runs.
	lacking []requiredPermission
	// disruptions caches the result of disruptionBudgets.
	disruptions []policyv1.PodDisruptionBudget
	// defined holds the kinds that the target's CRDs define; brings omits those of crds/ if this
	// plan skips that folder, and first omits all others, which are written after the first hooks. hooked
	// are the kinds of CRDs that a hook planned so far creates.
	defined, brings, first, hooked map[schema.GroupKind]manifest.DefinedKind
	// redefined caches the results of redefines, by kind.
	redefined map[schema.GroupKind]bool
	// waits says what resources wait for that the API server refuses until then, by the IDs of their steps: see awaited.
	waits map[string]manifest.ID
	// turns caches what turnOf returns.
	turns map[manifest.ID]turn
	// inFolder holds the objects of the target's crds/ folders, once inCRDsFolder has looked for them.
	inFolder            map[manifest.ID]bool
	rights, smallRights int // of roles, listed one by one so far: see listsRights
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
		Applier:       in.Applier,
		Stages:        []Stage{},
	}, Bundle: Bundle{Secrets: in.Secrets, Newest: NewestOf(in.History), Undoing: in.Undoing}}
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
	b.checkAllocations()
	b.checkNamespaces()
	b.filterStored()
	b.namespaceStage()
	resumable := b.in.Options.RecordHooks
	if resumable {
		b.crdStage()
	}
	if !b.in.Resume {
		b.recordStage(StagePending, b.pendingRecord(pending))
	}
	b.interruptedStage()
	if !resumable {
		b.crdStage()
	}
	b.hookStage(pre)
	b.stage(StageResources, b.resources())
	b.waitStage()
	b.hookStage(post)
	b.recordStage(StageRecord, b.finalRecord())
	b.compared()
}

// recordStage adds a stage that writes one record, except in a comparison, which writes none.
func (b *builder) recordStage(name StageName, step Step) {
	if b.in.Against == nil {
		b.stage(name, oneByOne([]Step{step}))
	}
}

// moments returns the hook events before and after an operation, and its pending status.
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

// block adds a problem that forbids applying.
func (b *builder) block(kind ProblemKind, id manifest.ID, what, do string) {
	b.problems(Problem{Kind: kind, Object: id, Blocking: true, What: what, Do: do})
}

// blockUnsent adds a problem that Helm meets only when it sends the object. It forbids applying
// unless the plan is to fail as Helm does.
func (b *builder) blockUnsent(p Problem) {
	p.Blocking = !b.in.Options.AsHelm
	b.problems(p)
}

// warn adds a problem that does not forbid applying.
func (b *builder) warn(id manifest.ID, what, do string) {
	b.problems(Problem{Object: id, What: what, Do: do})
}

// filterStored fills b.stored with the part of the stored objects that belongs to this release.
func (b *builder) filterStored() {
	b.stored = make(map[manifest.ID]*StoredObject, len(b.in.Stored))
	b.converted = map[manifest.ID]bool{}
	for i := range b.in.Stored {
		s := &b.in.Stored[i]
		owned, ok := b.ownedDocs(*s, b.wants(s.ID))
		if !ok {
			continue
		}
		if len(owned.Docs) != len(s.Docs) {
			changed := owned // only objects that differ from the input are copied
			s = &changed
		}
		b.stored[s.ID] = s
	}
}

// storedObject returns an object as filterStored left it.
func (b *builder) storedObject(id manifest.ID) (s StoredObject, known bool) {
	if s := b.stored[id]; s != nil {
		return *s, true
	}
	return StoredObject{}, false
}

// placesIn returns the last index of each of the target's resources, by ID.
func placesIn(target *Target) map[manifest.ID]int {
	if target == nil {
		return nil
	}
	places := make(map[manifest.ID]int, len(target.Objects))
	for i, o := range target.Objects {
		places[o.ID] = i
	}
	return places
}

// wants reports whether the object is one of the target's resources.
func (b *builder) wants(id manifest.ID) bool {
	_, ok := b.targets[id]
	return ok
}

// resources decides what happens to every object of the target and every stored one.
func (b *builder) resources() []Wave {
	var removals, behind, late []Step
	forward := make([]Step, 0, len(b.in.Target.Objects)) // a step is large: growing would copy it many times
	for i, o := range b.in.Target.Objects {
		switch {
		case b.targets[o.ID] != i: // checkTwice has reported it
		case b.comesFirst(o.ID): // namespaceStage has it
		case b.isLate(o.ID):
			late = append(late, b.behindDeletions(o))
		case len(b.turnOf(o.ID).gone) > 0:
			behind = append(behind, b.behindDeletions(o))
		default:
			forward = append(forward, b.wantedStep(o))
		}
	}
	hooks := map[manifest.ID]bool{}
	for _, o := range slices.Concat(b.in.Target.HookObjects...) {
		hooks[o.ID] = true
	}
	for _, s := range b.in.Stored {
		s, known := b.storedObject(s.ID)
		if !known || b.wants(s.ID) {
			continue
		}
		if step, ok := b.unwantedStep(s, hooks[s.ID]); ok {
			removals = append(removals, step)
		}
	}
	return slices.Concat(b.inTurn(installWaves(forward)), b.uninstallWaves(removals), b.inTurn(installWaves(behind)), b.lateWaves(late))
}

// live returns the observation of an object, which is empty if the object was not observed.
func (b *builder) live(id manifest.ID) Observation { return b.in.Live[id] }

// version returns the API version for requests about an object: the version in its manifest if the
// cluster serves it, otherwise the cluster's preferred version (when an old version has been
// removed, for example).
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
