package controller

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// maxCharts is how many bytes of charts are kept for the next release of the same
// artifact.
const maxCharts = 32 << 20

// charts caches the charts of artifacts by digest, and keeps the most recently used.
type charts struct {
	downloads *downloads
	once      singleflight.Group

	mu    sync.Mutex
	kept  map[string]*list.Element
	order list.List // of keptChart, the most recently used in front
	bytes int
}

type keptChart struct {
	digest string
	chart  *chart.Chart
	bytes  int
}

func newCharts(d *downloads) *charts { return &charts{downloads: d, kept: map[string]*list.Element{}} }

// of returns the chart of an artifact, which nobody may modify. It returns
// reconcile.ErrArtifactGone if the server does not have the artifact, or the error of the
// download. The room that was taken to load it is taken until done is called; a chart that is cached, or that
// another call loads at the same time, takes none.
func (c *charts) of(ctx context.Context, a *flux.Artifact) (_ *chart.Chart, done func(), _ error) {
	done = func() {}
	if have := c.known(a.Digest); have != nil {
		return have, done, nil
	}
	mine := false
	loaded, err, _ := c.once.Do(a.Digest+" "+a.URL, func() (any, error) {
		mine = true
		loaded, ready, err := c.downloads.chart(ctx, a)
		if err == nil {
			done = ready
			c.keep(a.Digest, loaded)
		}
		return loaded, err
	})
	if !mine && errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return c.of(ctx, a) // it is the other call that has been cancelled
	}
	if errors.Is(err, errGone) {
		return nil, nil, fmt.Errorf("%w: %w", reconcile.ErrArtifactGone, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return loaded.(*chart.Chart), done, nil
}

func (c *charts) known(digest string) *chart.Chart {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[digest]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(keptChart).chart
}

func (c *charts) keep(digest string, loaded *chart.Chart) {
	k := keptChart{digest: digest, chart: loaded, bytes: weight(loaded)}
	if k.bytes > maxCharts {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[digest] != nil {
		return
	}
	c.kept[digest] = c.order.PushFront(k)
	for c.bytes += k.bytes; c.bytes > maxCharts; {
		last := c.order.Remove(c.order.Back()).(keptChart)
		delete(c.kept, last.digest)
		c.bytes -= last.bytes
	}
}

// weight returns the size in bytes of a chart's templates and files, including those of
// its subcharts.
func weight(c *chart.Chart) int {
	n := 0
	for _, files := range [][]*chart.File{c.Templates, c.Files} {
		for _, f := range files {
			n += len(f.Data)
		}
	}
	for _, sub := range c.Dependencies() {
		n += weight(sub)
	}
	return n
}
