package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// cleanupTimeout limits how long a failed run may clean up, and recordTimeout how long it may record that it
// has failed: several attempts of a write that stalls.
const (
	cleanupTimeout = 30 * time.Second
	recordTimeout  = 3 * retry.Timeout
)

// writeRecord updates the release's records as the step says. The run's own revision comes first:
// if the process is killed right after that, the history is still right, since the newest deployed
// revision counts.
func (r *run) writeRecord(ctx context.Context, s *plan.Step) error {
	if s.Record.Revision == 0 {
		return r.tidy(ctx, s)
	}
	description := s.Record.Description
	if description == "" {
		description = r.failure
	}
	if err := r.setStatus(ctx, s, description); err != nil {
		return err
	}
	if err := r.tidy(ctx, s); err != nil {
		outcome, known := settled[s.Record.Status]
		if !known {
			return err
		}
		note := stepEvent(Note, "", s)
		note.Message = outcome + ", but " + err.Error()
		r.observe(note)
	}
	return nil
}

// settled are the outcomes that count although other records could not be tidied up: those with a wrong
// status, or too many, do no harm, and the next run corrects them.
var settled = map[release.Status]string{
	release.StatusDeployed: "the release is deployed", release.StatusFailed: "the failure is recorded",
}

// tidy updates and prunes the older records.
func (r *run) tidy(ctx context.Context, s *plan.Step) error {
	var errs []error
	for _, version := range s.Record.Fail {
		errs = append(errs, r.finalizeRevision(ctx, s, version, release.StatusFailed, cmp.Or(s.Record.Descriptions[version], s.Record.FailDescription)))
	}
	for _, version := range s.Record.Supersede {
		errs = append(errs, r.finalizeRevision(ctx, s, version, release.StatusSuperseded, s.Record.Descriptions[version]))
	}
	for _, version := range s.Record.Prune {
		errs = append(errs, r.try(ctx, s, func(ctx context.Context, _ bool) error {
			return r.env.Store.Delete(ctx, r.plan.Release, version)
		}))
	}
	return errors.Join(errs...)
}

// setStatus stores the run's own revision in the status of the step.
func (r *run) setStatus(ctx context.Context, s *plan.Step, description string) error {
	status := s.Record.Status
	if status.Pending() && r.env.Lock != nil {
		if err := r.env.Lock.Take(ctx); err != nil && !goesOnUnlocked(status, err) {
			return err
		}
	}
	if status.Pending() && r.unlocked() {
		description += plan.UnlockedMark
	}
	r.mu.Lock()
	next := r.record.WithStatus(status, description)
	recorded := r.recorded
	r.recording = s
	r.mu.Unlock()

	r.stamp(next, status)
	err := r.store(ctx, s, next, recorded)
	if apierrors.IsRequestEntityTooLargeError(err) && status == release.StatusFailed {
		next = r.brief(next)
		err = r.store(ctx, s, next, recorded)
	}
	if err != nil && !recorded && Passes(err) {
		r.unsure = next
	}
	if err != nil {
		return fmt.Errorf("record %s revision %d as %s: %w", next.Name, next.Version, status, err)
	}
	r.mu.Lock()
	r.record, r.recorded = next, true
	r.mu.Unlock()
	return nil
}

