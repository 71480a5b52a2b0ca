package releasestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// LeaseName is the name of the Lease that locks a release. It lives in the
// release's namespace.
func LeaseName(releaseName string) string { return "kubectl-release." + releaseName }

// Locker locks releases by Leases, one holder at a time. A holder that is gone
// is replaced when its lease has expired.
type Locker struct {
	leases coordinationclient.LeasesGetter
	clock  Clock
}

// NewLocker locks through the client. A CoordinationV1Interface is one.
func NewLocker(client coordinationclient.LeasesGetter, clock Clock) *Locker {
	return &Locker{leases: client, clock: clock}
}

// LockOptions say how a lock is taken.
type LockOptions struct {
	// Duration is how long the lock outlives a holder that is gone; 0 is
	// DefaultDuration. It is rounded up to whole seconds, as Leases are.
	Duration time.Duration
	// Wait is how long to wait for another holder; 0 does not wait.
	Wait time.Duration
	// Unusable says that a lock could not be renewed, so that none is taken.
	Unusable bool
}

// DefaultDuration is the Duration of a lock when none is given.
const DefaultDuration = 30 * time.Second

// maxFreed is how often a lock may be freed by its holder, and taken by the next
// one, before it could be looked at.
const maxFreed = 100

// renewals is how often a holder renews its lease within one duration.
const renewals = 6

func (o LockOptions) seconds() int32 {
	d := o.Duration
	if d <= 0 {
		d = DefaultDuration
	}
	return int32((d + time.Second - 1) / time.Second)
}

// Holder is what a Lease says about who holds the lock.
type Holder struct {
	Owner   string
	Since   time.Time
	Expires time.Time
	// Unread says that there is no permission to read Leases, so that nobody
	// knows.
	Unread bool
}

// LockedError says who holds the lock.
type LockedError struct {
	Key release.Key
	Holder
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("lock release %s: %s has been working on it since %s; its lock expires at %s unless renewed",
		e.Key, e.Owner, e.Since.Format(time.RFC3339), e.Expires.Format(time.RFC3339))
}

// Lock takes the release's lock and renews it until Release. Owner must be
// unique to this run, and readable: it is what others are told. An owner that
// holds the lock already, by a request whose answer was lost, takes it again.
// Held by somebody else, it is a LockedError once Wait has passed. Without
// permission to use Leases there is no lock and no error: see Held.Supported.
// A namespace that does not exist is an error (apierrors.IsNotFound).
func (l *Locker) Lock(ctx context.Context, key release.Key, owner string, o LockOptions) (*Held, error) {
	if o.Unusable {
		return unsupportedLock(), nil
	}
	a := acquisition{locker: l, key: key, owner: owner, seconds: o.seconds()}
	deadline := l.clock.Now().Add(o.Wait)
	for failures, freed := 0, 0; ; {
		lease, sent, err := a.try(ctx)
		var pause time.Duration
		switch locked, isLocked := errors.AsType[*LockedError](err); {
		case err == nil:
			return l.hold(ctx, lease, sent), nil
		case unsupported(err):
			return unsupportedLock(), nil
		case apierrors.IsAlreadyExists(err) && freed < maxFreed: // before we could look whose it was
			pause = 50 * time.Millisecond
			freed++
		case isLocked && a.confirming > 0:
			pause = a.confirming
		case isLocked && l.clock.Now().Before(deadline):
			pause = time.Second
		case isLocked:
			return nil, locked
		case (retry.Passes(err) || retry.Unreached(err)) && failures < 6:
			pause = 250 * time.Millisecond << failures
			failures++
		default:
			return nil, fmt.Errorf("lock release %s: %w", key, err)
		}
		if err := sleep(ctx, l.clock, pause); err != nil {
			return nil, fmt.Errorf("lock release %s: %w", key, err)
		}
	}
}

// Inspect tells who holds the release's lock; held is false when nobody does
// or when the lease has expired. Without permission to read Leases nobody does,
// and the holder is Unread.
func (l *Locker) Inspect(ctx context.Context, key release.Key) (holder Holder, held bool, err error) {
	var lease *coordinationv1.Lease
	err = reread(ctx, l.clock, func(ctx context.Context) error {
		lease, err = l.leases.Leases(key.Namespace).Get(ctx, LeaseName(key.Name), metav1.GetOptions{})
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return Holder{}, false, nil
	case unsupported(err):
		return Holder{Unread: true}, false, nil
	case err != nil:
		return Holder{}, false, fmt.Errorf("inspect lock of release %s: %w", key, err)
	}
	holder = holderOf(lease)
	return holder, holder.Owner != "" && l.clock.Now().Before(holder.Expires), nil
}

// unsupported says whether Leases can't be used here. A namespace that is
// going away is forbidden too, yet that is another matter.
func unsupported(err error) bool {
	return apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

func holderOf(lease *coordinationv1.Lease) Holder {
	var h Holder
	if lease.Spec.HolderIdentity != nil {
		h.Owner = *lease.Spec.HolderIdentity
	}
	if lease.Spec.AcquireTime != nil {
		h.Since = lease.Spec.AcquireTime.Time
	}
	if lease.Spec.RenewTime != nil && lease.Spec.LeaseDurationSeconds != nil {
		h.Expires = lease.Spec.RenewTime.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second)
	}
	return h
}
