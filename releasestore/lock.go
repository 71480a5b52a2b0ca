package releasestore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// LeaseName returns the name of the Lease that locks a release. It is in the
// release's namespace.
func LeaseName(releaseName string) string { return "kubectl-release." + releaseName }

// Locker locks releases with Leases, one holder at a time. A holder that is gone
// is replaced once this Locker has seen its Lease unchanged for its full duration.
type Locker struct {
	leases coordinationclient.LeasesGetter
	clock  Clock

	mu       sync.Mutex
	observed map[release.Key]observed // by the Lease's namespace and name
}

// NewLocker returns a Locker that uses the client, such as a CoordinationV1Interface.
func NewLocker(client coordinationclient.LeasesGetter, clock Clock) *Locker {
	return &Locker{leases: client, clock: clock, observed: map[release.Key]observed{}}
}

// LockOptions say how a lock is taken.
type LockOptions struct {
	// Duration is how long the lock outlives a holder that is gone; 0 is
	// DefaultDuration. It is rounded up to whole seconds, as Leases are.
	Duration time.Duration
	// Wait is how long to wait for another holder; 0 does not wait.
	Wait time.Duration
	// Unusable says that there is no permission to use Leases, or not enough to
	// renew one, so no lock is taken.
	Unusable bool
}

// DefaultDuration is the Duration of a lock when none is given.
const DefaultDuration = 30 * time.Second

// maxFreed is how often a lock may be freed, and taken by another run, before its holder could be
// read.
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

// Holder describes the holder of a lock, by its Lease.
type Holder struct {
	Identity Identity
	// Since is when it was taken and Renewed when it was last renewed, both by
	// the holder's clock, and Read when that was read, by our own: they are only
	// shown to people.
	Since, Renewed, Read time.Time
	// Duration is how long the lock outlives its last renewal.
	Duration time.Duration
	// Unchanged is how long the Lease has gone without renewal, as far as this
	// Locker has seen and by its own clock.
	Unchanged time.Duration
	// Unread says that Leases may not be read, so the holder is unknown.
	Unread bool
}

// abandoned reports whether another run may take the lock: it has no holder, or the holder has not
// renewed it for its full duration and so writes nothing until it is renewed (see HeldLock.Hold).
func (h Holder) abandoned() bool { return h.Identity == "" || h.Unchanged >= h.Duration }

// Text describes the holder to users: "ann on ci-1, process 7, for 23s (renewed 2s
// ago)".
func (h Holder) Text() string {
	text := h.Identity.Text()
	ago := func(t time.Time) string { return max(0, h.Read.Sub(t)).Round(time.Second).String() }
	if !h.Since.IsZero() {
		text += ", for " + ago(h.Since)
	}
	if !h.Renewed.IsZero() {
		text += " (renewed " + ago(h.Renewed) + " ago)"
	}
	return text
}

// LockedError says who holds the lock.
type LockedError struct {
	Key release.Key
	Holder
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("release %s is locked by %s", e.Key, e.Text())
}

// Lock takes the release's lock and renews it until Release. The identity must be
// unique to this run (NewIdentity); a run that holds the lock already, by a request whose
// response was lost, takes it again. Errors: a *LockedError when another run still holds it after
// Wait; apierrors.IsForbidden when Leases are refused, whether for lack of permission, by a quota
// or by an admission webhook; apierrors.IsNotFound when the namespace does not exist.
func (l *Locker) Lock(ctx context.Context, key release.Key, identity Identity, o LockOptions) (*HeldLock, error) {
	if o.Unusable {
		return unsupportedLock(), nil
	}
	a := acquisition{locker: l, key: key, identity: identity, seconds: o.seconds()}
	began := l.clock.Now()
	for failures, freed := 0, 0; ; {
		lease, sent, err := a.try(ctx)
		var pause time.Duration
		switch locked, isLocked := errors.AsType[*LockedError](err); {
		case err == nil:
			return l.hold(ctx, lease, sent), nil
		case apierrors.IsAlreadyExists(err) && freed < maxFreed: // freed before its holder could be read
			pause = 50 * time.Millisecond
			freed++
		case isLocked && l.clock.Since(began) < o.Wait:
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

// Inspect returns the holder of the release's lock. held is false when the lock is free, or
// when this Locker has seen the Lease unchanged for its full duration: at first sight a dead
// holder can't be told from a living one. Errors: apierrors.IsForbidden when the Lease may not
// be read.
func (l *Locker) Inspect(ctx context.Context, key release.Key) (holder Holder, held bool, err error) {
	var lease *coordinationv1.Lease
	err = retryRead(ctx, l.clock, func(ctx context.Context) error {
		lease, err = l.leases.Leases(key.Namespace).Get(ctx, LeaseName(key.Name), metav1.GetOptions{})
		return err
	})
	switch {
	case retry.Missing(err):
		return Holder{}, false, nil
	case err != nil:
		return Holder{}, false, fmt.Errorf("inspect lock of release %s: %w", key, err)
	}
	holder = l.holder(lease)
	return holder, !holder.abandoned(), nil
}

// holder describes the holder of a Lease that was just read.
func (l *Locker) holder(lease *coordinationv1.Lease) Holder {
	h := Holder{Identity: identityOf(lease), Duration: DefaultDuration, Unchanged: l.unchanged(lease), Read: l.clock.Now()}
	if lease.Spec.AcquireTime != nil {
		h.Since = lease.Spec.AcquireTime.Time
	}
	if lease.Spec.RenewTime != nil {
		h.Renewed = lease.Spec.RenewTime.Time
	}
	if lease.Spec.LeaseDurationSeconds != nil {
		h.Duration = time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
	}
	return h
}

func identityOf(lease *coordinationv1.Lease) Identity {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return Identity(*lease.Spec.HolderIdentity)
}
