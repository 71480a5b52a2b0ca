package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/build"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

func (p *pass) install(ctx context.Context, _ decision.Decision) error {
	d := p.toInstall()
	p.hr.Status.History = nil
	return p.deploy(ctx, flux.AttemptInstall, d)
}

func (p *pass) upgrade(ctx context.Context, _ decision.Decision) error {
	return p.deploy(ctx, flux.AttemptUpgrade, p.toUpgrade(engine.UpgradeOnly))
}

func (p *pass) toInstall() engine.Deployment {
	o, side := p.installing()
	return p.deployment(engine.InstallOnly, install(p.hr).Deployment, o, side)
}

func (p *pass) toUpgrade(mode engine.Mode) engine.Deployment {
	o, side := p.upgrading(p.newest())
	d := p.deployment(mode, upgrade(p.hr).Deployment, o, side)
	if upgrade(p.hr).PreserveValues {
		d.Source.Reuse = values.ReuseValues
	}
	return d
}

// newest returns the newest record, nil without any.
func (p *pass) newest() *release.Revision {
	return release.NewHistory(p.input.Records).Last()
}

func (p *pass) deployment(mode engine.Mode, d flux.Deployment, o plan.Options, side engine.ServerSide) engine.Deployment {
	rewrite := func(_ context.Context, text string) (string, error) { return build.PostRender(p.hr, text) }
	return engine.Deployment{
		Release: p.key(), Mode: mode, Options: o, ServerSide: side,
		Source: engine.Source{
			Chart: p.chart, Values: p.values, Reuse: values.ResetValues,
			Render: engine.RenderOptions{SkipSchema: d.DisableSchemaValidation, PostRender: rewrite, CRDLabels: p.hr.Origin()},
		},
	}
}

// deploy runs an install or upgrade and records its outcome. An error means that it has
// left no record, or is worth a retry.
func (p *pass) deploy(ctx context.Context, attempt flux.Attempt, d engine.Deployment) error {
	s := &p.hr.Status
	p.drop(tested, remediated)
	began := p.r.Now()
	outcome, err := p.apply(ctx, func(ctx context.Context) (*plan.Plan, error) { return p.engine.PlanDeployment(ctx, d) })
	if held := (*Held)(nil); errors.As(err, &held) || left(err) {
		return err
	}
	defer p.summarize()
	if locked(err) {
		return err
	}
	s.LastAttemptedReleaseActionDuration = &metav1.Duration{Duration: p.r.Now().Sub(began)}
	return p.attempted(ctx, attempt, outcome, err)
}

// attempted records the outcome of an install or upgrade: err is why it has failed. An
// error means that it has left no record, or is worth a retry.
func (p *pass) attempted(ctx context.Context, attempt flux.Attempt, outcome apply.Outcome, err error) error {
	s := &p.hr.Status
	if outcome.Recorded {
		if err := p.recorded(ctx, outcome.Revision, string(attempt), "", s.LastAttemptedRevisionDigest); err != nil {
			return err
		}
		p.inventory(ctx, outcome.Revision)
		// With preserveValues, the rest of the pass uses the merged values; the next one
		// compares with its own again.
		p.input.ValuesDigest = s.History[0].ConfigDigest
	}
	if err == nil {
		p.deployed(attempt)
		return nil
	}
	if errors.Is(context.Cause(ctx), ErrSuperseded) {
		p.superseded(attempt)
		return nil
	}
	s.Failures++
	m := p.chart.Metadata
	message := fmt.Sprintf("Helm %s failed for release %s/%s with chart %s@%s: %s", attempt, p.hr.ReleaseNamespace(), p.hr.ReleaseName(), m.Name, m.Version, err)
	reason := title(attempt) + "Failed"
	p.mark(released, metav1.ConditionFalse, reason, message)
	p.tell(Event{Warning: true, Reason: reason, Message: message, Metadata: metadata(m.Version, s.LastAttemptedConfigDigest, m.AppVersion, s.LastAttemptedRevisionDigest)})
	if !outcome.Recorded || apply.Passes(err) {
		return err
	}
	p.count()
	return nil
}

