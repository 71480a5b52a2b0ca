package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// hookLogLines is how much of a hook's log is shown.
const hookLogLines = 20

// hook clears the way, creates the hook's object and watches it to its end.
func (r *run) hook(ctx context.Context, stage plan.StageName, s *plan.Step) error {
	r.phase(s, release.PhaseRunning)
	err := r.startHook(ctx, s)
	if err == nil {
		err = r.waitAll(ctx, stage, []plan.Step{*s})
	}
	if err != nil {
		r.phase(s, release.PhaseFailed)
		r.hookLog(ctx, s, manifest.HookFailed, true)
		err = fmt.Errorf("%s hook %s: %w", s.Hook.Event, s.Object, err)
		return errors.Join(err, r.cleanHook(ctx, s, manifest.HookFailed))
	}
	r.phase(s, release.PhaseSucceeded)
	r.hookLog(ctx, s, manifest.HookSucceeded, false)
	return nil
}

func (r *run) startHook(ctx context.Context, s *plan.Step) error {
	if s.InPlace() {
		return r.turn(ctx, s)
	}
	there, err := r.clearHook(ctx, s)
	if err != nil || there {
		return err
	}
	var created *unstructured.Unstructured
	err = r.try(ctx, s, func(ctx context.Context, again bool) (err error) {
		created, err = r.env.Cluster.Create(ctx, s.Body, r.writeOptions())
		if apierrors.IsAlreadyExists(err) && again {
			created, err = r.recognise(ctx, s, err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	r.wrote(s.Object, created)
	return nil
}

// turn makes a hook of what was a resource: by server-side apply, so that what
// marks it as the release's goes.
func (r *run) turn(ctx context.Context, s *plan.Step) error {
	o := r.writeOptions()
	o.Force = true
	if err := r.serverSideApply(ctx, s, o); err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	return nil
}

// clearHook removes what an earlier run left where the hook's policy says so,
// and waits for a namesake that is still going away. there is true for a CRD
// that is what the hook would create: deleting it would delete every object of
// its kind. Looking first also keeps a namesake that stays from being taken for
// our own object when an answer is lost.
func (r *run) clearHook(ctx context.Context, s *plan.Step) (there bool, err error) {
	var live *unstructured.Unstructured
	err = r.try(ctx, s, func(ctx context.Context, _ bool) (err error) {
		live, err = r.env.Cluster.Get(ctx, target(s))
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for an earlier run: %w", err)
	case live.GetDeletionTimestamp() != nil:
		// It goes by itself.
	case isCRD(s.Object) && patch.Agree(s.Body, live, s.Body):
		return true, nil
	case isCRD(s.Object) || !s.Hook.Deletes(manifest.BeforeHookCreation):
		return false, errors.New("it is there already, and its delete policy does not allow to remove it: delete it by hand")
	default:
		if err := r.removeHook(ctx, s, live); err != nil {
			return false, fmt.Errorf("delete the earlier run: %w", err)
		}
	}
	if err := r.gone(ctx, target(s), live.GetUID()); err != nil {
		return false, fmt.Errorf("wait for the earlier run to go: %w", err)
	}
	return false, nil
}

func (r *run) removeHook(ctx context.Context, s *plan.Step, live *unstructured.Unstructured) error {
	o := DeleteOptions{UID: live.GetUID(), Cascade: "background"}
	return r.try(ctx, s, func(ctx context.Context, _ bool) error {
		err := r.env.Cluster.Delete(ctx, target(s), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// cleanHooks deletes the succeeded hooks of a stage, last first, where their
// policy says so.
func (r *run) cleanHooks(ctx context.Context, ran []plan.Step) error {
	var errs []error
	for _, s := range slices.Backward(ran) {
		errs = append(errs, r.cleanHook(ctx, &s, manifest.HookSucceeded))
	}
	return errors.Join(errs...)
}

func (r *run) cleanHook(ctx context.Context, s *plan.Step, p manifest.Policy) error {
	uid := r.uid(s.Object)
	if !s.Hook.Deletes(p) || isCRD(s.Object) || uid == "" || r.fenced() != nil {
		return nil
	}
	live := &unstructured.Unstructured{Object: map[string]any{}}
	live.SetUID(uid)
	if err := r.removeHook(context.WithoutCancel(ctx), s, live); err != nil {
		return fmt.Errorf("delete hook %s (%s): %w", s.Object, p, err)
	}
	return nil
}

// hookLog shows a hook's log when its policy, or a failure, asks for it.
func (r *run) hookLog(ctx context.Context, s *plan.Step, p manifest.Policy, always bool) {
	if !always && !r.plan.Options.HookLogs && !slices.Contains(s.Hook.LogPolicies, p) {
		return
	}
	if !s.Object.RunsToItsEnd() {
		return
	}
	text, err := r.env.Cluster.Logs(context.WithoutCancel(ctx), target(s), hookLogLines)
	if err != nil || text == "" {
		return
	}
	r.observe(Event{Type: LogOutput, Step: s.ID, Object: s.Object, Message: text})
}

// phase keeps the story of the hook's run in the record.
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

func isCRD(id manifest.ID) bool { return id.Kind == "CustomResourceDefinition" }
