package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/gcpacing"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// decide completes the input with what the cluster says about its objects and builds the plan.
func (e *Engine) decide(ctx context.Context, in plan.Input) (*plan.Plan, error) {
	sent, err := stored(in)
	if err != nil {
		return nil, err
	}
	if err := qualify(ctx, e.Cluster, &in, sent); err != nil {
		return nil, err
	}
	measured := measuring(in.Target, e.recordLimit())
	if in.Live, err = e.Cluster.Observe(ctx, refs(in)); err != nil {
		return nil, err
	}
	if err := measured(&in); err != nil {
		return nil, err
	}
	shareLive(in)
	e.nameRecords(&in)
	in.ReadOnly, in.Applier = e.ReadOnly, e.Applier
	return e.ask(ctx, in)
}

// manyDryRuns is the number of steps from which a plan is so large that collecting its garbage
// immediately saves memory.
const manyDryRuns = 1000

// ask builds the plan, asks the API server the plan's questions and builds again, until no question
// is open.
func (e *Engine) ask(ctx context.Context, in plan.Input) (*plan.Plan, error) {
	large := false
	for {
		p, open, err := plan.Build(in)
		if err != nil {
			return nil, err
		}
		counted := in.Undoing || e.countCustomResources(ctx, p, &in)
		if in.Predictions != nil && len(open.DryRuns) == 0 && counted {
			if large {
				gcpacing.Collect() // what it was made from is garbage now, and apply needs memory, too
			}
			return p, nil
		}
		if large = large || len(open.DryRuns) >= manyDryRuns; large {
			gcpacing.Expect(0) // most of what is allocated from here on soon becomes garbage
		}
		first := in.Predictions == nil
		if err := e.answer(ctx, &in, open); err != nil {
			return nil, err
		}
		if first && open.Final(in) {
			return p, nil
		}
		if len(open.DryRuns) >= manyDryRuns {
			gcpacing.Collect() // the old plan is garbage now, and the next one is as large
		}
	}
}

// answer makes the dry runs of steps and asks for permissions, quotas and PersistentVolumeClaims,
// in parallel; without the dry runs, it gives up the rest. A rollback after a failed run goes as far as
// permissions allow, so it only makes dry runs.
func (e *Engine) answer(ctx context.Context, in *plan.Input, open plan.Questions) error {
	answered, listed := make(chan plan.Access, 1), make(chan []*unstructured.Unstructured, 1)
	named := make(chan map[string][]string, 1)
	needed, counted := open.Permissions, open.QuotaNamespaces
	if in.Undoing {
		needed, counted, open.ClaimNamespaces = nil, nil, nil
	}
	asking, giveUp := context.WithCancel(ctx)
	defer giveUp()
	go func() { named <- e.claims(asking, open.ClaimNamespaces) }()
	go func() { answered <- e.access(asking, needed) }()
	go func() {
		if in.Quotas == nil {
			listed <- e.quotas(asking, counted)
			return
		}
		listed <- in.Quotas
	}()
	answers, err := e.Cluster.Predict(ctx, open.DryRuns, apply.WriteOptions{
		FieldManager: in.Options.FieldManager, Force: in.Options.ForceConflicts, DryRun: true,
	})
	if err != nil {
		giveUp()
	}
	in.Access, in.Quotas = <-answered, <-listed
	if in.Claims == nil {
		in.Claims = map[string][]string{}
	}
	maps.Copy(in.Claims, <-named)
	if in.Predictions == nil {
		in.Predictions = answers // not copied: they are as many as the steps
		return err
	}
	maps.Copy(in.Predictions, answers)
	return err
}

// stored parses what the revisions that count as stored have sent, failed attempts first. Objects
// that equal the target's are not parsed again.
func stored(in plan.Input) ([]plan.Sent, error) {
	attempts, err := sentBy(plan.Attempts(in.History), in.Target)
	if err != nil {
		return nil, err
	}
	for i := range attempts {
		attempts[i].Attempt = true
	}
	sent, err := sentBy(plan.Sources(in.History), in.Target)
	return append(attempts, sent...), err
}

// sentBy parses what stored revisions have sent. Objects that equal the target's are not parsed
// again.
func sentBy(revisions []*release.Revision, target *plan.Target) ([]plan.Sent, error) {
	var known []manifest.Object
	if target != nil {
		known = target.Objects
	}
	var sent []plan.Sent
	for _, r := range revisions {
		objects, err := r.Objects(known...)
		if err != nil {
			return nil, err
		}
		shareAlike(objects, known)
		known = objects // the next revision resembles this one the most
		sent = append(sent, plan.Sent{Revision: r.Version, Objects: objects})
	}
	return sent, nil
}

