package apply_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// What a failed run has created is deleted as far as possible: one object that can't be deleted does not keep
// the others.
func TestACleanupGoesOnAfterAFailure(t *testing.T) {
	const created = 3 * retry.Concurrency // all deletions are in one wave; more of them than begin at the same time
	var text strings.Builder
	for i := range created {
		fmt.Fprintf(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c-%d, namespace: shop}\n---\n", i)
	}
	w := clusterfake.New()
	p := plannedWith(t, w, plan.Install, revision(1, text.String()), plan.Options{CleanupOnFail: true})
	w.Trouble = func(int) clusterfake.Trouble {
		if len(w.Log) > created { // the record, and all of them
			return clusterfake.Trouble{Before: forbidden()}
		}
		return clusterfake.Trouble{}
	}
	deletions, env := 0, w.Env()
	env.Observer = ear(func(e apply.Event) {
		if e.Type == apply.StepStarted && e.Op == plan.OpDelete {
			deletions++
		}
	})
	if _, err := apply.Run(t.Context(), p, env); err == nil {
		t.Fatal("no error")
	}
	if deletions != created {
		t.Errorf("%d of %d deletions were tried", deletions, created)
	}
}

// A run that has lost its lock leaves what its hooks have made to the next holder: it does not even try to
// delete it.
func TestAFencedRunCleansNothingUp(t *testing.T) {
	w := installed(t)
	env := w.Env()
	env.Lock = lockUntil{func() error {
		if slices.Contains(w.Log, "create Job/migrate") {
			return forbidden()
		}
		return nil
	}, nil}
	env.Observer = ear(func(e apply.Event) {
		if e.Type == apply.StepStarted && e.Op == plan.OpDelete {
			t.Errorf("it begins to delete %s", e.Object)
		}
	})
	if _, err := apply.Run(t.Context(), upgrade(t, w), env); err == nil {
		t.Fatal("no error")
	}
}
