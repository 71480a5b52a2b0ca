package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/plan"
)

// verdict turns the result of the watches into an error, with a diagnosis of the object that holds
// up the wait.
func (w *waiter) verdict(ctx context.Context, limit time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.abandoned(w.notReady(ctx, w.failed, w.failed.why, true))
	}
	gaveUp := fmt.Sprintf(" (gave up after %s)", limit)
	if w.run.plan.Undoing && w.run.plan.Operation == plan.Uninstall && w.stage == plan.StageWait && ctx.Err() == nil {
		w.remains(gaveUp)
		return nil
	}
	if w.err != nil {
		return w.err
	}
	if len(w.open) == 0 {
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return w.stopped(ctx)
	}
	if ctx.Err() != nil {
		gaveUp = fmt.Sprintf(" (gave up: %v)", context.Cause(ctx))
	}
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookEvery)
	defer cancel()
	first, _ := w.blocked(look)
	err := w.notReady(ctx, first, first.why+gaveUp, false)
	for _, id := range slices.Sorted(maps.Keys(w.open)) {
		if p := w.open[id]; p != first {
			late := stepEvent(StepFailed, w.stage, p.step)
			late.Message = p.why + gaveUp
			w.run.observe(late)
		}
	}
	if others := len(w.open) - 1; others > 0 {
		return &wordedError{err: err, after: fmt.Sprintf("and %d more", others)}
	}
	return err
}

// remains notes what is not known to be gone when the uninstall that undoes a failed run ends to wait for
// that. All of it has been deleted, so the uninstall goes on, as Helm's does (4.3.1,
// pkg/action/uninstall.go, Run).
func (w *waiter) remains(gaveUp string) {
	for _, id := range slices.Sorted(maps.Keys(w.open)) {
		p := w.open[id]
		why := p.why + gaveUp
		if w.err != nil {
			why = textOf(linesOf(w.err, false))
		}
		event := stepEvent(StepFailed, w.stage, p.step)
		event.Message = why
		w.run.observe(event)
		w.run.remaining = append(w.run.remaining, p.step.Object.String()+": "+why)
	}
}

// stopped returns the error of a wait that was stopped. It says which objects were not ready, and
// why: that may be the reason for stopping it.
func (w *waiter) stopped(ctx context.Context) error {
	err := &NotReadyError{Object: w.names(), Stopped: context.Cause(ctx)}
	if w.run.lost() != nil { // without the lock the run ends immediately
		return err
	}
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookEvery)
	defer cancel()
	worst, reasons := w.blocked(look)
	err.Diagnosis = w.run.env.Cluster.Diagnose(look, worst.ref, worst.since)
	err.Reasons = reasons
	return err
}

// notReady returns the error for one object, with its diagnosis, and reports it as StepFailed.
func (w *waiter) notReady(ctx context.Context, p *pending, why string, failed bool) error {
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	diagnosis := w.run.env.Cluster.Diagnose(look, p.ref, p.since)
	if log, ok := w.run.lastLines(look, p.step); ok {
		diagnosis.Log = log
	}
	err := &NotReadyError{
		Object: p.step.Object.String(), Why: why, Failed: failed, Hook: p.step.Hook != nil, Diagnosis: diagnosis,
	}
	event := stepEvent(StepFailed, w.stage, p.step)
	event.Message, event.Diagnosis, event.Cause = why, diagnosis, err
	w.run.observe(event)
	return err
}

// lost judges an object that no longer exists: it can't become ready. instead is the object that now has its
// name, or nil.
func (p *pending) lost(instead *unstructured.Unstructured) readiness.Result {
	why := "it was deleted during the wait"
	if p.step.Object.RunsToItsEnd() {
		why = "it was deleted before its end was seen"
		if seen := cmp.Or(p.last, p.step.Body); seen != nil {
			if ttl, ok, _ := unstructured.NestedFieldNoCopy(seen.Object, "spec", "ttlSecondsAfterFinished"); ok {
				why += fmt.Sprintf(" (its ttlSecondsAfterFinished is %v)", ttl)
			}
		}
		why += ", so whether it succeeded is not known"
	}
	if instead != nil {
		why += "; another object now has its name"
	}
	return readiness.Result{State: readiness.Failed, Why: why}
}

// abandoned adds the objects that are no longer waited for when a wait fails early.
func (w *waiter) abandoned(err error) error {
	var others []manifest.ID
	for _, id := range slices.Sorted(maps.Keys(w.open)) {
		if p := w.open[id]; p != w.failed {
			others = append(others, p.step.Object)
		}
	}
	if len(others) == 0 {
		return err
	}
	return &wordedError{err: err, after: "no longer waited for: " + plan.SummarizeObjects(others)}
}

// waitLogLines is how many lines of a log are shown when a Job or Pod fails a wait.
const waitLogLines = 8

// lastLines returns the end of the log of a Job or Pod that is not a hook. Logs of hooks follow
// their log policy, and those of other kinds' pods are in the diagnosis.
func (r *run) lastLines(ctx context.Context, s *plan.Step) (log Log, ok bool) {
	if s.Hook != nil || !s.Object.RunsToItsEnd() {
		return Log{}, false
	}
	text, err := r.env.Cluster.Logs(ctx, target(s), waitLogLines)
	if err != nil || text == "" {
		return Log{}, false
	}
	return Log{Of: s.Object.String(), Lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}, true
}