// qualify looks up every kind of the input in discovery and sets the namespaces of all objects and
// the ownership metadata of the target's resources.
func qualify(ctx context.Context, api API, in *plan.Input, sent []plan.Sent) error {
	if last := in.History.Last(); last != nil && (in.Target == nil || last.Info.Status.Pending()) {
		in.StoredHookObjects = hookObjects(last)
	}
	if err := checkHooks(in); err != nil {
		return err
	}
	kinds, err := api.Kinds(ctx, gvks(*in, sent))
	if err != nil {
		return err
	}
	for _, s := range sent {
		defineScopes(kinds, s.Objects)
	}
	if in.Target != nil {
		defineScopes(kinds, in.Target.CRDs, in.Target.Objects, slices.Concat(in.Target.HookObjects...))
	}
	scope := func(gvk schema.GroupVersionKind) manifest.Scope { return kinds[gvk.GroupKind()].Scope }
	var lists []*[]manifest.Object
	for i := range in.StoredHookObjects {
		lists = append(lists, &in.StoredHookObjects[i])
	}
	for i := range sent {
		lists = append(lists, &sent[i].Objects)
	}
	if in.Target != nil {
		target := *in.Target
		in.Target = &target
		target.HookObjects = slices.Clone(target.HookObjects)
		lists = append(lists, &target.Objects)
		for i := range target.HookObjects {
			lists = append(lists, &target.HookObjects[i])
		}
	}
	namespaced(lists, func(all []manifest.Object) []manifest.Object {
		return manifest.Qualify(all, in.Release.Namespace, scope)
	})
	in.Kinds = kinds
	in.Stored = plan.Stored(sent)
	if in.Target != nil {
		plan.Own(in.Target.Objects, in.Stored, in.Release)
	}
	return nil
}

// namespaced qualifies all lists in one call, so that objects keep sharing memory.
func namespaced(lists []*[]manifest.Object, qualify func([]manifest.Object) []manifest.Object) {
	number := 0
	for _, list := range lists {
		number += len(*list)
	}
	all := make([]manifest.Object, 0, number)
	for _, list := range lists {
		all = append(all, *list...)
	}
	all = qualify(all)
	for _, list := range lists {
		n := len(*list)
		*list, all = all[:n:n], all[n:]
	}
}

func gvks(in plan.Input, sent []plan.Sent) []schema.GroupVersionKind {
	all := map[schema.GroupVersionKind]bool{}
	add := func(objects []manifest.Object) {
		for _, o := range objects {
			all[o.GVK()] = true
		}
	}
	for _, s := range sent {
		add(s.Objects)
	}
	add(slices.Concat(in.StoredHookObjects...))
	for _, h := range in.HooksBack() {
		if objects, err := h.Objects(); err == nil { // others are not run
			add(objects)
		}
	}
	if in.Target != nil {
		add(in.Target.Objects)
		add(slices.Concat(in.Target.HookObjects...))
		add(in.Target.CRDs)
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
}

// refs returns the objects whose live state the plan needs.
func refs(in plan.Input) []apply.Ref {
	likely := len(in.Stored)
	if in.Target != nil {
		likely = max(likely, len(in.Target.Objects))
	}
	seen, out := make(map[manifest.ID]bool, likely), make([]apply.Ref, 0, likely)
	add := func(o manifest.Object) {
		if !seen[o.ID] {
			seen[o.ID] = true
			out = append(out, apply.Ref{ID: o.ID, Version: o.Version})
		}
	}
	within := func(o manifest.Object) {
		add(o)
		if o.Namespace != "" && o.Namespace != in.Release.Namespace {
			addNamespace(add, o.Namespace)
		}
	}
	if in.Target != nil {
		for _, o := range in.Target.Objects {
			within(o)
		}
		for _, o := range in.Target.CRDs {
			add(o)
		}
	}
	addNamespace(add, in.Release.Namespace)
	for _, o := range in.HooksToRun() {
		within(o)
	}
	if last := in.History.Last(); last != nil && last.Info.Status.Pending() {
		for _, o := range slices.Concat(in.StoredHookObjects...) {
			add(o)
		}
	}
	for _, s := range in.Stored {
		add(s.Latest())
	}
	return out
}

func addNamespace(add func(manifest.Object), name string) {
	add(manifest.Object{ID: plan.NamespaceID(name), Version: "v1"})
}

// defineScopes sets scopes that discovery does not know, using the CRDs in the input: their kinds
// are not served yet, or discovery was not asked.
func defineScopes(kinds map[schema.GroupKind]plan.Kind, lists ...[]manifest.Object) {
	for _, objects := range lists {
		for _, o := range objects {
			d, ok := o.Defines()
			if k, asked := kinds[d.GroupKind]; ok && asked && k.Scope == manifest.ScopeUnknown {
				k.Scope = manifest.ScopeNamespaced
				if d.ClusterScoped {
					k.Scope = manifest.ScopeCluster
				}
				kinds[d.GroupKind] = k
			}
		}
	}
}
