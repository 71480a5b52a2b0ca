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
		return fmt.Errorf("stopped while waiting for %s: %w", w.names(), context.Cause(ctx))
	}
	first := w.first()
	gaveUp := fmt.Sprintf(" (gave up after %s)", limit)
	if ctx.Err() != nil {
		gaveUp = fmt.Sprintf(" (gave up: %v)", context.Cause(ctx))
	}
	err := w.notReady(ctx, first, first.why+gaveUp, false)
	for _, id := range slices.Sorted(maps.Keys(w.open)) {
		if p := w.open[id]; p != first {
			w.run.observe(Event{Type: StepFailed, Stage: string(w.stage), Step: id, Object: p.step.Object, Message: p.why + gaveUp})
		}
	}
	if others := len(w.open) - 1; others > 0 {
		return fmt.Errorf("%w\nand %d more", err, others)
	}
	return err
}

func (w *waiter) notReady(ctx context.Context, p *pending, why string, failed bool) error {
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	troubles := slices.Concat(w.run.env.Cluster.Diagnose(look, p.ref, p.since), w.run.lastLines(look, p.step))
	w.run.observe(Event{Type: StepFailed, Stage: string(w.stage), Step: p.step.ID, Object: p.step.Object, Message: why, Reasons: troubles})
	return &NotReadyError{
		Object: p.step.Object.String(), Why: why, Failed: failed, Hook: p.step.Hook != nil, Troubles: troubles,
	}
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
	return fmt.Errorf("%w\nno longer waited for: %s", err, plan.Listed(others))
}

// waitLogLines is how much of the log of a Job or Pod that fails a wait is shown.
const waitLogLines = 8

// lastLines is the end of the log of a Job or a Pod of the chart. A hook's is
// shown by its log policy, and that of other kinds is among their troubles.
func (r *run) lastLines(ctx context.Context, s *plan.Step) []string {
	if s.Hook != nil || !s.Object.RunsToItsEnd() {
		return nil
	}
	text, err := r.env.Cluster.Logs(ctx, target(s), waitLogLines)
	if err != nil || text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = LogMark + line
	}
	return append([]string{fmt.Sprintf("%slog of %s:", LogMark, s.Object)}, lines...)
}
