package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Passes take as much of the budget as their charts rendered to before; few unknown charts
// are rendered at a time; one that is larger than the whole budget is rendered
// alone.
func TestBudgetOfBytes(t *testing.T) {
	const total = 256 << 20
	used := int64(0)
	b := newBudget(total, func(n int64) { used += n })
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
