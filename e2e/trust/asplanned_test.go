package trust

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// write is a request that changes something, as the API server's audit log shows it.
type write struct {
	verb string // create, update, patch or delete
	resource
	code int // of the answer
}

// resource names an object as requests do.
type resource struct{ group, resource, namespace, name string }

func (w write) String() string {
	return fmt.Sprintf("%s %s/%s/%s/%s (%d)", w.verb, w.group, w.resource.resource, w.namespace, w.name, w.code)
}

// played is one run of the program: its plans, what it reported, and its writes in the
// order in which the API server received them.
type played struct {
	// forth is the plan that was carried out, back that of the rollback; nil
	// if there was none.
	forth, back *plan.Plan
	// ended says for each step that has ended, by ID, whether it succeeded;
	// endedBack says it for the steps of the rollback.
	ended, endedBack map[string]bool
	// begun and begunBack are the steps that were reported as begun; nil if that is not known.
	begun, begunBack map[string]bool
	// failed is true if the run did not succeed, or was killed.
	failed bool
	// leaves is true if the run noted that it left older records as they were.
	leaves bool
	// spoilt is true if requests and answers may have been lost: what has been
	// done may then be sent again.
	spoilt bool
	writes []write
}

// unplanned returns each write that the run's plans do not allow at its time, and each
// step that was reported as done without having written; for a record step, that includes
// the older records, unless something has failed or the run noted that it left them.
//
// The rules: a wave begins when the previous one has done all its writes. The writes of
// a step come in order; one that was refused may be sent again. After a failure only those
// steps of the same stage that have a when may follow, then the waves of onFailure,
// then those of the rollback. A step writes only if it was reported as begun; one with a
// when writes only after the step that it refers to has ended that way.
func (r played) unplanned() []string {
	c := course{run: r}
	c.add(r.forth, r.begun, r.ended)
	c.add(r.back, r.begunBack, r.endedBack)
	var wrong []string
	for _, w := range r.writes {
		if !c.take(w) {
			wrong = append(wrong, fmt.Sprintf("%s is not planned after %s", w, c.where()))
		}
	}
	for _, leg := range c.legs {
		for _, t := range leg.tasks {
			if t.told && len(t.calls) > 0 && !t.hasWritten() {
				wrong = append(wrong, t.id+" is told to be done, and has written nothing")
			}
			for _, one := range t.calls {
				if t.told && one.owed && one.asked == 0 && !r.failed && !r.leaves && !r.spoilt {
					wrong = append(wrong, fmt.Sprintf("%s is told to be done without a failure, and has sent no %s of %s", t.id, one.verbs[0], one.name))
				}
			}
		}
	}
	return wrong
}

// course is what the plans of a run allow, and how far the run has come.
type course struct {
	run    played
	legs   []*leg
	at     int
	failed bool
}

// leg is a wave.
type leg struct {
	plan, stage int // by number: the stages of a failure path have their own numbers
	onFailure   bool
	tidies      bool // its steps have a when
	tasks       []*task
}

// task is a step and what it has written.
type task struct {
	id    string
	due   bool // it was reported as begun, and the step that it refers to has ended as its when requires
	told  bool // it was reported as succeeded
	waits bool // it is over only when it is reported to be
	calls []sent
	at    int // the index of the current call
	first bool
}

// sent is a kind of request that a step sends.
type sent struct {
	verbs []string
	resource
	optional bool
	// owed marks an optional request that may be missing after a failure, but that a
	// successful run must have sent unless it noted that it did not.
	owed     bool
	times    int // how often it may succeed
	asked    int
	answered int
}

func (c *course) add(p *plan.Plan, begun, ended map[string]bool) {
	if p == nil {
		return
	}
	number := 0
	if len(c.legs) > 0 {
		number = c.legs[len(c.legs)-1].plan + 1
	}
	stages := 0
	add := func(all []plan.Stage, onFailure bool) {
		for _, s := range all {
			stages++
			for i := range s.Waves {
				c.legs = append(c.legs, newLeg(p, &s.Waves[i], leg{plan: number, stage: stages, onFailure: onFailure}, begun, ended))
			}
		}
	}
	add(p.Stages, false)
	if p.OnFailure != nil {
		add(p.OnFailure.Stages, true)
	}
}

func newLeg(p *plan.Plan, w *plan.Wave, l leg, begun, ended map[string]bool) *leg {
	l.tidies = true
	for i := range w.Steps {
		s := &w.Steps[i]
		l.tidies = l.tidies && s.When != ""
		well, over := ended[s.Of]
		due := begun == nil || begun[s.ID]
		due = due && (s.When == "" || over && (s.When == plan.WhenAlways || well == (s.When == plan.WhenSucceeded)))
		l.tasks = append(l.tasks, &task{id: s.ID, due: due, told: ended[s.ID], waits: s.Op == plan.OpWait || s.Op == plan.OpRun, calls: callsOf(p, s)})
	}
	return &l
}

// take reports whether a write is allowed, and records it. A request that succeeded is sent
// again only if answers get lost, and counts as such only if it can't be anything else.
func (c *course) take(w write) bool {
	return c.takes(w, false) || c.run.spoilt && c.takes(w, true)
}

