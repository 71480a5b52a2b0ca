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
	// by is the digest of the chart that is being rendered for a HelmRelease.
	by map[client.ObjectKey]string
}

func newBudget(total int64, used func(int64)) *budget {
	return &budget{
		free: semaphore.NewWeighted(total), total: total, used: used,
		rendered: map[string]int{}, by: map[client.ObjectKey]string{},
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

// share estimates what the pass over a chart takes.
func (b *budget) share(digest string, c *chart.Chart) int64 {
	b.mu.Lock()
	rendered, known := b.rendered[digest]
	b.mu.Unlock()
	n := leastShare + timesChart*int64(weight(c)) + timesRendered*int64(rendered)
	if !known {
		n = max(n, b.total/unknownCharts)
	}
	return min(n, b.total)
}

// take waits until there is room for a pass over the chart. The function that comes back
// makes room again; it may be called more than once. Errors: the context's.
func (b *budget) take(ctx context.Context, key client.ObjectKey, digest string, c *chart.Chart) (func(), error) {
	n := b.share(digest, c)
	if err := b.free.Acquire(ctx, n); err != nil {
		return nil, err
	}
	b.used(n)
	b.mu.Lock()
	b.by[key] = digest
	b.mu.Unlock()
	return sync.OnceFunc(func() {
		b.mu.Lock()
		delete(b.by, key)
		b.mu.Unlock()
		b.used(-n)
		b.free.Release(n)
	}), nil
}

// learn notes how many bytes the chart of the HelmRelease has rendered to.
func (b *budget) learn(key client.ObjectKey, rendered int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	digest, ok := b.by[key]
	if !ok {
		return
	}
	if have, known := b.rendered[digest]; known && have >= rendered {
		return
	}
	if len(b.rendered) >= maxKnown {
		clear(b.rendered)
	}
	b.rendered[digest] = rendered
}
