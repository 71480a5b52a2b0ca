package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/plan"
)

func (r *run) timeout() time.Duration {
	if t := r.plan.Options.Timeout; t > 0 {
		return t
	}
	return plan.DefaultTimeout
}

// watchKey is what one watch covers.
type watchKey struct {
	gvk       schema.GroupVersionKind
	namespace string
}

// NotReadyError says that a wait did not succeed.
type NotReadyError struct {
	// Object and Why are the first object that is not ready, and its state.
	Object string
	Why    string
	// Failed is true when it can no longer become ready, false after a timeout.
	Failed bool
	// Hook is true for a hook: the caller names the object.
	Hook bool
	// Stopped is why the wait was stopped; nil when it was not.
	Stopped error
	// Diagnosis explains why the object is not ready.
	Diagnosis
}

// waitAll watches until every step's object is ready, or one of them never can be.
func (r *run) waitAll(ctx context.Context, stage plan.StageName, steps []plan.Step) error {
	w := &waiter{run: r, stage: stage, relations: NewRelations(r.env.Cluster, r.env.Now, time.Minute), open: map[string]*pending{}}
	watched := map[watchKey][]*pending{}
	for i := range steps {
		s := &steps[i]
		ref := target(s)
		left := r.left(s.Object)
		p := &pending{
			step: s, ref: ref, uid: r.expected(s), gone: s.Op == plan.OpWait && s.Expect.Absent,
			why: unseen, before: left, since: readiness.LastWritten(left), told: map[string]bool{},
		}
		w.open[s.ID] = p
		at := watchKey{ref.GVK(), ref.Namespace}
		watched[at] = append(watched[at], p)
		r.observe(stepEvent(StepStarted, stage, s))
	}
	limit := r.timeout()
	watching, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	w.cancel = cancel

	var group sync.WaitGroup
	for at, objects := range watched {
		group.Go(func() { w.watch(watching, at, objects) })
	}
	looking, enough := context.WithCancel(watching)
	defer enough()
	var look sync.WaitGroup
	look.Go(func() { w.explain(looking) })
	group.Wait()
	enough()
	look.Wait()
	return w.verdict(ctx, limit)
}

// awaited returns a map of the objects that the plan waits for, hooks included.
func awaited(p *plan.Plan) map[manifest.ID]*unstructured.Unstructured {
	all := map[manifest.ID]*unstructured.Unstructured{}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpRun || s.Op == plan.OpWait {
			all[s.Object] = nil
		}
	})
	return all
}

// expected returns the UID of the object to wait for, "" when any object will do.
func (r *run) expected(s *plan.Step) types.UID {
	if uid := r.uid(s.Object); uid != "" {
		return uid
	}
	return s.Expect.UID
}

// unseen is the state of an object before any was seen.
const unseen = "nothing is known yet"

// pending is the state of one object during a wait.
type pending struct {
	step *plan.Step
	ref  Ref
	uid  types.UID
	// gone says that the wait is for the object's deletion, not for readiness.
	gone bool
	why  string
	// before is the object as this run has written it or, if the run has written only other
	// objects, as the wait first saw it: those objects may be what it was waiting for. If the run
	// has written nothing, before is nil: an object that failed earlier is still failed.
	before *unstructured.Unstructured
	// since is when this run wrote the object; zero when it did not.
	since time.Time
	// last is the last state of the object that was seen; told are the causes already reported.
	last *unstructured.Unstructured
	told map[string]bool
}

// waiter collects the states of all objects of a wait.
type waiter struct {
	run       *run
	stage     plan.StageName
	relations *Relations
	cancel    context.CancelFunc

	mu     sync.Mutex
	open   map[string]*pending
	failed *pending
	err    error
}

func (w *waiter) watch(ctx context.Context, at watchKey, objects []*pending) {
	byName := map[string]*pending{}
	names := make([]string, 0, len(objects))
	for _, p := range objects {
		byName[p.ref.Name] = p
		names = append(names, p.ref.Name)
	}
	err := w.run.env.Cluster.Watch(ctx, at.gvk, at.namespace, names, func(name string, object *unstructured.Unstructured) bool {
		if p := byName[name]; p != nil && w.see(ctx, p, object) {
			delete(byName, name)
		}
		return len(byName) > 0
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		w.err = errors.Join(w.err, fmt.Errorf("watch %s: %w", at.gvk.Kind, err))
		w.cancel()
	}
	if unread, ok := errors.AsType[*UnreadError](err); ok {
		for _, p := range byName {
			if p.why == unseen {
				p.why = "its state is not known: " + unread.Err.Error()
			} else {
				p.why += "; since then it can't be read: " + unread.Err.Error()
			}
		}
	}
}

// see records one state of an object; true means that the object needs no more watching.
func (w *waiter) see(ctx context.Context, p *pending, object *unstructured.Unstructured) bool {
	result := w.check(ctx, p, object)
	w.mu.Lock()
	defer w.mu.Unlock()
	changed := p.why != result.Why
	p.why, p.last = result.Why, object
	switch result.State {
	case readiness.Ready, readiness.Unknown:
		delete(w.open, p.step.ID)
		p.before, p.last = nil, nil // there may be many, and large ones, so they are freed early
		w.tell(StepDone, p, Diagnosis{})
		return true
	case readiness.Failed:
		if w.failed == nil {
			w.failed = p
		}
		w.cancel() // verdict reports it with its reasons
		return true
	case readiness.Progressing:
		if changed {
			w.tell(StepProgress, p, Diagnosis{})
		}
	}
	return false
}

// tell reports an object's state and its explanation.
func (w *waiter) tell(t EventType, p *pending, diagnosis Diagnosis) {
	event := stepEvent(t, w.stage, p.step)
	event.Message, event.Diagnosis = p.why, diagnosis
	w.run.observe(event)
}

// check judges one state of an object: whether it is ready, or gone, or has ended as a hook.
func (w *waiter) check(ctx context.Context, p *pending, object *unstructured.Unstructured) readiness.Result {
	if p.gone {
		if object == nil || (p.uid != "" && object.GetUID() != p.uid) {
			return readiness.Result{State: readiness.Ready, Why: "it is gone"}
		}
		return readiness.Result{State: readiness.Progressing, Why: "it is still being deleted" + held(object)}
	}
	if p.uid != "" && (object == nil || object.GetUID() != p.uid) {
		return p.lost(object)
	}
	if p.before == nil && w.run.written.Load() {
		p.before = object
	}
	at := readiness.Context{WaitForJobs: w.run.plan.Options.WaitForJobs, Before: p.before}
	if p.step.Hook != nil {
		return readiness.HookDone(object, at)
	}
	if w.run.env.Readiness != nil && object != nil {
		if result, judged := w.run.env.Readiness(object); judged {
			return result
		}
	}
	at.Related = w.relations.Of(ctx, object)
	return readiness.Check(object, at)
}

// first returns the open object with the smallest ID, so that messages are stable.
func (w *waiter) first() *pending {
	var first *pending
	for _, p := range w.open {
		if first == nil || p.step.ID < first.step.ID {
			first = p
		}
	}
	return first
}

func (w *waiter) names() string {
	first := w.first().step.Object.String()
	if n := len(w.open) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", first, n)
	}
	return first
}
