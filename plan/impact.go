package plan

import (
	"reflect"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Impact sums up what a reviewer asks first: what the plan means for users of the release. Summary
// counts steps; Impact says what runs, who may do what, and what stays.
type Impact struct {
	// Restarts are the pods that are replaced, by the kind of their workload.
	Restarts []Restart `json:"restarts,omitempty"`
	// Images are the images that change, including those of hooks. An install lists none, since all
	// of its images are new.
	Images []ImageChange `json:"images,omitempty"`
	// Limits are the resource limits of containers that are new or lower.
	Limits []LimitChange `json:"limits,omitempty"`
	// NetworkPolicies are the NetworkPolicies that are created, changed or deleted.
	NetworkPolicies []ObjectChange `json:"networkPolicies,omitempty"`
	// Access is what roles and bindings newly grant or no longer grant.
	Access []AccessChange `json:"access,omitempty"`
	// Volumes are the claims and volumes that are created, resized, deleted or left.
	Volumes []VolumeChange `json:"volumes,omitempty"`
	// CRDs are the CRDs that are created, changed, deleted, or left as they are although the
	// chart's differ.
	CRDs []CRDChange `json:"crds,omitempty"`
	// Rollouts says what replacing the pods means for the workloads of Restarts that specify how
	// many pods they have.
	Rollouts []Rollout `json:"rollouts,omitempty"`
	// Runs says how long the last revisions took to deploy, the newest first, if this plan replaces
	// pods or runs hooks.
	Runs []release.Run `json:"runs,omitempty"`
	// Hooks compares the hooks with those of the last deployed revision.
	Hooks HookChanges `json:"hooks,omitzero"`
}

// ObjectChange is an object that is created, changed or deleted.
type ObjectChange struct {
	Object manifest.ID `json:"object"`
	Change ChangeKind  `json:"change"`
}

// ChangeKind says what happens to an object.
type ChangeKind string

const (
	Created ChangeKind = "created"
	Changed ChangeKind = "changed"
	Deleted ChangeKind = "deleted"
	// Left says that an object stays as it is although the chart's differs.
	Left ChangeKind = "left"
)

// changeOf returns what the step does to its object; ok is false if nothing but labels changes.
func (s *Step) changeOf() (kind ChangeKind, ok bool) {
	switch s.Op {
	case OpCreate:
		return Created, true
	case OpDelete:
		return Deleted, !s.HookDeletion() // the hook creates it again
	case OpPatch, OpReplace, OpAdopt, OpRecreate:
		return Changed, len(s.Changes) > 0 && !s.LabelsOnly()
	case OpRun:
		return Changed, s.InPlace() && slices.ContainsFunc(s.Changes, func(c Change) bool { return within(c.Path, "spec") })
	case OpKeep, OpWait, OpRecord, OpNone:
	}
	return "", false
}

// impact sums up the effects of the steps. For an uninstall it lists only the volumes: that the
// objects are deleted is expected.
func (b *builder) impact() {
	out := &b.plan.Impact
	restarts, images, limits := &restarts{}, b.newImages(), &limits{}
	access := map[manifest.ID][]AccessChange{}
	b.plan.Steps(func(stage StageName, s *Step) {
		if s.Op != OpKeep || !b.deletedByHook(s.Object) { // what is kept as a hook goes with it
			out.Volumes = append(out.Volumes, b.namedClaims(s)...)
		}
		if b.in.Operation == Uninstall || b.in.Operation == Test {
			return
		}
		restarts.count(s)
		limits.collect(s)
		if r, ok := b.rollout(s); ok {
			out.Rollouts = append(out.Rollouts, r)
		}
		if b.in.Operation != Install && stage != StageInterrupted {
			images.use(s)
			if s.Op != OpRun {
				images.collect(s)
			}
		}
		for _, c := range b.access(s) {
			if slices.ContainsFunc(access[c.Object], func(told AccessChange) bool { return reflect.DeepEqual(told, c) }) {
				continue // a hook that runs in two stages
			}
			access[c.Object] = append(access[c.Object], c)
			out.Access = append(out.Access, c)
		}
		change, ok := s.changeOf()
		if ok && s.Object.GroupKind() == kinds.NetworkPolicy {
			out.NetworkPolicies = append(out.NetworkPolicies, ObjectChange{Object: s.Object, Change: change})
		}
		if ok && s.Object.IsCRD() {
			out.CRDs = append(out.CRDs, crdChanges(s.Object, change, s.Before, s.outcome())...)
		}
	})
	b.plan.Steps(func(_ StageName, s *Step) { // after the images of resources, which keep running
		if s.Op == OpRun {
			images.collect(s)
		}
	})
	slices.SortStableFunc(out.Access, func(a, b AccessChange) int { return b.power() - a.power() })
	if b.in.Operation != Uninstall && b.in.Against == nil && (len(restarts.list) > 0 || b.runsHooks()) {
		out.Runs = b.in.History.LastRuns(runsTold)
	}
	out.Restarts, out.Images, out.Limits = restarts.list, images.changes(), limits.list
}
