package setrun

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// promises holds what plans of a set will create and others that need them can't see yet:
// kinds and namespaces, each with the release that creates it.
type promises struct {
	kinds      map[schema.GroupKind]promisedKind
	namespaces map[string]releaseset.Key
}

type promisedKind struct {
	plan.Kind
	by releaseset.Key
}

// promisesOf returns the promises of the plans that an entry needs, directly or through others, which
// need not be among the jobs. needs are those of all entries.
func promisesOf(jobs map[releaseset.Key]*job, needs map[releaseset.Key][]releaseset.Key, of releaseset.Key) promises {
	out := promises{map[schema.GroupKind]promisedKind{}, map[string]releaseset.Key{}}
	releaseset.EachNeed(needs, of, func(need releaseset.Key) bool {
		if needed := jobs[need]; needed != nil && needed.made != nil && !needed.made.Blocked() {
			out.add(need, needed.made)
		}
		return true
	})
	return out
}

func (p promises) add(by releaseset.Key, made *plan.Plan) {
	made.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Body == nil || s.Op != plan.OpCreate && s.Op != plan.OpRun {
			return
		}
		if s.Object.Group == "" && s.Object.Kind == plan.NamespaceID("").Kind {
			p.namespaces[s.Object.Name] = by
		}
		d, ok := manifest.Object{ID: s.Object, Doc: s.Body}.Defines()
		if !ok {
			return
		}
		kind := plan.Kind{Scope: manifest.ScopeNamespaced, Versions: d.Served, Resource: d.Resource}
		if d.ClusterScoped {
			kind.Scope = manifest.ScopeCluster
		}
		p.kinds[d.GroupKind] = promisedKind{kind, by}
	})
}

func (p promises) empty() bool { return len(p.kinds)+len(p.namespaces) == 0 }

// awaiting is a cluster that appears to have what is promised already.
type awaiting struct {
	engine.Cluster
	promises
	// used holds descriptions of the promises that made a difference.
	used map[string]bool
}

// Kinds implements engine.API.
func (a *awaiting) Kinds(ctx context.Context, wanted []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	known, err := a.Cluster.Kinds(ctx, wanted)
	for gk, kind := range known {
		if promised, ok := a.kinds[gk]; ok && len(kind.Versions) == 0 && kind.Unavailable == "" {
			known[gk] = promised.Kind
			a.used[fmt.Sprintf("the kind %s comes with %s", gk.Kind, promised.by)] = true
		}
	}
	return known, err
}

// Observe implements engine.Cluster.
func (a *awaiting) Observe(ctx context.Context, refs []apply.Ref) (map[manifest.ID]plan.Observation, error) {
	seen, err := a.Cluster.Observe(ctx, refs)
	for id, o := range seen {
		by, ok := a.namespaces[id.Name]
		if ok && id == plan.NamespaceID(id.Name) && o.Object == nil {
			seen[id] = plan.Observed(plan.NamespaceDoc(id.Name))
			a.used[fmt.Sprintf("the namespace %s comes with %s", id.Name, by)] = true
		}
	}
	return seen, err
}

// Predict implements engine.Cluster. Steps that depend on a promise are estimated, since the
// server can't be asked about them.
func (a *awaiting) Predict(ctx context.Context, steps []*plan.Step, o apply.WriteOptions) (map[string]plan.Prediction, error) {
	answers := map[string]plan.Prediction{}
	var asked []*plan.Step
	for _, s := range steps {
		kind, byKind := a.kinds[s.Object.GroupKind()]
		by, byNamespace := a.namespaces[s.Object.Namespace]
		switch {
		case byKind:
			answers[s.ID] = plan.Prediction{Estimated: fmt.Sprintf("the kind %s comes with %s", s.Object.Kind, kind.by)}
		case byNamespace:
			answers[s.ID] = plan.Prediction{Estimated: fmt.Sprintf("the namespace %s comes with %s", s.Object.Namespace, by)}
		default:
			asked = append(asked, s)
		}
	}
	more, err := a.Cluster.Predict(ctx, asked, o)
	for id, answer := range more {
		answers[id] = answer
	}
	return answers, err
}

