package releasestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Release ends the renewals and frees the lock. A lock that was lost is left to its
// new holder. Releasing twice is not an error.
func (h *HeldLock) Release(ctx context.Context) error {
	if !h.Supported() {
		return nil
	}
	h.stop()
	<-h.done
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reason != nil {
		return nil
	}
	if h.doubt != nil { // the API server does not answer, and others take an expired lock
		h.lose(errors.New("it was released"))
		return nil
	}
	err := h.locker.free(ctx, h.key(), identityOf(h.lease), h.lease)
	h.lose(errors.New("it was released"))
	if _, taken := errors.AsType[*LockedError](err); taken || err == nil {
		return nil
	}
	return fmt.Errorf("release the lock of %s: %w", h.key(), err)
}

// Free takes the release's lock from its holder, which may be alive and notices at its next
// renewal. Freeing a free lock is not an error. Errors: a *LockedError when another run holds it
// by now.
func (l *Locker) Free(ctx context.Context, key release.Key, holder Identity) error {
	err := l.free(ctx, key, holder, nil)
	if _, taken := errors.AsType[*LockedError](err); taken || err == nil {
		return err
	}
	return fmt.Errorf("free the lock of %s: %w", key, err)
}

// freeTries is how often freeing a lock is tried while its holder keeps renewing it.
const freeTries = 5

// freeTimeout limits one attempt at freeing a lock.
const freeTimeout = 10 * time.Second

// free frees the lock of a holder, with retries after transient errors. seen is the Lease as last
// written, nil when that is not known. If it was written since, for example by a renewal whose
// response was lost, it is read again.
func (l *Locker) free(ctx context.Context, key release.Key, holder Identity, seen *coordinationv1.Lease) error {
	err := retryRead(ctx, l.clock, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, freeTimeout)
		defer cancel()
		for range freeTries {
			if seen == nil {
				seen, err = l.leaseOf(ctx, key, holder)
			}
			if seen == nil {
				return err
			}
			if err = l.vacate(ctx, seen); !apierrors.IsConflict(err) {
				return err
			}
			seen = nil
		}
		return err
	})
	if retry.Missing(err) {
		return nil
	}
	return err
}

// leaseOf reads the Lease if that holder still holds it; it returns nil when nobody holds it.
func (l *Locker) leaseOf(ctx context.Context, key release.Key, holder Identity) (*coordinationv1.Lease, error) {
	current, err := l.leases.Leases(key.Namespace).Get(ctx, LeaseName(key.Name), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	switch identityOf(current) {
	case "":
		return nil, nil
	case holder:
		return current, nil
	default:
		return nil, &LockedError{key, l.holder(current)}
	}
}

// vacate deletes the Lease if it has not changed since seen, or clears its holder if deleting is
// forbidden.
func (l *Locker) vacate(ctx context.Context, seen *coordinationv1.Lease) error {
	leases := l.leases.Leases(seen.Namespace)
	err := leases.Delete(ctx, seen.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion},
	})
	if !apierrors.IsForbidden(err) {
		return err
	}
	next := seen.DeepCopy()
	next.Spec.HolderIdentity = nil
	next.ManagedFields = nil
	_, err = leases.Update(ctx, next, metav1.UpdateOptions{})
	return err
}
