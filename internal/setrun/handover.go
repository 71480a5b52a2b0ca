package setrun

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// left records what happens to an entry that has left the set, and reports whether it is
// uninstalled.
func (p *Planner) left(ctx context.Context, j *job) (bool, error) {
	v, err := p.removed(ctx, j.base, j.successor)
	if err != nil {
		return false, err
	}
	p.suspended(j.base.Manager.Applier(), &v, true)
	j.out.Verdict = &v
	j.base = acting(j.base, v.Options)
	return v.Plans, nil
}

// removed returns what the controller does about an entry of the base whose object is gone, or deploys
// another release now: the successor. It is an error if the object is still there and what it deploys is missing.
func (p *Planner) removed(ctx context.Context, e, successor *releaseset.Entry) (v releaseset.Verdict, err error) {
	switch why := p.Head.Set.Unplanned[e.Manager.String()]; {
	case why.Missing:
		return v, fmt.Errorf("%s is still declared, and has deployed %s: now %w", e.Manager, e.Chart, why.Err)
	case why.Err != nil:
		return releaseset.Verdict{Action: unsure, Notes: []string{fmt.Sprintf("%s is still declared, but %v: a sync that prunes deletes the objects of %s", e.Manager, why.Err, e.Chart)}}, nil
	}
	var live releaseset.Lookup
	if e.Manager.Writer().Storage != "" {
		name, cluster := p.asked(e)
		own, err := p.Clusters.Engine(name, cluster, "")
		if err != nil {
			return v, err
		}
		if own != nil {
			live = lookup(ctx, own)
		}
	}
	v = e.Manager.Removed(p.Head.Set.Appliers, live)
	if successor == nil {
		return v, nil
	}
	switch why := successor.Manager.Inactive(); {
	case why != "": // it does not move
		v.Action, v.Plans, v.Notes = idles, false, []string{"left running: " + why}
	case renamed(e, successor):
		v.Action, v.Plans = unsure, false
		v.Notes = []string{"kubeConfig names another object; if that is the same cluster, this release is uninstalled, else left running"}
	case successor.Cluster != e.Cluster:
		v.Action, v.Plans = idles, false
		v.Notes = []string{"left running: " + e.Manager.String() + " moves to another cluster, and leaves what it has in this one"}
	default:
		moved := e.Manager.Moved(successor.Manager)
		v.Action, v.Plans, v.Notes = moved.Action, moved.Plans, moved.Notes
	}
	return v, nil
}

// Actions of a verdict.
const uninstalls, unsure, idles = "uninstall", releaseset.Unknown, "nothing"

// handover adds to the verdict about an entry what becomes of the release because the base has another
// object for it, or something else that applies the object; uncreated reports whether what does now is not created.
func (p *Planner) handover(ctx context.Context, j *job, v *releaseset.Verdict, uncreated bool) error {
	if e := j.base; e != nil && e.Manager != nil && e.Manager.String() != j.head.Manager.String() {
		gone, err := p.removed(ctx, e, j.successor)
		if err != nil || !j.stored(ctx, e) {
			return err
		}
		if released := v.Plans; gone.Plans && j.uninstalled(v, e, gone.Options) && released {
			v.Notes = v.Notes[1:] // they begin with why there is something to release
		} else if gone.Action == unsure {
			v.Action, v.Then = unsure, nil
		}
		v.Notes = slices.Insert(v.Notes, 0, fmt.Sprintf("the release is that of %s in the base: %s", e.Manager, gone.Notes[0]))
		return nil
	}
	e := j.managed
	if e == nil || e.Manager.Applier() == "" || e.Manager.Applier() == j.head.Manager.Applier() || v.Leaves != nil {
		return nil
	}
	gone, err := p.removed(ctx, e, nil)
	if err != nil || !gone.Plans || !j.stored(ctx, e) {
		return err
	}
	if uncreated {
		v.Notes = append(v.Notes, gone.Notes...)
		j.uninstalled(v, e, gone.Options)
		return nil
	}
	// kustomize-controller 1.9 deletes what has left a Kustomization only while it has the labels of that one
	// (internal/controller/kustomization_controller.go, deleteObjects).
	v.Notes = slices.Insert(v.Notes, 0, fmt.Sprintf("%s moves from %s to %s: unless the latter applies it first, the former deletes it, and the release is uninstalled and installed anew; kustomize.toolkit.fluxcd.io/prune: disabled on it, applied before the move, prevents that",
		e.Manager, e.Manager.Applier(), cmp.Or(j.head.Manager.Applier(), "another one")))
	j.uninstalled(v, e, gone.Options)
	v.Action, v.Then = unsure, nil
	return nil
}

// stored reports whether the release of an entry may exist.
func (j *job) stored(ctx context.Context, e *releaseset.Entry) bool {
	if j.bare == nil {
		return true
	}
	records, err := j.bare.StoringIn(e.Manager.Writer().Storage, e.Namespace).Records(ctx, e.Release())
	return err != nil || len(records) > 0
}

// uninstalled makes a verdict say that the release of a base's entry is uninstalled, and then installed
// anew. It does nothing, and returns false, if another release is uninstalled, if the cluster is not known,
// and for a controller that keeps no releases: that deletes only what no other object has taken over.
func (j *job) uninstalled(v *releaseset.Verdict, e *releaseset.Entry, by *releaseset.Options) bool {
	storage := e.Manager.Writer().Storage
	if storage == "" || v.Leaves != nil || j.elsewhere != "" {
		return false
	}
	if v.Action, v.Then = uninstalls, nil; v.Plans {
		v.Then = []string{"install"}
	}
	of := e.Release()
	v.Plans, v.OldChart, v.Leaves, v.LeavesIn, v.LeavesBy = true, false, &of, storage, *by
	v.Notes = append(v.Notes, "the plan shows what the uninstall deletes")
	return true
}