// deployed records that an install or upgrade succeeded.
func (p *pass) deployed(attempt flux.Attempt) {
	cur := p.hr.Status.Snapshots()[0]
	message, reason := succeeded(string(attempt), cur), title(attempt)+"Succeeded"
	p.mark(released, metav1.ConditionTrue, reason, message)
	if p.hr.Status.LastAttemptedGeneration == p.hr.Metadata.Generation { // else its process died, and then the spec changed
		p.rendered()
	}
	if p.hr.Tests().Enable && cur.TestHooks == nil {
		p.mark(tested, metav1.ConditionUnknown, "AwaitingTests", fmt.Sprintf("Helm release %s with chart %s is awaiting tests", full(cur), versionedChart(cur)))
	}
	if p.hr.ActiveRetry() != nil {
		p.clearFailures()
	}
	p.tellOf(cur, false, reason, message)
}

func title(a flux.Attempt) string { return strings.ToUpper(string(a[:1])) + string(a[1:]) }

// apply plans and applies under the release's lock. Errors contain no secrets.
func (p *pass) apply(ctx context.Context, prepare engine.Planner) (apply.Outcome, error) {
	_, outcome, err := p.engine.PlanAndApply(ctx, releasestore.LockOptions{Wait: lockWait}, p.withSecrets(prepare), func(made *plan.Plan) error {
		p.seen(made)
		is := p.planned(made)
		if err := made.WhyBlocked(); err != nil {
			return err
		}
		return p.checkGate(ctx, made, is)
	})
	return outcome, p.safe(p.ended(err))
}

// withSecrets returns a planner whose plans also know the secrets among the values.
func (p *pass) withSecrets(prepare engine.Planner) engine.Planner {
	return func(ctx context.Context) (*plan.Plan, error) {
		made, err := prepare(ctx)
		if made != nil {
			made = made.WithSecrets(append(p.secrets[:len(p.secrets):len(p.secrets)], made.Secrets...))
		}
		return made, err
	}
}

// ended adds apply.ErrLeave to an action's error when the process is ending: then
// nothing has failed, wherever that was noticed.
func (p *pass) ended(err error) error {
	if err != nil && p.over() {
		return errors.Join(err, apply.ErrLeave)
	}
	return err
}

// seen remembers what a plan hides and what it adopts, and reports the size of its manifest.
func (p *pass) seen(made *plan.Plan) {
	if p.r.Rendered != nil && made.Record != nil {
		p.r.Rendered(p.hr, len(made.Record.Manifest))
	}
	p.mask = redact.NewMask(made)
	p.noteAdopted(made)
}

// lockWait is how long a pass waits for another run on the release.
const lockWait = 10 * time.Second

// safe returns an error whose text has no secrets and which wraps the original.
func (p *pass) safe(err error) error {
	if err == nil {
		return nil
	}
	seen, read := engine.Quoted(err)
	text := p.masked(redact.NewValuesMask(seen, nil, read...).Text(err.Error()))
	return &maskedError{text: strings.TrimSpace(text), err: err}
}

// maskedError is an error whose text has no secrets.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

func (e *maskedError) Unwrap() error { return e.err }

// recorded updates the history with what an action has written.
func (p *pass) recorded(ctx context.Context, made *release.Revision, action, changed, ociDigest string) error {
	stored, err := p.engine.Records(context.WithoutCancel(ctx), p.key())
	if err != nil {
		return p.safe(err)
	}
	written := []*release.Revision{made}
	for i := len(stored) - 1; i >= 0; i-- {
		switch r := stored[i]; {
		case r.Version == made.Version:
			written[0] = r
		case r.Version < made.Version:
			written = append(written, r)
		}
	}
	return p.observe(written, action, changed, ociDigest)
}
