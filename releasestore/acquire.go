package releasestore

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// acquisition makes attempts to take a lock.
type acquisition struct {
	locker   *Locker
	key      release.Key
	identity Identity
	seconds  int32
}

// interval is the time between two renewals of a Lease.
func interval(seconds int32) time.Duration {
	return time.Duration(seconds) * time.Second / renewals
}

// try makes one attempt: it creates the Lease, since usually there is none, or takes over the
// existing one. sent is when the request was sent, from which the duration of the Lease counts. If
// another run holds the lock, the error is a LockedError. An attempt that takes longer than half of
// the Lease's duration is given up.
func (a *acquisition) try(ctx context.Context) (lease *coordinationv1.Lease, sent time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(a.seconds)*time.Second/2)
	defer cancel()
	leases := a.locker.leases.Leases(a.key.Namespace)
	sent = a.locker.clock.Now()
	lease, err = leases.Create(ctx, a.newLease(sent), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) && !apierrors.IsForbidden(err) {
		return lease, sent, err
	}
	refused := err
	current, err := leases.Get(ctx, LeaseName(a.key.Name), metav1.GetOptions{})
	switch {
	case retry.Missing(err): // freed meanwhile, or creating it is forbidden
		return nil, time.Time{}, refused
	case err != nil:
		return nil, time.Time{}, err
	}
	if holder := a.locker.holder(current); holder.Identity != a.identity && !holder.abandoned() {
		return nil, time.Time{}, &LockedError{a.key, holder}
	}
	sent = a.locker.clock.Now()
	a.take(current, sent)
	lease, err = leases.Update(ctx, current, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		lease, sent, err = a.lost(ctx)
	}
	if retry.Missing(err) { // freed meanwhile
		err = refused
	}
	return lease, sent, err
}

// lost returns a LockedError with the holder that was faster.
func (a *acquisition) lost(ctx context.Context) (*coordinationv1.Lease, time.Time, error) {
	current, err := a.locker.leases.Leases(a.key.Namespace).Get(ctx, LeaseName(a.key.Name), metav1.GetOptions{})
	if err != nil {
		return nil, time.Time{}, err
	}
	return nil, time.Time{}, &LockedError{a.key, a.locker.holder(current)}
}

func (a *acquisition) newLease(now time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: a.key.Namespace,
		Name:      LeaseName(a.key.Name),
		Labels:    map[string]string{"app.kubernetes.io/managed-by": "kubectl-release"},
	}}
	a.take(lease, now)
	lease.Spec.LeaseTransitions = new(int32)
	return lease
}

// take makes this run the holder of the Lease.
func (a *acquisition) take(lease *coordinationv1.Lease, now time.Time) {
	at := metav1.NewMicroTime(now)
	var transitions int32 = 1
	if lease.Spec.LeaseTransitions != nil {
		transitions = *lease.Spec.LeaseTransitions + 1
	}
	lease.Spec.HolderIdentity = (*string)(&a.identity)
	lease.Spec.LeaseDurationSeconds = &a.seconds
	lease.Spec.AcquireTime = &at
	lease.Spec.RenewTime = &at
	lease.Spec.LeaseTransitions = &transitions
}
