package reconcile

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Reconcile makes one pass over the HelmRelease, which has its finalizer and, where it
// has a chart template, the source that was made from it. It changes neither hr nor what
// in holds. Each action takes the lock of the release itself.
//
// An error means that the next pass is to be made after a pause that grows with each
// error in a row; the outcome counts all the same, and its conditions say why. It
// contains no secrets. When ctx ends, what is under way stays pending, and the next pass
// continues it, here or elsewhere; with the cause ErrSuperseded it is recorded as failed.
func (r *Reconciler) Reconcile(ctx context.Context, hr *flux.HelmRelease, in Sources, report Report) (out Outcome, err error) {
	next := *hr
	if !r.Compatible {
		next = withRetries(next)
	}
	next.Status.Conditions = slices.Clone(hr.Status.Conditions)
	next.Status.History = hr.Status.Snapshots()
	process := ctx
	p := &pass{r: r, hr: &next, in: in, report: report, over: func() bool {
		return process.Err() != nil && !errors.Is(context.Cause(process), ErrSuperseded)
	}}
	ctx, end := leaving(ctx)
	defer end()
	defer func() {
		if v := recover(); v != nil {
			out, err = Outcome{Status: hr.Status}, p.panicked(v)
		}
	}()
	err = p.run(ctx)
	return p.outcome(hr.Status), err
}

// leaving returns a context that ends with ctx, with the cause apply.ErrLeave unless ctx's is
// ErrSuperseded.
func leaving(ctx context.Context) (context.Context, func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	leave := func() {
		if cause := context.Cause(ctx); errors.Is(cause, ErrSuperseded) {
			cancel(cause)
			return
		}
		cancel(apply.ErrLeave)
	}
	stop := context.AfterFunc(ctx, leave)
	if ctx.Err() != nil { // what follows would begin before AfterFunc's goroutine
		leave()
	}
	return out, func() {
		stop()
		cancel(nil)
	}
}

// left reports whether an action ended without an outcome: because the process ends, because
// somebody else now holds the lock and continues it, or because the status could not announce it
// before it began; or with one that is in the status already, but could not be reported yet.
// Nothing more is then to be written about it.
func left(err error) bool {
	lost, unwritten := (*releasestore.LostError)(nil), (*unwrittenError)(nil)
	return errors.Is(err, apply.ErrLeave) || errors.As(err, &lost) || errors.As(err, &unwritten)
}

// pass is the state of one pass.
type pass struct {
	r *Reconciler
	// hr has the current status.
	hr     *flux.HelmRelease
	in     Sources
	report Report
	// over reports whether the process is ending.
	over func() bool

	// acting is the action that the status says is being carried out.
	acting string
	// performed says that the pass has begun an action.
	performed bool
	input     decision.Input
	// standing says that the history stands in for the records.
	standing bool
	values   map[string]any
	secrets  [][]byte
	chart    *chart.Chart
	access   Access
	// mask hides the secrets of the plan that was made last.
	mask   *redact.Mask
	engine *engine.Engine
	// stored are the records as objects.
	stored releasestore.Client
	// readiness is spec.healthCheckExprs, nil without any.
	readiness func(*unstructured.Unstructured) (readiness.Result, bool)

	// moving says that the release is uninstalled because the HelmRelease now refers to another one.
	moving bool

	drift deviation
	// overwritten is what the release was rendered with before this pass deployed it, nil if it did not.
	overwritten *rendering
	// adopted are the objects that existed before this pass installed the release.
	adopted map[manifest.ID]bool
	events  []Event
	// observed says that the generation has been dealt with, deferred that what the pass was to
	// do was not begun, because its plan is held or the release is locked.
	observed, deferred bool
	after              time.Duration
	fixed, again       bool
	released           bool
}

func (p *pass) run(ctx context.Context) error {
	switch {
	case p.hr.Metadata.DeletionTimestamp != nil:
		return p.remove(ctx)
	case p.hr.Spec.Suspend:
		p.observed = true
		return nil
	case (p.hr.Spec.Chart == nil) == (p.hr.Spec.ChartRef == nil):
		return nil
	}
	p.acting = underway(p.hr)
	p.progress(progressing, fulfilling)
	p.gather(ctx)
	d := p.next()
	if d.Action != decision.Nothing && (d.State != "" || d.Reason == decision.ReasonTargetChanged) {
		p.load(ctx)
		d = p.next()
	}
	if d.State == "" && d.Reason != decision.ReasonTargetChanged {
		return p.obstacle(d)
	}
	p.recovered()
	if d.Reason == decision.ReasonTargetChanged {
		return p.move(ctx)
	}
	if err := p.catchUp(ctx, d.Resets != ""); err != nil {
		return err
	}
	p.attempt(d)
	return p.release(ctx)
}

