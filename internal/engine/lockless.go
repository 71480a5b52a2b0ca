package engine

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// lockIfPermitted takes the release's lock, or goes without one and says so where
// Leases are not permitted. That a quota, an admission webhook or a namespace that is
// going away refuses the Lease is an error: there could be a lock, and others have one.
func (e *Engine) lockIfPermitted(ctx context.Context, key release.Key, o releasestore.LockOptions) (*releasestore.HeldLock, error) {
	held, err := e.lock(ctx, key, o)
	if apierrors.IsForbidden(err) {
		if err = e.notPermitted(ctx, err, plan.LockPermissions(e.lockKey(key).Namespace, releasestore.LeaseName(key.Name))...); err == nil {
			o.Unusable = true
			held, err = e.lock(ctx, key, o)
		}
	}
	if err == nil && !held.Supported() {
		e.observe(apply.Event{Type: apply.Warning, Message: fmt.Sprintf(
			"this run has no lock, for want of permission on leases.coordination.k8s.io in namespace %s: only the pending status of %s keeps other runs away", e.lockKey(key).Namespace, key.Name)})
	}
	return held, err
}

// notPermitted is nil when a 403 is for want of permission: the API server, asked about
// the permissions, denies one of them. Otherwise it is the error. Its code and reason do
// not tell where it comes from, for admission answers as authorization does. Who may not
// even ask goes by the words that the API server has for what a role does not allow (its
// handlers/responsewriters, forbiddenMessage, Kubernetes 1.36).
func (e *Engine) notPermitted(ctx context.Context, forbidden error, needed ...plan.Permission) error {
	access := e.Cluster.Access(ctx, needed)
	switch {
	case len(access.Denied) > 0:
		return nil
	case access.Unchecked != "" && strings.Contains(forbidden.Error(), ` is forbidden: User "`):
		return nil
	case access.Unchecked != "":
		return fmt.Errorf("%w (whether that is for want of permission could not be asked: %s)", forbidden, access.Unchecked)
	default:
		return forbidden
	}
}

// PendingOf says whose a pending revision is. unread is true when Leases can't be
// read, so that its run's lock could not be asked for.
func PendingOf(last *release.Revision, unread bool) (p plan.Pending) {
	description := last.Info.Description
	if !strings.HasPrefix(description, plan.PendingMark) {
		return p
	}
	p.Unlocked = unread || strings.HasSuffix(description, plan.UnlockedMark)
	p.Ours = !p.Unlocked
	return p
}
