package apply

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// During a wait the causes of delays are looked up every lookEvery: new troubles are reported
// immediately, other reasons once the wait has lasted for patience. Where a lookup takes long, such as in a
// namespace with thousands of pods, which are all listed, the pause is restFor times as long, up to patience, to
// spare the API server. Logs are read for at most maxLogs objects per lookup.
const (
	lookEvery = 2 * time.Second
	patience  = 30 * time.Second
	restFor   = 9
	maxLogs   = 3
)

// Asked is an object whose Reasons are wanted.
type Asked struct {
	Ref
	// Object is its state when last seen; nil if it was never seen.
	Object *unstructured.Unstructured
	// Since is when it was last written; older events are ignored. Zero means that none are.
	Since time.Time
}

// explain reports why the objects of a wait are not ready, each cause once.
func (w *waiter) explain(ctx context.Context) {
	pause := lookEvery
	for waited := pause; w.run.env.Sleep(ctx, pause) == nil && ctx.Err() == nil; waited += pause {
		began := w.run.env.Now()
		w.look(ctx, waited >= patience)
		took := w.run.env.Now().Sub(began)
		pause = min(max(lookEvery, restFor*took), patience)
		waited += took
	}
}

// look reports the new troubles of the objects that are not ready or, with all, their other new
// reasons as well.
func (w *waiter) look(ctx context.Context, all bool) {
	w.mu.Lock()
	open, asked := w.waiting()
	w.mu.Unlock()
	if len(open) == 0 {
		return
	}
	logs := 0
	for i, reasons := range w.run.env.Cluster.Reasons(ctx, asked) {
		p := open[i]
		if !all {
			reasons = slices.DeleteFunc(reasons, func(r Reason) bool { return !r.Trouble })
		}
		if !p.unheard(reasons) {
			continue
		}
		diagnosis := Diagnosis{Reasons: reasons}
		if logs++; logs <= maxLogs {
			diagnosis.Log = w.run.env.Cluster.Diagnose(ctx, p.ref, p.since).Log
		}
		w.mu.Lock()
		if ctx.Err() == nil && w.open[p.step.ID] == p {
			w.tell(StepProgress, p, diagnosis)
		}
		w.mu.Unlock()
	}
}

// waiting returns the objects that have yet to become ready. The caller holds the mutex.
func (w *waiter) waiting() (open []*pending, asked []Asked) {
	for _, id := range slices.Sorted(maps.Keys(w.open)) {
		if p := w.open[id]; !p.gone {
			open = append(open, p)
			asked = append(asked, Asked{Ref: p.ref, Object: p.last, Since: p.since})
		}
	}
	return open, asked
}

// blocked returns the first open object that has troubles, else the first open one, and the reasons
// of all of them. The caller holds the mutex.
func (w *waiter) blocked(ctx context.Context) (*pending, []Reason) {
	open, asked := w.waiting()
	if len(open) == 0 {
		return w.first(), nil
	}
	worst := w.first()
	var all []Reason
	for i, reasons := range slices.Backward(w.run.env.Cluster.Reasons(ctx, asked)) {
		if slices.ContainsFunc(reasons, func(r Reason) bool { return r.Trouble }) {
			worst = open[i]
		}
		all = append(reasons, all...)
	}
	return worst, Grouped(all)
}

// unheard reports whether any of the causes has not been reported yet, and marks all as reported.
func (p *pending) unheard(reasons []Reason) bool {
	is := false
	for _, r := range reasons {
		if !p.told[r.Cause] {
			is = true
			p.told[r.Cause] = true
		}
	}
	return is
}
