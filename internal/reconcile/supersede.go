package reconcile

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// ErrSuperseded is the cause of a context whose end makes a pass stop waiting and record
// its revision as failed, without counting that: another plan is to replace it.
var ErrSuperseded = errors.New("a newer plan replaces this one")

// canceled is the reason of what was given up for a newer plan.
const canceled = "HealthCheckCanceled"

// Supersedes reports whether the HelmRelease, as it is now, would have another revision made
// than the one that is being waited for, or none at all: then the wait is pointless. An
// obstacle to a pass does not supersede; if the pass would be tried again for it after a pause, it is
// an error. Nor does a plan that the gate holds: nothing is done for it, so what is under way goes on, and
// the error is a *Held. Supersedes writes nothing.
func (r *Reconciler) Supersedes(ctx context.Context, hr *flux.HelmRelease, in Sources) (differs bool, err error) {
	switch {
	case hr.Metadata.DeletionTimestamp != nil:
		return true, nil
	case hr.Spec.Suspend, (hr.Spec.Chart == nil) == (hr.Spec.ChartRef == nil):
		return false, nil
	}
	p := &pass{r: r, hr: hr, in: in}
	defer func() {
		if v := recover(); v != nil {
			differs, err = false, p.panicked(v)
		}
	}()
	if p.gather(ctx); p.engine != nil {
		p.load(ctx)
	}
	d := p.next()
	last := p.newest()
	switch {
	case d.Reason == decision.ReasonTargetChanged:
		return p.letThrough(ctx, p.planMove)
	case d.State == "" && (d.Action == decision.Fail || d.Action == decision.Wait):
		return false, errors.New(p.masked(p.why(d)))
	case d.State == "":
		return false, nil
	case p.input.Obstacles.Records != nil:
		return false, p.safe(p.input.Obstacles.Records)
	case last != nil && last.Info.Status == release.StatusPendingRollback && d.Resets == "":
		return false, nil // what it replaces has failed, and would again
	}
	wanted := p.toUpgrade(engine.InstallOrUpgrade)
	if d.Action == decision.Install {
		wanted = p.toInstall()
	}
	// Where the release is to be now, no record of the run that waits is found: its status has no history
	// during an install, which could tell that the release moves, and never names the cluster.
	elsewhere := last == nil || len(hr.Status.History) == 0 && !last.Info.Status.Pending()
	if !elsewhere {
		if differs, err := p.engine.Differs(ctx, wanted); err != nil || !differs {
			return false, p.safe(err)
		}
	}
	return p.letThrough(ctx, func(ctx context.Context) (*plan.Plan, error) { return p.engine.PlanSuccessor(ctx, wanted) })
}

// letThrough reports whether the gate does not hold a plan, which is made only to ask it. If it does, the
// error is a *Held.
func (p *pass) letThrough(ctx context.Context, prepare engine.Planner) (bool, error) {
	if !p.mayBeHeld() {
		return true, nil
	}
	made, err := p.withSecrets(prepare)(ctx)
	if err != nil {
		return false, p.safe(err)
	}
	p.mask = redact.NewMask(made)
	_, err = p.r.Gate(p.hr, made, p.summary(made))
	return err == nil, p.safe(err)
}

// superseded records an install or upgrade that was given up for a newer plan. That does not
// count as a failure.
func (p *pass) superseded(attempt flux.Attempt) {
	m := p.chart.Metadata
	message := fmt.Sprintf("Helm %s of release %s/%s with chart %s@%s was cancelled during its wait: a newer plan replaces it",
		attempt, p.hr.ReleaseNamespace(), p.hr.ReleaseName(), m.Name, m.Version)
	p.mark(released, metav1.ConditionFalse, canceled, message)
	p.tell(Event{Reason: canceled, Message: message, Metadata: metadata(m.Version, p.hr.Status.LastAttemptedConfigDigest, m.AppVersion, p.hr.Status.LastAttemptedRevisionDigest)})
}

// watcher reports when a run begins a hook, and when it only waits and no longer does.
type watcher struct{ hook, waits, waited func() }

// Observe implements apply.Observer.
func (w watcher) Observe(e apply.Event) {
	switch {
	case e.Type == apply.StepStarted && e.Op == plan.OpRun:
		call(w.hook)
	case e.Type == apply.StageStarted && plan.StageName(e.Stage) == plan.StageWait:
		call(w.waits)
	case e.Type == apply.StageStarted:
		call(w.waited)
	}
}

// call calls f, if set.
func call(f func()) {
	if f != nil {
		f()
	}
}
