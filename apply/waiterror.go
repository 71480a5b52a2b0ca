package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// verdict turns what the watches have seen into an error, with the troubles of
// the object that holds up the rest.
func (w *waiter) verdict(ctx context.Context, limit time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.abandoned(w.notReady(ctx, w.failed, w.failed.why, true))
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
	gaveUp := fmt.Sprintf(" (gave up after %s)", limit)
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

// stopped tells of a wait that was broken off what it was waiting for, and why that
// was not ready: it may be why somebody has lost patience.
func (w *waiter) stopped(ctx context.Context) error {
	err := &NotReadyError{Object: w.names(), Stopped: context.Cause(ctx)}
	if w.run.fenced() != nil { // whose lock is lost does not linger
		return err
	}
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookEvery)
	defer cancel()
	worst, reasons := w.blocked(look)
	err.Diagnosis = w.run.env.Cluster.Diagnose(look, worst.ref, worst.since)
	err.Reasons = reasons
	return err
}

func (w *waiter) notReady(ctx context.Context, p *pending, why string, failed bool) error {
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	behind := w.run.env.Cluster.Diagnose(look, p.ref, p.since)
	if log, ok := w.run.lastLines(look, p.step); ok {
		behind.Log = log
	}
	err := &NotReadyError{
		Object: p.step.Object.String(), Why: why, Failed: failed, Hook: p.step.Hook != nil, Diagnosis: behind,
	}
	event := stepEvent(StepFailed, w.stage, p.step)
	event.Message, event.Diagnosis, event.Cause = why, behind, err
	w.run.observe(event)
	return err
}

// abandoned names what a wait that ends early no longer waits for.
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

// waitLogLines is how much of the log of a Job or Pod that fails a wait is shown.
const waitLogLines = 8

// lastLines is the end of the log of a Job or a Pod of the chart. A hook's is
// shown by its log policy, and that of other kinds is in their diagnosis.
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
