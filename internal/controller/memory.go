package controller

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// budget bounds what all passes that render may take of memory at a time, in bytes, so
// that it does not depend on how many there are.
type budget struct {
	free  *semaphore.Weighted
	total int64
	// used is told of what is taken and given back.
	used func(bytes int64)

	mu sync.Mutex
	// rendered is how much charts have rendered to, at most, by their artifacts' digests.
	rendered map[string]int
	// held is what passes over HelmReleases hold at present.
	held map[client.ObjectKey]*hold
}

// hold is what a pass holds of the budget for a chart.
type hold struct {
	digest string
	chart  int
	bytes  int64
}

func newBudget(total int64, used func(int64)) *budget {
	return &budget{
		free: semaphore.NewWeighted(total), total: total, used: used,
		rendered: map[string]int{}, held: map[client.ObjectKey]*hold{},
	}
}

// Shares of the budget. A pass holds templates, the rendered text, and each object of it
// as it is wanted, stored, live, predicted, and in the plan.
const (
	leastShare    = 1 << 20
	timesChart    = 12
	timesRendered = 12
	// unknownCharts is how many charts may be rendered side by side of which nobody knows
	// yet what they render to.
	unknownCharts = 4
	// maxKnown is of how many artifacts that is remembered.
	maxKnown = 4096
)

// share estimates what the pass over a chart of so many bytes takes.
func (b *budget) share(digest string, size int) int64 {
	rendered, known := b.rendered[digest]
	n := leastShare + timesChart*int64(size) + timesRendered*int64(rendered)
	if !known {
		n = max(n, b.total/unknownCharts)
	}
	return min(n, b.total)
}

// take waits until there is room for a pass over the chart. The function that comes back
// makes room again; it may be called more than once. Errors: the context's.
func (b *budget) take(ctx context.Context, key client.ObjectKey, digest string, c *chart.Chart) (func(), error) {
	mine := &hold{digest: digest, chart: weight(c)}
	b.mu.Lock()
	mine.bytes = b.share(digest, mine.chart)
	b.mu.Unlock()
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

// keep gives back all but so many bytes.
func (b *budget) keep(h *hold, bytes int64) {
	if back := h.bytes - bytes; back > 0 {
		b.used(-back)
		b.free.Release(back)
		h.bytes = bytes
	}
}

// rest gives back all that the pass over the HelmRelease holds, because it runs a hook or
// waits: were that counted, enough releases that never get ready would keep out even what
// mends them. Of a pass that waits little more is left than its plan.
func (b *budget) rest(key client.ObjectKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.held[key]; h != nil {
		b.keep(h, 0)
	}
}

// learn notes how many bytes the chart has rendered to for the HelmRelease. What its pass
// holds above that is given back.
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