func (c *course) takes(w write, again bool) bool {
	for i := c.at; i < len(c.legs); i++ {
		failing := c.failed
		if i > c.at && !c.leads(i, &failing) {
			continue
		}
		if c.legs[i].take(w, again) {
			c.at, c.failed = i, failing && c.legs[i].plan == c.legs[c.at].plan
			return true
		}
	}
	return false
}

// leads reports whether the course may continue with a leg; it sets failing if the run must
// have failed before.
func (c *course) leads(to int, failing *bool) bool {
	from, next := c.legs[c.at], c.legs[to]
	switch {
	case next.plan != from.plan: // the rollback begins
		return c.run.failed && c.done(slices.IndexFunc(c.legs, func(l *leg) bool { return l.plan == next.plan }), to)
	case next.onFailure, *failing, next.tidies && !c.done(c.at, to):
		*failing = true
		return c.run.failed && (next.onFailure || next.tidies && next.stage == from.stage && !from.onFailure)
	}
	return c.done(c.at, to)
}

// done reports whether the legs in [from, to) have written everything that they must.
func (c *course) done(from, to int) bool {
	for _, l := range c.legs[from:to] {
		for _, t := range l.tasks {
			if !l.tidies && !l.onFailure && !t.done() {
				return false
			}
		}
	}
	return true
}

func (c *course) where() string {
	if len(c.legs) == 0 {
		return "no plan at all"
	}
	var ids []string
	for _, t := range c.legs[c.at].tasks {
		ids = append(ids, t.id)
	}
	return strings.Join(ids, ", ")
}

func (l *leg) take(w write, again bool) bool {
	return slices.ContainsFunc(l.tasks, func(t *task) bool { return t.due && t.take(w, again) })
}

func (t *task) take(w write, again bool) bool {
	for i := t.at; i < len(t.calls); i++ {
		one := &t.calls[i]
		if one.resource == w.resource && slices.Contains(one.verbs, w.verb) && (again || one.answered < one.times) {
			t.at, t.first = i, true
			one.asked++
			if w.code < 300 || w.verb == "delete" && (w.code == 404 || w.code == 409) { // the object is gone, or is another one
				one.answered++
			}
			return true
		}
		if one.answered == 0 && !one.optional {
			return false
		}
	}
	return false
}

func (t *task) hasWritten() bool { return t.first }

// done reports whether the step is over: it has written everything that it must, and what it
// waits for has happened.
func (t *task) done() bool {
	return t.told || !t.waits && !slices.ContainsFunc(t.calls, func(one sent) bool { return one.answered == 0 && !one.optional })
}

// callsOf returns the requests of a step, in order.
func callsOf(p *plan.Plan, s *plan.Step) []sent {
	on := resourceOf(s.Object)
	patch := sent{verbs: []string{"patch"}, resource: on, times: 1}
	if s.TakesOver() { // taking over is a separate write before it, repeated with each retry
		patch.times = 2
	}
	create, remove := sent{verbs: []string{"create"}, resource: on, times: 1}, sent{verbs: []string{"delete"}, resource: on, times: 1}
	if s.PatchType == types.ApplyPatchType {
		create = patch
	}
	switch s.Op {
	case plan.OpCreate:
		return []sent{create}
	case plan.OpPatch, plan.OpAdopt:
		return []sent{patch}
	case plan.OpReplace:
		return []sent{{verbs: []string{"update"}, resource: on, times: 1}}
	case plan.OpRecreate:
		return []sent{remove, create}
	case plan.OpDelete:
		return []sent{remove}
	case plan.OpRun:
		switch {
		case s.InPlace():
			return []sent{patch}
		case s.Before != nil: // it stays as it is
			return nil
		}
		create.optional = s.Object.IsCRD()
		return []sent{create}
	case plan.OpRecord:
		return recordCalls(p, s.Record)
	case plan.OpKeep, plan.OpWait, plan.OpNone:
	}
	return nil
}

// recordCalls returns the requests of a record step: first the revision, if it writes one, then
// the older ones.
func recordCalls(p *plan.Plan, r *plan.Record) []sent {
	on := func(version int) resource {
		return resource{resource: "secrets", namespace: p.Release.Namespace, name: releasestore.ObjectName(p.Release.Name, version)}
	}
	verb := "update"
	if r.Status.Pending() && r.Revision != p.FromRevision {
		verb = "create"
	}
	var calls []sent
	if r.Revision != 0 {
		calls = append(calls, sent{verbs: []string{verb}, resource: on(r.Revision), times: 1})
	}
	for _, version := range slices.Concat(r.Fail, r.Supersede) {
		calls = append(calls, sent{verbs: []string{"update"}, resource: on(version), optional: true, owed: true, times: 1})
	}
	for _, version := range r.Prune {
		calls = append(calls, sent{verbs: []string{"delete"}, resource: on(version), optional: true, owed: true, times: 1})
	}
	return calls
}

func resourceOf(id manifest.ID) resource {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: id.Group, Kind: id.Kind})
	return resource{group: id.Group, resource: plural.Resource, namespace: id.Namespace, name: id.Name}
}
