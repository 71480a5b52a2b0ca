package controller

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// budget bounds the memory, in bytes, that all passes that load a chart, render it or look for
// drift may take at a time, so it does not depend on how many there are.
type budget struct {
	free  *semaphore.Weighted
	total int64
	// loading is for charts from their download until there is room to render them. Separate from
	// free: a pass takes its share of free while it still holds this one, and from a single semaphore
	// such passes could deadlock.
	loading      *semaphore.Weighted
	totalLoading int64
	// used is called with the number of bytes taken, or, negative, given back.
	used func(bytes int64)

	mu sync.Mutex
	// rendered is the largest size in bytes that charts have rendered to, by their
	// artifacts' digests.
	rendered map[string]int
	// held is what the passes over HelmReleases currently hold.
	held map[client.ObjectKey]*hold
}

// hold is the part of the budget that a pass holds, for a chart or, without a digest, to look for
// drift.
type hold struct {
	digest string
	chart  int
	bytes  int64
}

func newBudget(total int64, used func(int64)) *budget {
	loading := total / loadingPart
	total -= loading
	return &budget{
		free: semaphore.NewWeighted(total), total: total, loading: semaphore.NewWeighted(loading), totalLoading: loading, used: used,
		rendered: map[string]int{}, held: map[client.ObjectKey]*hold{},
	}
}

// Shares of the budget. A pass holds templates, the rendered text, and each rendered
// object as it is wanted, stored, live, predicted, and in the plan.
const (
	leastShare    = 1 << 20
	timesChart    = 12
	timesRendered = 12
	// timesArtifact is for a chart that is loaded: its archive, which is compressed, and its files.
	timesArtifact = 12
	// loadingPart is which part of the budget is for charts that are loaded: a quarter.
	loadingPart = 4
	// unknownCharts is how many charts may be rendered side by side whose rendered size
	// is not known yet.
	unknownCharts = 4
	// maxKnown is for how many artifacts the rendered size is remembered.
	maxKnown = 4096
)

// share estimates how many bytes of memory a pass over a chart of the given size takes.
// The caller holds mu.
func (b *budget) share(digest string, size int) int64 {
	rendered, known := b.rendered[digest]
	n := leastShare + timesChart*int64(size) + timesRendered*int64(rendered)
	if !known {
		n = max(n, b.total/unknownCharts)
	}
	return min(n, b.total)
}

// takeToLoad waits until there is room to download and load an artifact of the given size; one whose size is
// unknown (nil, or negative) takes all of it. The returned function makes room again. The only error is that of ctx.
func (b *budget) takeToLoad(ctx context.Context, artifact *int64) (func(), error) {
	bytes := b.totalLoading
	if artifact != nil && *artifact >= 0 {
		bytes = min(timesArtifact*min(*artifact, maxArtifact), b.totalLoading)
	}
	if err := b.loading.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	b.used(bytes)
	return func() {
		b.used(-bytes)
		b.loading.Release(bytes)
	}, nil
}

// take waits until there is room for a pass over the chart. The returned function makes
// room again; it may be called more than once. The only error is that of ctx.
func (b *budget) take(ctx context.Context, key client.ObjectKey, digest string, c *chart.Chart) (func(), error) {
	mine := &hold{digest: digest, chart: weight(c)}
	b.mu.Lock()
	mine.bytes = b.share(digest, mine.chart)
	b.mu.Unlock()
	return b.acquire(ctx, key, mine)
}

// takeToCompare is like take, for a pass that compares a manifest of the given size with live
// objects, and loads no chart.
func (b *budget) takeToCompare(ctx context.Context, key client.ObjectKey, manifest int) (func(), error) {
	return b.acquire(ctx, key, &hold{bytes: min(leastShare+timesRendered*int64(manifest), b.total)})
}

func (b *budget) acquire(ctx context.Context, key client.ObjectKey, mine *hold) (func(), error) {
	if err := b.free.Acquire(ctx, mine.bytes); err != nil {
		return nil, err
	}
	b.used(mine.bytes)
	b.mu.Lock()
	b.held[key] = mine
	b.mu.Unlock()
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.keep(mine, 0)
		if b.held[key] == mine {
			delete(b.held, key)
		}
	}, nil
}

// keep gives back all but the given number of bytes. The caller holds mu.
func (b *budget) keep(h *hold, bytes int64) {
	if back := h.bytes - bytes; back > 0 {
		b.used(-back)
		b.free.Release(back)
		h.bytes = bytes
	}
}

// rest gives back all that the pass over the HelmRelease holds, because it runs a hook or
// waits. If waiting passes counted, enough releases that never become ready would block
// even the passes that fix them. A waiting pass needs little more memory than its plan.
func (b *budget) rest(key client.ObjectKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.held[key]; h != nil {
		b.keep(h, 0)
	}
}

// holds reports whether a pass over the HelmRelease has a share of the budget.
func (b *budget) holds(key client.ObjectKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.held[key]
	return h != nil && h.bytes > 0
}

// learn records how many bytes the chart has rendered to for the HelmRelease, and gives
// back what its pass no longer needs to hold.
func (b *budget) learn(key client.ObjectKey, rendered int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.held[key]
	if h == nil {
		return
	}
	if have, known := b.rendered[h.digest]; !known || have < rendered {
		if len(b.rendered) >= maxKnown {
			clear(b.rendered)
		}
		b.rendered[h.digest] = rendered
	}
	b.keep(h, b.share(h.digest, h.chart))
}
