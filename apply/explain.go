package apply

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Waits that take long are explained once, while there is still time to do
// something about it: how long that is, and of how many objects.
const (
	patience     = 30 * time.Second
	maxExplained = 3
)

// explain tells what holds up the first few objects when a wait takes long.
func (w *waiter) explain(ctx context.Context) {
	if w.run.env.Sleep(ctx, patience) != nil {
		return
	}
	for _, p := range w.firstFew() {
		behind := w.run.env.Cluster.Diagnose(ctx, p.ref, p.since)
		w.mu.Lock()
		if len(behind.Text()) > 0 && ctx.Err() == nil && w.open[p.step.ID] == p {
			w.tell(StepProgress, p, behind)
		}
		w.mu.Unlock()
	}
}

func (w *waiter) firstFew() []*pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	var few []*pending
	for _, id := range slices.Sorted(maps.Keys(w.open)) {
		if p := w.open[id]; !p.gone && len(few) < maxExplained {
			few = append(few, p)
		}
	}
	return few
}
