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

// lockIfPermitted takes the release's lock or, if permission for Leases is missing, warns and goes
// on without it. If a quota or an admission webhook refuses the Lease, that is an
// error: locking is possible in principle, and other runs do hold locks. The refusal in a terminating namespace is
// one, too; what goes on there nevertheless, Locked says.
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
			"this run has no lock: it lacks permission for leases.coordination.k8s.io in namespace %s; only the pending status of %s keeps other runs away", e.lockKey(key).Namespace, key.Name)})
	}
	return held, err
}

// notPermitted returns nil if a 403 is due to a missing permission, which an access review
// confirms, and the error otherwise. The status alone does not show this, since admission uses the
// same code and reason. If the review itself is not permitted, the API server's wording for RBAC
// decides (Kubernetes 1.36,
// staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go, forbiddenMessage).
func (e *Engine) notPermitted(ctx context.Context, forbidden error, needed ...plan.Permission) error {
	access := e.Cluster.Access(ctx, needed)
	switch {
	case len(access.Denied) > 0:
		return nil
	case access.Unchecked != "" && strings.Contains(forbidden.Error(), ` is forbidden: User "`):
		return nil
	case access.Unchecked != "":
		return fmt.Errorf("%w (whether a permission is missing could not be checked: %s)", forbidden, access.Unchecked)
	default:
		return forbidden
	}
}

// PendingOf returns which tool recorded a pending revision, and whether a lock says anything about
// its run. unread is true if Leases can't be read, so the lock's holder is unknown.
func PendingOf(last *release.Revision, unread bool) (p plan.Pending) {
	description := last.Info.Description
	if !strings.HasPrefix(description, plan.PendingMark) {
		return p
	}
	p.Unlocked = unread || strings.HasSuffix(description, plan.UnlockedMark)
	p.Ours = !p.Unlocked
	return p
}