const fulfilling = "Fulfilling prerequisites"

// recovered takes back what an earlier pass has said about a prerequisite.
func (p *pass) recovered() {
	c := flux.Condition(p.hr.Status.Conditions, ready)
	passed := []string{InvalidSpec, decision.ReasonDependencyNotReady, decision.ReasonDependencyCycle, decision.ReasonAccessDenied, decision.ReasonArtifactFailed, decision.ReasonSourceNotReady, decision.ReasonValuesError, decision.ReasonRESTClientError, "FactoryError"}
	if c != nil && slices.Contains(passed, c.Reason) {
		p.mark(ready, metav1.ConditionUnknown, progressing, "reconciliation in progress")
	}
}

// attempt records what this pass is based on.
func (p *pass) attempt(d decision.Decision) {
	s := &p.hr.Status
	s.StorageNamespace = p.hr.StorageNamespace()
	if d.Resets != "" {
		p.clearFailures()
	}
	p.handled(flux.AnnotationResetAt, &s.LastHandledResetAt)
	if d.Action != decision.Unlock { // else what is pending would pass for this generation's in the rest of the pass, and in the next one
		s.LastAttemptedGeneration = p.hr.Metadata.Generation
	}
	s.LastAttemptedRevision, s.LastAttemptedRevisionDigest = p.input.Chart.Version, p.input.Chart.Digest
	s.LastAttemptedConfigDigest = p.input.ValuesDigest
	s.LastAttemptedValuesChecksum, s.LastReleaseRevision = "", 0
}

// handled records that a request by annotation was seen, whether or not there was
// anything to do for it.
func (p *pass) handled(annotation string, into *string) {
	_, asks := p.hr.Metadata.Annotations[flux.AnnotationRequestedAt]
	if at, ok := p.hr.Metadata.Annotations[annotation]; ok && asks {
		*into = at
	}
}

func (p *pass) clearFailures() {
	s := &p.hr.Status
	s.Failures, s.InstallFailures, s.UpgradeFailures = 0, 0, 0
}

// outcome returns the result of the pass, compared with the status before.
func (p *pass) outcome(before flux.HelmReleaseStatus) Outcome {
	s := &p.hr.Status
	if at, ok := p.hr.Metadata.Annotations[flux.AnnotationRequestedAt]; ok && !p.putOff() {
		s.LastHandledReconcileAt = at
	}
	if p.putOff() {
		s.LastHandledForceAt = before.LastHandledForceAt
	}
	if p.deferred && len(s.History) == 0 { // an upgrade that was not begun replaces nothing yet
		s.History = before.History
	}
	if p.observed {
		s.ObservedGeneration = p.hr.Metadata.Generation
	}
	p.keepRollback(before.Conditions)
	s.Conditions = settled(before.Conditions, s.Conditions)
	return Outcome{
		Status: *s, Changed: !reflect.DeepEqual(before, *s), Events: p.events,
		After: p.after, Fixed: p.fixed, Again: p.again, Released: p.released,
	}
}

// keepRollback makes a pass that did nothing about a rollback whose process has died keep reporting
// it: that tells the next pass that it may resume it.
func (p *pass) keepRollback(before []metav1.Condition) {
	if was := flux.Condition(before, reconciling); p.acting == actionRollback && !p.performed && p.is(reconciling, metav1.ConditionTrue) {
		p.mark(reconciling, was.Status, was.Reason, was.Message)
	}
}

// putOff reports whether a forced release is waiting for its approval or for the lock: its
// request is handled only once it is made.
func (p *pass) putOff() bool {
	force, forced := p.hr.Metadata.Annotations[flux.AnnotationForceAt]
	return p.deferred && forced && force == p.hr.Metadata.Annotations[flux.AnnotationRequestedAt]
}

// write has the status written and the events sent while the pass goes on. Its error is an
// *unwrittenError.
func (p *pass) write(ctx context.Context) error {
	if p.report == nil {
		return nil
	}
	status := p.hr.Status
	status.Conditions = settled(nil, slices.Clone(status.Conditions))
	status.History = slices.Clone(status.History)
	events := p.events
	p.events = nil
	if err := p.report(ctx, status, events); err != nil {
		return &unwrittenError{err}
	}
	return nil
}

func (p *pass) key() release.Key {
	return release.Key{Namespace: p.hr.ReleaseNamespace(), Name: p.hr.ReleaseName()}
}
