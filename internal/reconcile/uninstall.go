package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Actions of snapshots, and reasons of uninstalls.
const (
	actionRollback  = "rollback"
	actionUninstall = "uninstall"
	actionRemedy    = "uninstall-remediation"

	reasonUninstalled    = "UninstallSucceeded"
	reasonNotUninstalled = "UninstallFailed"
)

// deleting is Helm's description of a revision that is being uninstalled.
const deleting = "Deletion in progress (or silently failed)"

// takeDown uninstalls the release of the newest snapshot and records it in the history.
// none says that there was no release, changed that a record was written.
func (p *pass) takeDown(ctx context.Context, action string) (none, changed bool, err error) {
	cur, o := p.hr.Status.Snapshots()[0], p.uninstalling()
	var kept []string
	outcome, err := p.apply(ctx, func(ctx context.Context) (made *plan.Plan, err error) {
		made, kept, err = p.planUninstall(ctx, action, false)
		return made, err
	})
	if !p.moving && outcome.Revision != nil {
		p.tellKept(kept)
	}
	if missing := (*engine.NoReleaseError)(nil); errors.As(err, &missing) {
		return true, false, nil
	}
	if outcome.Revision == nil {
		return false, false, err
	}
	seen := outcome.Revision
	if err == nil && !o.KeepHistory {
		seen = seen.WithStatus(release.StatusUninstalling, deleting)
	}
	if observed := p.observe([]*release.Revision{seen}, action, action, cur.OCIDigest); observed != nil {
		return false, true, errors.Join(err, observed)
	}
	for i := range p.hr.Status.History {
		p.hr.Status.History[i].Action = action
	}
	return false, true, err
}

// planUninstall plans to uninstall the release of the newest snapshot, and names what that keeps because it
// is older than the release. A successor is planned during the wait of the pass that is given up for it.
func (p *pass) planUninstall(ctx context.Context, action string, successor bool) (made *plan.Plan, kept []string, err error) {
	cur := p.hr.Status.Snapshots()[0]
	key := release.Key{Namespace: cur.Namespace, Name: cur.Name}
	var spare plan.Spare
	var unread error
	switch {
	case action == actionRemedy:
		spare, unread = p.spare(ctx, p.before())
	case p.moving && p.r.Compatible:
		spare, unread = p.leftBehind(ctx, key)
	}
	if made, err = p.engine.PlanUninstall(ctx, key, engine.Uninstall{Options: p.uninstalling(), Spare: spare, AsSuccessor: successor}); err != nil {
		return made, nil, err
	}
	return made, spared(made, spare), unread // it counts only where there is a release
}

// before returns the good revision before the attempt that an uninstall remediates: nil for an install.
func (p *pass) before() *release.Revision {
	history := release.NewHistory(p.input.Records)
	if p.hr.Status.LastAttemptedReleaseAction == flux.AttemptInstall || len(history) == 0 {
		return nil
	}
	return history[:len(history)-1].LastSuccessful()
}

// uninstall ends a release: that of a HelmRelease that is deleted, or that refers to
// another one by now. The release is where the status says.
func (p *pass) uninstall(ctx context.Context) error {
	cur := p.hr.Status.Snapshots()[0]
	p.in.Waiting, p.in.Waited = p.in.Hook, nil // nothing supersedes it, so nobody need ask while it waits
	if err := p.open(ctx, cur.Namespace, p.hr.Status.StorageNamespace); err != nil {
		return p.safe(err)
	}
	none, _, err := p.takeDown(ctx, actionUninstall)
	if held := (*Held)(nil); left(err) || locked(err) || errors.As(err, &held) {
		return err
	}
	defer p.summarize()
	if err != nil {
		p.hr.Status.Failures++
		message := fmt.Sprintf("Helm uninstall failed for release %s with chart %s: %s", full(cur), versionedChart(cur), err)
		p.mark(released, metav1.ConditionFalse, reasonNotUninstalled, message)
		p.tellOf(cur, true, reasonNotUninstalled, message)
		return err
	}
	if none {
		p.mark(released, metav1.ConditionFalse, reasonUninstalled, fmt.Sprintf("Release %s was not found, assuming it is uninstalled", full(cur)))
		return nil
	}
	p.hr.Status.Inventory = nil
	message := succeeded(actionUninstall, cur)
	p.mark(released, metav1.ConditionFalse, reasonUninstalled, message)
	p.tellOf(cur, false, reasonUninstalled, message)
	return nil
}

// move uninstalls the release in the status because the HelmRelease now refers to another one, which
// the next pass installs. Unlike helm-controller, unless Compatible is set, it looks for the old
// release's objects in the old namespace.
func (p *pass) move(ctx context.Context) error {
	p.moving = true
	err := p.uninstall(ctx)
	if held := (*Held)(nil); errors.As(err, &held) {
		p.hold(held)
		return nil
	}
	if locked(err) {
		p.awaitLock(err)
		return nil
	}
	if err != nil {
		return err
	}
	p.forget()
	p.clearFailures()
	p.again = true
	return nil
}

// planMove plans the uninstall by which a HelmRelease begins to move, once the pass that waits is given up.
func (p *pass) planMove(ctx context.Context) (*plan.Plan, error) {
	p.moving = true
	if err := p.open(ctx, p.hr.Status.Snapshots()[0].Namespace, p.hr.Status.StorageNamespace); err != nil {
		return nil, err
	}
	made, _, err := p.planUninstall(ctx, actionUninstall, true)
	return made, err
}

// forget removes the release from the status.
func (p *pass) forget() { p.hr.Status.History, p.hr.Status.StorageNamespace = nil, "" }

// remove is the pass over a HelmRelease that is being deleted. Where the release can't be
// uninstalled because a kubeconfig or a ServiceAccount is missing, it is left behind, and
// an event says so.
func (p *pass) remove(ctx context.Context) error {
	p.released = true
	if p.hr.Spec.Suspend || p.hr.Status.StorageNamespace == "" {
		return nil
	}
	access, err := p.accessTo(ctx)
	if err == nil && p.hr.Spec.KubeConfig == nil && access.User != "" {
		_, err = p.r.Local.Lookup(ctx, "v1", kinds.ServiceAccount.Kind, p.hr.Metadata.Namespace, access.User[strings.LastIndexByte(access.User, ':')+1:])
	}
	switch {
	case apierrors.IsNotFound(err):
		p.tell(Event{Warning: true, Reason: "UninstallSkipped", Message: "the release is left behind: " + p.masked(err.Error())})
		return nil
	case err != nil:
		p.mark(ready, metav1.ConditionFalse, reasonNotUninstalled, "the release can't be uninstalled: "+p.masked(err.Error()))
	default:
		p.access = access
		if err = p.recall(ctx); err == nil && len(p.hr.Status.History) > 0 {
			err = p.uninstall(ctx)
		}
	}
	if p.released = err == nil; locked(err) {
		p.awaitLock(err)
		return nil
	}
	if err != nil {
		return p.safe(err)
	}
	p.forget()
	return nil
}
