package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// stalling is a store to which the first attempt at recording a failure gets no answer.
type stalling struct {
	apply.Store
	stalled bool
}

func (s *stalling) Update(ctx context.Context, r *release.Revision) error {
	if r.Info.Status == release.StatusFailed && !s.stalled {
		s.stalled = true
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Update(ctx, r)
}

// The record of a failed run is written again if the first attempt gets no answer for as long as an attempt may
// take: a release must not stay pending.
func TestAFailureIsRecordedDespiteAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := installed(t)
		p := upgrade(t, w)
		env, store := w.Env(), &stalling{}
		store.Store, env.Store = env.Store, store
		w.Trouble = func(call int) clusterfake.Trouble {
			if call == 3 {
				return clusterfake.Trouble{Before: errors.New("refused")}
			}
			return clusterfake.Trouble{}
		}
		if _, err := apply.Run(t.Context(), p, env); err == nil || !store.stalled {
			t.Fatalf("%v, stalled %t", err, store.stalled)
		}
		if got := w.Records[2].Info.Status; got != release.StatusFailed {
			t.Errorf("the revision is %s", got)
		}
	})
}

// cramped is a store that has no room for a record with more than a few bytes beside what the pending one has.
type cramped struct {
	apply.Store
	room int
}

func (c cramped) Update(ctx context.Context, r *release.Revision) error {
	size := len(r.Info.Description)
	for _, h := range r.Hooks {
		size += len(h.LastRun.Phase)
	}
	if size > c.room {
		return apierrors.NewRequestEntityTooLargeError("the record does not fit")
	}
	return c.Store.Update(ctx, r)
}

// A revision whose end does not fit into its record is failed, not pending; an end that fits is recorded in full.
func TestAFailureThatDoesNotFitIsRecorded(t *testing.T) {
	for room, want := range map[int]string{
		1000: `Upgrade "web" failed: patch ConfigMap/changed: things "x" is forbidden: no`,
		50:   `Upgrade "web" failed: too large to record`,
	} {
		w := installed(t)
		p := upgrade(t, w)
		env := w.Env()
		env.Store = cramped{env.Store, room}
		w.Trouble = func(call int) clusterfake.Trouble {
			if call == 4 { // after the pending record and a hook
				return clusterfake.Trouble{Before: forbidden()}
			}
			return clusterfake.Trouble{}
		}
		if _, err := apply.Run(t.Context(), p, env); err == nil {
			t.Fatal("no error")
		}
		if got := w.Records[2].Info; got.Status != release.StatusFailed || got.Description != want {
			t.Errorf("room for %d: it is %s: %s", room, got.Status, got.Description)
		}
	}
}

// A success that does not fit into the record is a failure: the next run has to know.
func TestASuccessThatDoesNotFitIsAFailure(t *testing.T) {
	w := installed(t)
	p := plannedWith(t, w, plan.Upgrade, revision(2, after), plan.Options{Description: strings.Repeat("x", 100)})
	env := w.Env()
	env.Store = cramped{env.Store, 50}
	if _, err := apply.Run(t.Context(), p, env); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("got %v", err)
	}
	if got := w.Records[2].Info.Status; got != release.StatusFailed {
		t.Errorf("the revision is %s", got)
	}
}

// The description of a failure has a limit: the record has to have room for it.
func TestALongFailureIsCut(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	w.Trouble = func(call int) clusterfake.Trouble {
		if call == 4 {
			return clusterfake.Trouble{Before: fmt.Errorf("%s: %w", strings.Repeat("ä", 9<<10), forbidden())}
		}
		return clusterfake.Trouble{}
	}
	if _, err := apply.Run(t.Context(), p, w.Env()); err == nil {
		t.Fatal("no error")
	}
	got := w.Records[2].Info.Description
	if len(got) > 4<<10+len("…") || !utf8.ValidString(got) || !strings.HasPrefix(got, `Upgrade "web" failed: `) || !strings.HasSuffix(got, "ä…") {
		t.Errorf("%d bytes: %.60s", len(got), got)
	}
}

// keeping is a store that removes nothing.
type keeping struct{ apply.Store }

func (keeping) Delete(context.Context, release.Key, int) error { return forbidden() }

// A failed run removes the old revisions that the plan names. If it can't, it says so; the failure is recorded.
func TestAFailedRunPrunes(t *testing.T) {
	for _, refused := range []bool{false, true} {
		w := installed(t)
		p, env, noted := upgrade(t, w), w.Env(), ""
		p.OnFailure.Stages[0].Waves[0].Steps[0].Record.Prune = []int{1}
		if refused {
			env.Store = keeping{env.Store}
		}
		env.Observer = ear(func(e apply.Event) {
			if e.Type == apply.Note {
				noted += e.Message
			}
		})
		w.Trouble = func(call int) clusterfake.Trouble {
			if call == 3 {
				return clusterfake.Trouble{Before: errors.New("refused")}
			}
			return clusterfake.Trouble{}
		}
		if _, err := apply.Run(t.Context(), p, env); err == nil || strings.Contains(err.Error(), "things") {
			t.Errorf("error %v", err)
		}
		_, statuses := state(w)
		if want := map[bool]string{false: "failed", true: "deployed,failed"}[refused]; statuses != want {
			t.Errorf("refused %v: the history is %s, want %s", refused, statuses, want)
		}
		if told := strings.HasPrefix(noted, "the failure is recorded, but "); told != refused {
			t.Errorf("refused %v: it notes %q", refused, noted)
		}
	}
}

// An uninstall that leaves records behind has not succeeded: the release would still be listed.
func TestAnUninstallThatKeepsRecordsFails(t *testing.T) {
	w := installed(t)
	p, env := planned(t, w, plan.Uninstall, nil), w.Env()
	env.Store = keeping{env.Store}
	if _, err := apply.Run(t.Context(), p, env); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}