// goesOnUnlocked reports whether a lock that can't be taken keeps nothing from happening: in a namespace that is
// terminating nobody else gets one either, and an uninstall creates nothing there.
func goesOnUnlocked(status release.Status, err error) bool {
	return status == release.StatusUninstalling && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// store creates a record, or updates it if an earlier state of it was recorded.
func (r *run) store(ctx context.Context, s *plan.Step, next *release.Revision, recorded bool) error {
	return r.try(ctx, s, func(ctx context.Context, _ bool) error {
		if recorded {
			return r.env.Store.Update(ctx, next)
		}
		return r.env.Store.Create(ctx, next)
	})
}

// brief returns a failed revision with a short description and without the results of its hooks. It
// takes hardly more room than its pending record: a revision must not stay pending.
func (r *run) brief(failed *release.Revision) *release.Revision {
	next := failed.WithStatus(failed.Info.Status, r.subject()+" failed: too large to record")
	for i := range next.Hooks {
		next.Hooks[i].LastRun = release.Execution{}
	}
	return next
}

// complete gives the revision of an uninstall its last status if the records went with their namespace, and none
// is left to say so.
func (r *run) complete() {
	if r.plan.Operation != plan.Uninstall {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.record.Info.Status != release.StatusUninstalled {
		r.record = r.record.WithStatus(release.StatusUninstalled, cmp.Or(r.plan.Options.Description, release.UninstallComplete))
	}
}

// stamp sets the times that go with a status.
func (r *run) stamp(next *release.Revision, status release.Status) {
	switch status {
	case release.StatusPendingInstall, release.StatusPendingUpgrade, release.StatusPendingRollback:
		next.Info.LastDeployed = r.env.Now()
		if next.Info.FirstDeployed.IsZero() {
			next.Info.FirstDeployed = next.Info.LastDeployed
		}
	case release.StatusUninstalling:
		next.Info.Deleted = r.env.Now()
	case release.StatusDeployed, release.StatusFailed, release.StatusSuperseded, release.StatusUninstalled, release.StatusUnknown:
	}
}

// finalizeRevision puts an older revision into its final status.
func (r *run) finalizeRevision(ctx context.Context, s *plan.Step, version int, status release.Status, description string) error {
	old := r.env.History.Revision(version)
	if old == nil {
		return nil
	}
	if description == "" {
		description = old.Info.Description
	}
	next := old.WithStatus(status, description)
	err := r.try(ctx, s, func(ctx context.Context, _ bool) error { return r.env.Store.Update(ctx, next) })
	if err != nil {
		return fmt.Errorf("record %s revision %d as %s: %w", old.Name, version, status, err)
	}
	return nil
}

// fail runs the plan's OnFailure stages for a run that has failed, even if its context has ended. A
// revision that was never recorded as pending leaves no record, and an uninstalled release stays
// uninstalled even if some of its records could not be removed.
func (r *run) fail(ctx context.Context, cause error) error {
	ctx = context.WithoutCancel(ctx)
	within(ctx, recordTimeout, r.ascertain)
	r.mu.Lock()
	recorded, record := r.recorded, r.record
	r.mu.Unlock()
	if !recorded || record == nil || record.Info.Status == release.StatusUninstalled || r.plan.OnFailure == nil {
		return nil
	}
	r.failure = r.describe(cause)
	var errs []error
	for _, stage := range r.plan.OnFailure.Stages {
		r.observe(Event{Type: StageStarted, Stage: string(stage.Name)})
		limit := cleanupTimeout
		if stage.Name == plan.StageRecord {
			limit = recordTimeout
		}
		within(ctx, limit, func(ctx context.Context) {
			for _, wave := range stage.Waves {
				errs = append(errs, r.wave(ctx, stage.Name, wave))
			}
		})
	}
	return errors.Join(errs...)
}

// within calls do with a context that ends after the limit.
func within(ctx context.Context, limit time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	do(ctx)
}

// ascertain finds out whether a revision was stored although every response was lost, by storing it
// again: storing the same content twice is not an error. If that fails, too, the next plan finds out.
func (r *run) ascertain(ctx context.Context) {
	next := r.unsure
	if next == nil {
		return
	}
	err := r.try(ctx, r.recording, func(ctx context.Context, _ bool) error { return r.env.Store.Create(ctx, next) })
	if err == nil {
		r.mu.Lock()
		r.record, r.recorded = next, true
		r.mu.Unlock()
	}
}

// maxDescription is how many bytes of the description of a failed revision are recorded: the record has
// room for them (plan.RecordReserve).
const maxDescription = 4 << 10

// describe returns the description of a failed revision. Secrets are masked: the API server's messages
// may quote them, and many people can read descriptions.
func (r *run) describe(err error) string {
	text := redact.NewMask(r.plan).Text(textOf(linesOf(err, false)))
	if r.plan.Operation == plan.Rollback {
		first, more, _ := strings.Cut(text, "\n") // lists of revisions show one line
		text = strings.TrimSuffix(first+r.undone()+"\n"+more, "\n")
	}
	if subject := r.subject(); subject != "" {
		text = subject + " failed: " + text
	}
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + "…"
	}
	return text
}

// subject begins the description of a failed revision, in Helm's words (4.3.1, pkg/action/install.go,
// upgrade.go and rollback.go).
func (r *run) subject() string {
	switch r.plan.Operation {
	case plan.Install:
		return fmt.Sprintf("Release %q", r.plan.Release.Name)
	case plan.Upgrade:
		return fmt.Sprintf("Upgrade %q", r.plan.Release.Name)
	case plan.Rollback:
		return fmt.Sprintf("Rollback %q", r.plan.Release.Name)
	case plan.Uninstall:
		if last := r.env.History.Last(); last != nil && !last.Succeeded() { // see release.UninstallFailed
			return fmt.Sprintf("%s %q", release.UninstallOfFailed, r.plan.Release.Name)
		}
		return fmt.Sprintf("Uninstall of %q", r.plan.Release.Name)
	case plan.Test:
		return fmt.Sprintf("Test of %q", r.plan.Release.Name)
	case plan.CorrectDrift, plan.CorrectRecords: // they write no failed revision
	}
	return ""
}

// undone returns, for the record of a failed rollback, which changes were undone and which were not.
func (r *run) undone() string {
	r.mu.Lock()
	done, open := r.plan.SplitByCompletion(r.ended)
	r.mu.Unlock()
	text := ""
	if len(done) > 0 {
		text += "; undone: " + plan.SummarizeObjects(done)
	}
	if len(open) > 0 {
		text += "; not undone: " + plan.SummarizeObjects(open)
	}
	return text
}
