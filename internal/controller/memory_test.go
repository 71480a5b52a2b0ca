package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opencontainers/go-digest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// Passes take as much of the budget as their charts rendered to before; few unknown charts
// are rendered at a time; one that is larger than the whole budget is rendered
// alone.
func TestBudgetOfBytes(t *testing.T) {
	const total = 256 << 20
	used := int64(0)
	b := newBudget(total*4/3, func(n int64) { used += n })
	c := &chart.Chart{Templates: []*chart.File{{Data: make([]byte, 1000)}}}
	sideBySide := func(digest string) int { return int(total / b.share(digest, weight(c))) }
	render := func(digest string, bytes int) {
		t.Helper()
		key := client.ObjectKey{Name: digest}
		free, err := b.take(t.Context(), key, digest, c)
		if err != nil {
			t.Fatal(err)
		}
		b.learn(key, bytes)
		if want := b.share(digest, weight(c)); used > want {
			t.Errorf("while %s is waited for it holds %d bytes, more than %d", digest, used, want)
		}
		free()
		free()
		b.learn(key, total) // has no effect: nothing is being rendered
	}
	if n := sideBySide("small"); n != 4 {
		t.Errorf("%d charts that nobody knows are rendered side by side, want 4", n)
	}
	for digest, of := range map[string]struct{ bytes, want int }{"small": {1000, 250}, "large": {5 << 20, 4}, "huge": {total, 1}} {
		render(digest, of.bytes)
		render(digest, of.bytes/2) // the largest size counts
		if n := sideBySide(digest); n != of.want {
			t.Errorf("%d %s charts are rendered side by side, want %d", n, digest, of.want)
		}
	}
	if used != 0 {
		t.Errorf("%d bytes were not given back", used)
	}
	free, err := b.take(t.Context(), client.ObjectKey{}, "huge", c)
	if err != nil || used != total {
		t.Errorf("%v, %d bytes are used", err, used)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := b.take(ended, client.ObjectKey{}, "small", c); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want to have waited", err)
	}
	free()
}

// An artifact that says no size may be as large as any.
func TestRoomToLoadWithoutASize(t *testing.T) {
	used, none, small := int64(0), int64(-1), int64(1000)
	b := newBudget(64<<20, func(n int64) { used += n })
	for _, c := range []struct {
		size *int64
		want int64
	}{{nil, 16 << 20}, {&none, 16 << 20}, {&small, timesArtifact * small}} {
		done, err := b.takeToLoad(t.Context(), c.size)
		if err != nil || used != c.want {
			t.Errorf("%v, %d bytes are used, want %d", err, used, c.want)
		}
		done()
	}
}

// A chart is downloaded only once there is room for it, and keeps that until there is room to render it. A look for
// drift takes a share, too, unless its pass has loaded the chart.
func TestRoomToLoadAndToCompare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		used, size := int64(0), int64(1<<20)
		memory := newBudget(4<<20, func(n int64) { used += n })
		r := &reconciler{memory: memory, charts: newCharts(newDownloads(0, memory.takeToLoad))}
		sum := digest.FromString("chart").String()
		key := client.ObjectKey{Name: "web"}
		in := reconcile.Sources{Source: &flux.Source{}}
		in.Source.Status.Artifact = &flux.Artifact{Digest: sum, Size: &size}
		release := r.provide(key, &in)
		blocked := func(what string, f func(context.Context) error) {
			t.Helper()
			ctx, end := context.WithTimeout(t.Context(), time.Second)
			defer end()
			if err := f(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", what, err)
			}
		}
		load := func(ctx context.Context) error { _, err := in.Chart(ctx); return err }

		loaded, err := r.memory.takeToLoad(t.Context(), &size)
		if err != nil {
			t.Fatal(err)
		}
		blocked("downloaded beside charts that are loaded", load)
		loaded()

		r.charts.keep(sum, &chart.Chart{})
		rendered, err := r.memory.takeToCompare(t.Context(), client.ObjectKey{Name: "other"}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		waits := make(chan error, 1)
		go func() { waits <- load(ctx) }()
		synctest.Wait()
		loaded, err = r.memory.takeToLoad(t.Context(), &size) // a chart that is in memory takes nothing of it
		if err != nil {
			t.Fatal(err)
		}
		if end(); !errors.Is(<-waits, context.Canceled) {
			t.Error("rendered beside charts that are rendered")
		}
		blocked("compared beside charts that are rendered", func(ctx context.Context) error { return in.Room(ctx, 1000) })
		loaded()
		rendered()

		if err := in.Room(t.Context(), 1000); err != nil || used == 0 {
			t.Errorf("%v, %d bytes are used to look for drift", err, used)
		}
		if err := load(t.Context()); err != nil {
			t.Error(err)
		}
		if have := used; in.Room(t.Context(), 1000) != nil || used != have {
			t.Errorf("a pass that has loaded its chart uses %d bytes, and %d to look for drift", have, used)
		}
		r.memory.rest(key)
		if have := used; in.Room(t.Context(), 1000) != nil || used <= have {
			t.Errorf("a pass that has waited uses %d bytes, and %d to look for drift", have, used)
		}
		if release(); used != 0 {
			t.Errorf("%d bytes are not given back", used)
		}
	})
}

// A pass that is cancelled while it waits for room is no error of another one that wants the same chart.
func TestRoomToLoadIsWaitedForByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("full")
		first, end := context.WithCancel(t.Context())
		c := newCharts(newDownloads(0, func(ctx context.Context, _ *int64) (func(), error) {
			if ctx != first {
				return nil, full
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		a := &flux.Artifact{Digest: digest.FromString("chart").String()}
		errs := make(chan error)
		go func() { _, _, err := c.of(first, a); errs <- err }()
		synctest.Wait()
		go func() { _, _, err := c.of(t.Context(), a); errs <- err }()
		synctest.Wait()
		end()
		if one, other := <-errs, <-errs; errors.Is(one, full) == errors.Is(other, full) || errors.Is(one, context.Canceled) == errors.Is(other, context.Canceled) {
			t.Errorf("%v; %v", one, other)
		}
	})
}

// Waiting passes hold none of the budget: however many wait, others are rendered.
func TestWaitsHoldNoBudget(t *testing.T) {
	used := int64(0)
	b := newBudget(4*leastShare, func(n int64) { used += n })
	c := &chart.Chart{}
	for i := range 100 {
		key := client.ObjectKey{Name: fmt.Sprint("web-", i)}
		ctx, end := context.WithCancel(t.Context())
		if used == b.total {
			end() // it would wait forever
		}
		free, err := b.take(ctx, key, "bad", c)
		end()
		if err != nil {
			t.Fatalf("%s finds %d bytes taken: %v", key, used, err)
		}
		defer free()
		b.learn(key, 1000)
		b.rest(key)
		b.learn(key, 1000) // for the plan of the remedy
	}
	if used != 0 {
		t.Errorf("%d bytes are held by what waits", used)
	}
}