// deferBlocked plans blocked entries once more, as if what they need already existed. An
// entry that is no longer blocked is deferred: its plan is an estimate until then.
func (p *Planner) deferBlocked(ctx context.Context, jobs []*job) {
	byKey, needs := map[releaseset.Key]*job{}, p.Head.Set.Needs()
	for _, j := range jobs {
		byKey[j.out.Key] = j
	}
	for _, j := range jobs { // in the order of needs: a deferred plan may have promises of its own
		if j.made == nil || !j.made.Blocked() || len(j.out.Needs) == 0 || !j.deploys() {
			continue
		}
		brought := promisesOf(byKey, needs, j.out.Key)
		asked, err := p.engine(ctx, j)
		if err != nil || asked == nil || brought.empty() {
			continue
		}
		expecting := &awaiting{Cluster: asked.Cluster, promises: brought, used: map[string]bool{}}
		own := *asked
		own.Cluster = expecting
		again := *j
		made, err := p.deploy(ctx, &again, &own)
		if err != nil || made.Blocked() || len(expecting.used) == 0 {
			continue
		}
		var why []string
		for text := range expecting.used {
			why = append(why, text)
		}
		slices.Sort(why)
		j.out.Deferred = strings.Join(why, ", ")
		p.keep(j, made)
	}
}

// undeferred replans a deferred plan after what it needs has been applied. Errors:
// *engine.StaleError if it now does something other than estimated.
func undeferred(ctx context.Context, run *engine.Engine, estimate *plan.Plan) (*plan.Plan, error) {
	fresh, err := run.ReplanWhenServed(ctx, estimate)
	if err != nil {
		return nil, err
	}
	if differences := unlike(estimate, fresh); len(differences) > 0 {
		return nil, &engine.StaleError{Differences: differences}
	}
	return fresh, nil
}

// unlike describes how a deferred plan differs from its estimate. What it sends was rendered
// for the estimate, and is the same. The cluster and the revision are compared, operation, object
// and risk of each step, and the changed fields of those steps that the API server has predicted in
// both. For the others the server now fills in what the estimate could not know, which is why
// effect digests can't be compared.
func unlike(estimate, fresh *plan.Plan) []string {
	before, after, provided := outline(estimate), outline(fresh), plan.Provided(estimate, fresh)
	var out []string
	for _, moved := range plan.Moved(estimate, fresh) {
		out = append(out, moved.String())
	}
	for id, was := range before {
		switch now := after[id]; {
		case provided[id]:
		case now.what != was.what:
			out = append(out, fmt.Sprintf("%s: %s was estimated, now it is %s", id, was.what, cmp.Or(now.what, "nothing")))
		case was.fields != "" && now.fields != "" && was.fields != now.fields:
			out = append(out, fmt.Sprintf("%s: it would change other fields than planned", id))
		}
	}
	for id, now := range after {
		if before[id].what == "" {
			out = append(out, fmt.Sprintf("%s: %s was not estimated", id, now.what))
		}
	}
	for _, problem := range fresh.Problems {
		if problem.Blocking {
			out = append(out, problem.What)
		}
	}
	slices.Sort(out)
	return out
}

// outlined is a step's operation and risk and, if the API server predicted it, a checksum of
// the fields that it changes.
type outlined struct{ what, fields string }

// outline returns what a plan does, by step ID.
func outline(p *plan.Plan) map[string]outlined {
	out := map[string]outlined{}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		switch s.Op {
		case plan.OpNone, plan.OpWait, plan.OpRecord:
		case plan.OpCreate, plan.OpPatch, plan.OpReplace, plan.OpRecreate, plan.OpDelete, plan.OpKeep, plan.OpAdopt, plan.OpRun:
			step := outlined{what: strings.TrimSpace(fmt.Sprintf("%s %s", s.Op, s.Risk))}
			if s.Fidelity == plan.FidelityExact {
				var fields [][3]any
				for _, c := range s.Changes {
					fields = append(fields, [3]any{c.Path, c.From, c.To})
				}
				step.fields = checksumOf(fields)
			}
			out[s.ID] = step
		}
	})
	return out
}
