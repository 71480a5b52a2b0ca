package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// hookLogLines is how many lines are shown of the log of a hook that has failed, if nobody asked for it.
const hookLogLines = 20

// hook creates the hook's object and watches it until it ends.
func (r *run) hook(ctx context.Context, stage plan.StageName, s *plan.Step) error {
	var err error
	if s.Hook.Underway { // an interrupted run has created it
		r.mu.Lock()
		r.uids[s.Object] = s.Expect.UID
		r.mu.Unlock()
	} else {
		r.phase(s, release.PhaseRunning)
		err = r.startHook(ctx, s)
	}
	if err == nil {
		err = r.waitAll(ctx, stage, []plan.Step{*s})
	}
	if err != nil {
		if !leaves(ctx) && r.lost() == nil { // without the lock the run ends immediately
			r.phase(s, release.PhaseFailed)
			r.hookLog(ctx, s, manifest.HookFailed, true)
		}
		return &wordedError{before: fmt.Sprintf("%s hook %s: ", s.Hook.Event, s.Object), err: err}
	}
	r.phase(s, release.PhaseSucceeded)
	if err := r.keepPhases(ctx); err != nil {
		return err
	}
	r.hookLog(ctx, s, manifest.HookSucceeded, false)
	return nil
}

// startHook creates the hook's object, or converts a former resource into it.
func (r *run) startHook(ctx context.Context, s *plan.Step) error {
	if s.InPlace() {
		return r.convert(ctx, s)
	}
	there, err := r.freePlace(ctx, s)
	if err != nil || there {
		return err
	}
	if err := r.keepPhases(ctx); err != nil {
		return err
	}
	var created *unstructured.Unstructured
	err = r.try(ctx, s, func(ctx context.Context, again bool) (err error) {
		created, err = r.env.Cluster.Create(ctx, s.Body, r.writeOptions(s))
		if apierrors.IsAlreadyExists(err) && again {
			created, err = r.recognise(ctx, s, again, err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	r.wrote(s, created)
	return nil
}

// convert turns a former resource into a hook. Server-side apply also removes the release's
// ownership metadata.
func (r *run) convert(ctx context.Context, s *plan.Step) error {
	if err := r.serverSideApply(ctx, s); err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	return nil
}

// freePlace makes sure that the hook's name is free. An object of that name that was created since
// the plan was made is an error, unless it is being deleted: then freePlace waits. there is true if
// the object is a CRD equal to the hook's. Thanks to this check, an object found after a lost
// response is the hook's own.
func (r *run) freePlace(ctx context.Context, s *plan.Step) (there bool, err error) {
	var live *unstructured.Unstructured
	err = r.try(ctx, s, func(ctx context.Context, _ bool) (err error) {
		live, err = r.env.Cluster.Get(ctx, target(s))
		return err
	})
	switch {
	case retry.Missing(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for an earlier run: %w", err)
	case live.GetDeletionTimestamp() != nil: // its deletion is under way
		if err := r.gone(ctx, target(s), live.GetUID()); err != nil {
			return false, fmt.Errorf("wait for the earlier run to be deleted: %w", err)
		}
		return false, nil
	case s.Object.IsCRD() && patch.InSync(s.Body, live, s.Body):
		return true, nil
	}
	return false, errors.New("an object with this name was created after the plan was made and was not touched: delete it by hand, or plan again")
}

// makeRoom deletes the object that has the hook's name, and waits until it is gone. A conflict means
// that another object has replaced it; the hook's own step deals with that one.
func (r *run) makeRoom(ctx context.Context, s *plan.Step) error {
	err := r.delete(ctx, s)
	if apierrors.IsConflict(err) {
		return nil
	}
	if err == nil {
		err = r.gone(ctx, target(s), r.toDelete(s))
	}
	if err != nil {
		return fmt.Errorf("%s hook %s: delete the object that has its name: %w", s.Hook.Event, s.Object, err)
	}
	return nil
}

// stopHook deletes what a hook of an interrupted run has left, and waits until it is gone. A conflict means
// that another object has replaced it. If the plan goes on without that, a failure is no more than a warning.
func (r *run) stopHook(ctx context.Context, s *plan.Step) error {
	err := r.delete(ctx, s)
	if apierrors.IsConflict(err) {
		return nil
	}
	if err == nil {
		if err = r.gone(ctx, target(s), s.Expect.UID); err != nil {
			err = fmt.Errorf("delete %s: %w", s.Object, err)
		}
	}
	if err != nil && r.plan.MayLeave(plan.StageInterrupted) && ctx.Err() == nil && r.lost() == nil {
		r.observe(Event{Type: Warning, Message: fmt.Sprintf("what a hook of the interrupted run has left may go on working: %v", err)})
		return nil
	}
	return err
}

// hookLog reports a hook's log if the plan's options or the hook's log policy ask for it, as a whole, as
// Helm does (4.3.1, pkg/action/hooks.go, outputLogsByPolicy); otherwise its end if always is set.
func (r *run) hookLog(ctx context.Context, s *plan.Step, p manifest.Policy, always bool) {
	asked, lines := r.plan.Options.HookLogs || slices.Contains(s.Hook.LogPolicies, p), int64(hookLogLines)
	switch {
	case asked:
		lines = 0
	case !always:
		return
	}
	if !s.Object.RunsToItsEnd() || r.uid(s.Object) == "" { // it was never created
		return
	}
	text, err := r.env.Cluster.Logs(context.WithoutCancel(ctx), target(s), lines)
	if err != nil || text == "" {
		return
	}
	event := stepEvent(LogOutput, "", s)
	event.Log = Log{Of: s.Object.String(), Lines: strings.Split(text, "\n")}
	r.observe(event)
}

// phase sets the phase and times of the hook's run in the record.
func (r *run) phase(s *plan.Step, p release.Phase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.record == nil || s.Hook.Index >= len(r.record.Hooks) {
		return
	}
	run := &r.record.Hooks[s.Hook.Index].LastRun
	run.Phase = p
	if p == release.PhaseRunning {
		*run = release.Execution{StartedAt: r.env.Now(), Phase: p}
		return
	}
	run.CompletedAt = r.env.Now()
}

// keepPhases stores the hooks' phases in the pending record if the plan's RecordHooks is set: before
// a hook is created, so a resumed run recognises it as its own, and after it has ended.
func (r *run) keepPhases(ctx context.Context) error {
	r.mu.Lock()
	if !r.plan.Options.RecordHooks || !r.recorded || r.record == nil || !r.record.Info.Status.Pending() || r.record.Info.Status == release.StatusUninstalling {
		r.mu.Unlock()
		return nil
	}
	next, s := r.record.WithStatus(r.record.Info.Status, r.record.Info.Description), r.recording
	r.mu.Unlock()
	if err := r.try(ctx, s, func(ctx context.Context, _ bool) error { return r.env.Store.Update(ctx, next) }); err != nil {
		return fmt.Errorf("record the hooks of %s revision %d: %w", next.Name, next.Version, err)
	}
	return nil
}
