package releasestore

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	clienttesting "k8s.io/client-go/testing"
)

// leaseServer stores Leases as an API server does: with resource versions. fail,
// if set, may answer with an error instead; lose lets the write happen and loses the
// answer.
type leaseServer struct {
	client *fake.Clientset

	mu     sync.Mutex
	writes int
	fail   func(verb string) error
	lose   bool
}

func newLeaseServer() *leaseServer {
	s := &leaseServer{client: fake.NewClientset()}
	s.client.PrependReactor("*", "leases", s.react)
	return s
}

func (s *leaseServer) leases() coordinationclient.CoordinationV1Interface {
	return s.client.CoordinationV1()
}

func (s *leaseServer) set(fail func(verb string) error, lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.lose = fail, lose
}

func (s *leaseServer) react(action clienttesting.Action) (bool, runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(action.GetVerb()); err != nil {
			return true, nil, err
		}
	}
	resource, tracker := action.GetResource(), s.client.Tracker()
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		lease := a.Object.(*coordinationv1.Lease).DeepCopy()
		s.writes++
		lease.ResourceVersion = strconv.Itoa(s.writes)
		return s.answer(lease, tracker.Create(resource, lease, a.Namespace))
	case clienttesting.UpdateActionImpl:
		lease := a.Object.(*coordinationv1.Lease).DeepCopy()
		if err := s.compare(a.Namespace, lease.Name, lease.ResourceVersion); err != nil {
			return true, nil, err
		}
		s.writes++
		lease.ResourceVersion = strconv.Itoa(s.writes)
		return s.answer(lease, tracker.Update(resource, lease, a.Namespace))
	case clienttesting.DeleteActionImpl:
		if p := a.DeleteOptions.Preconditions; p != nil {
			if err := s.compare(a.Namespace, a.Name, *p.ResourceVersion); err != nil {
				return true, nil, err
			}
		}
	}
	return false, nil, nil
}

func (s *leaseServer) answer(lease *coordinationv1.Lease, err error) (bool, runtime.Object, error) {
	if err == nil && s.lose {
		s.lose = false
		return true, nil, apierrors.NewTimeoutError("the answer was lost", 0)
	}
	return true, lease, err
}

func (s *leaseServer) compare(namespace, name, version string) error {
	stored, err := s.client.Tracker().Get(coordinationv1.SchemeGroupVersion.WithResource("leases"), namespace, name)
	if err != nil {
		return err
	}
	if stored.(*coordinationv1.Lease).ResourceVersion != version {
		return apierrors.NewConflict(leaseResource(), name, errors.New("changed"))
	}
	return nil
}

func leaseResource() schema.GroupResource {
	return coordinationv1.SchemeGroupVersion.WithResource("leases").GroupResource()
}

func (s *leaseServer) lock(t *testing.T, identity Identity, o LockOptions) (*HeldLock, error) {
	t.Helper()
	return NewLocker(s.leases(), SystemClock{}).Lock(t.Context(), testKey(), identity, o)
}

// Of fifty operations at the same time one runs, and the rest say who holds the lock.
func TestLockHasOneHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		results := make(chan error, 50)
		var winner *HeldLock
		for i := range 50 {
			go func() {
				held, err := server.lock(t, Identity("holder-"+strconv.Itoa(i)), LockOptions{})
				if err == nil {
					winner = held
				}
				results <- err
			}()
		}
		holders := 0
		for range 50 {
			var locked *LockedError
			switch err := <-results; {
			case err == nil:
				holders++
			case !errors.As(err, &locked) || locked.Identity == "":
				t.Errorf("the lock is held: %v", err)
			}
		}
		if holders != 1 {
			t.Fatalf("%d holders", holders)
		}
		must(t, winner.Release(t.Context()))
		next, err := server.lock(t, "next", LockOptions{})
		must(t, err)
		must(t, next.Release(t.Context()))
	})
}

// A lock outlives its duration as long as its holder lives.
func TestLockIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		held, err := server.lock(t, "one", LockOptions{Duration: 10 * time.Second})
		must(t, err)
		time.Sleep(5 * time.Minute)
		must(t, holds(held))
		var locked *LockedError
		if _, err := server.lock(t, "two", LockOptions{Wait: time.Minute}); !errors.As(err, &locked) || locked.Identity != "one" {
			t.Errorf("lock that another one holds: %v", err)
		}
		must(t, held.Release(t.Context()))
		must(t, held.Release(t.Context()))
		if holds(held) == nil {
			t.Error("a released lock passes the check")
		}
	})
}

// A waiting run gets the lock when it is released.
func TestLockWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		first, err := server.lock(t, "one", LockOptions{})
		must(t, err)
		go func() {
			time.Sleep(20 * time.Second)
			if err := first.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		second, err := server.lock(t, "two", LockOptions{Wait: time.Minute})
		must(t, err)
		must(t, second.Release(t.Context()))
	})
}

// holds returns why the holder of a lock may not write now; nil if it may.
func holds(h *HeldLock) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := h.Hold(ctx)
	return err
}

var (
	errDown = apierrors.NewInternalError(errors.New("down"))
	// errStray is what client-go makes of a proxy's 404.
	errStray = apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "no upstream", 0, true)
)

// failing is a client whose requests fail while the channel is open.
type failing struct {
	coordinationclient.LeasesGetter
	until <-chan struct{}
}

func (f failing) Leases(namespace string) coordinationclient.LeaseInterface {
	return failingLeases{f.LeasesGetter.Leases(namespace), f.until}
}

type failingLeases struct {
	coordinationclient.LeaseInterface
	until <-chan struct{}
}

func (f failingLeases) Update(ctx context.Context, lease *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	select {
	case <-f.until:
		return f.LeaseInterface.Update(ctx, lease, o)
	default:
		return nil, errDown
	}
}

// A holder that can't renew its lock writes nothing once three quarters of its duration are over. If another
// run has taken it by the time it can, it is lost.
func TestHolderIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, up := newLeaseServer(), make(chan struct{})
		began := time.Now()
		locker := NewLocker(failing{server.leases(), up}, SystemClock{})
		held, err := locker.Lock(t.Context(), testKey(), "one", LockOptions{Duration: 12 * time.Second})
		must(t, err)
		expired, err := held.Hold(t.Context())
		must(t, err)
		time.Sleep(8 * time.Second)
		must(t, holds(held))
		<-expired
		if took := time.Since(began); took != 9*time.Second {
			t.Errorf("the lock expires after %v, want three quarters of its duration", took)
		}
		if holds(held) == nil || held.Check() != nil {
			t.Errorf("a lock that has expired is neither held nor lost: %v", held.Check())
		}

		next, err := server.lock(t, "two", LockOptions{Wait: time.Minute})
		must(t, err)
		close(up)
		var lost *LostError
		if _, err := held.Hold(t.Context()); !errors.As(err, &lost) || lost.Key != testKey() {
			t.Errorf("a lock that another run has taken: %v", err)
		}
		<-held.Lost()
		must(t, held.Release(t.Context())) // the lock is no longer ours to free
		must(t, holds(next))
		must(t, next.Release(t.Context()))
	})
}

// While the API server is down for longer than the lock's duration, its holder waits, and goes on afterwards if
// nobody has taken the lock. After four durations, it is lost.
func TestHolderOutlastsAnOutage(t *testing.T) {
	for outage, lost := range map[time.Duration]time.Duration{5 * time.Second: 0, time.Minute: 0, 115 * time.Second: 0, time.Hour: 2 * time.Minute} {
		t.Run(outage.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newLeaseServer()
				began := time.Now()
				held, err := server.lock(t, "one", LockOptions{})
				must(t, err)
				server.set(func(string) error { return errDown }, false)
				time.AfterFunc(outage, func() { server.set(nil, false) })
				time.Sleep(min(outage, 25*time.Second))
				expired, err := held.Hold(t.Context())
				took := time.Since(began)
				switch {
				case lost == 0 && (err != nil || took > outage+time.Second):
					t.Errorf("it goes on after %v: %v", took, err)
				case lost > 0 && (err == nil || took < lost || took > lost+2*time.Second):
					t.Errorf("it is lost after %v: %v", took, err)
				}
				if lost == 0 {
					time.Sleep(time.Minute)
					select {
					case <-expired:
						t.Error("it is not renewed any more")
					default:
					}
				}
				must(t, held.Release(t.Context()))
			})
		})
	}
}

// One refused renewal followed by two that stall does not lose the lock.
func TestHolderRenewsAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		held, err := server.lock(t, "one", LockOptions{})
		must(t, err)
		renewals := 0
		server.set(func(string) error {
			switch renewals++; renewals {
			case 1:
				return apierrors.NewServiceUnavailable("away")
			case 2, 3: // until it times out
				time.Sleep(interval(30))
				return context.DeadlineExceeded
			}
			return nil
		}, false)
		time.Sleep(time.Minute)
		must(t, holds(held))
		must(t, held.Release(t.Context()))
	})
}

// A 404 that a proxy sends in the API server's place does not say that the Lease was deleted, whatever it answers.
func TestHolderOutlastsAProxy(t *testing.T) {
	for _, fails := range []string{"update", "get"} {
		t.Run(fails, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newLeaseServer()
				held, err := server.lock(t, "one", LockOptions{})
				must(t, err)
				renewals := 0
				server.set(func(verb string) error {
					switch renewals++; {
					case renewals == 1 && fails == "get":
						return apierrors.NewConflict(leaseResource(), "web", errors.New("modified"))
					case renewals <= 2 && verb == fails:
						return errStray
					}
					return nil
				}, false)
				time.Sleep(time.Minute)
				must(t, holds(held))
				must(t, held.Release(t.Context()))
			})
		})
	}
}

// If somebody else takes or deletes the Lease, the next renewal notices.
func TestTakenLockIsNoticed(t *testing.T) {
	for _, what := range []string{"taken", "deleted"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newLeaseServer()
				held, err := server.lock(t, "one", LockOptions{})
				must(t, err)
				began := time.Now()
				leases := server.leases().Leases("shop")
				if what == "taken" {
					lease, err := leases.Get(t.Context(), LeaseName("web"), metav1.GetOptions{})
					must(t, err)
					thief := "two"
					lease.Spec.HolderIdentity = &thief
					_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
					must(t, err)
				} else {
					must(t, leases.Delete(t.Context(), LeaseName("web"), metav1.DeleteOptions{}))
				}
				<-held.Lost()
				if took := time.Since(began); took > interval(30) {
					t.Errorf("it is noticed after %v, want the next renewal", took)
				}
				if holds(held) == nil {
					t.Error("a lost lock passes the check")
				}
				must(t, held.Release(t.Context()))
			})
		})
	}
}

// A lost answer costs neither the lock nor the Lease.
func TestLockSurvivesLostAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		server.set(nil, true)
		held, err := server.lock(t, "one", LockOptions{Duration: 12 * time.Second})
		must(t, err)
		server.set(nil, true)
		time.Sleep(time.Minute)
		must(t, holds(held))
		must(t, held.Release(t.Context()))
	})
}

// Failure to get the Lease is an error, whatever the reason.
func TestLockThatCannotBeHad(t *testing.T) {
	for name, answer := range map[string]error{
		"forbidden":    apierrors.NewForbidden(leaseResource(), "kubectl-release.web", errors.New("exceeded quota")),
		"no namespace": apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop"),
		"always down":  apierrors.NewServiceUnavailable("down"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newLeaseServer()
				server.set(func(string) error { return answer }, false)
				if _, err := server.lock(t, "one", LockOptions{}); !errors.Is(err, answer) {
					t.Errorf("lock: %v", err)
				}
			})
		})
	}
}

// A run that can't use Leases has a lock that lets everything pass.
func TestLockThatIsUnusable(t *testing.T) {
	held, err := newLeaseServer().lock(t, "one", LockOptions{Unusable: true})
	must(t, err)
	if held.Supported() || held.Check() != nil || held.Release(t.Context()) != nil {
		t.Error("it should let everything pass")
	}
}

// Without permission to delete, the Lease stays behind without a holder.
func TestReleaseWithoutDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		held, err := server.lock(t, "one", LockOptions{})
		must(t, err)
		locker := NewLocker(server.leases(), SystemClock{})
		holder, isHeld, err := locker.Inspect(t.Context(), testKey())
		must(t, err)
		if !isHeld || holder.Identity != "one" || holder.Duration != DefaultDuration || !holder.Renewed.Equal(holder.Since) {
			t.Errorf("inspect: %v %+v", isHeld, holder)
		}
		server.set(func(verb string) error {
			if verb == "delete" {
				return apierrors.NewForbidden(leaseResource(), "kubectl-release.web", errors.New("RBAC"))
			}
			return nil
		}, false)
		must(t, held.Release(t.Context()))
		if _, isHeld, err := locker.Inspect(t.Context(), testKey()); isHeld || err != nil {
			t.Errorf("a released lock is still held: %t, %v", isHeld, err)
		}
		// The same holds if somebody has touched the Lease since it was last written.
		next, err := server.lock(t, "two", LockOptions{})
		must(t, err)
		leases := server.leases().Leases("shop")
		lease, err := leases.Get(t.Context(), LeaseName("web"), metav1.GetOptions{})
		must(t, err)
		lease.Labels = map[string]string{"touched": "yes"}
		_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		must(t, err)
		must(t, next.Release(t.Context()))
		if _, isHeld, err := locker.Inspect(t.Context(), testKey()); isHeld || err != nil {
			t.Errorf("a released lock that was touched is still held: %t, %v", isHeld, err)
		}
	})
}

// stalling is a client whose first create and first delete never get an answer.
type stalling struct {
	coordinationclient.LeasesGetter
	stalled map[string]bool
}

func (s stalling) Leases(namespace string) coordinationclient.LeaseInterface {
	return stallingLeases{s.LeasesGetter.Leases(namespace), s.stalled}
}

type stallingLeases struct {
	coordinationclient.LeaseInterface
	stalled map[string]bool
}

func (s stallingLeases) stall(ctx context.Context, verb string) error {
	if s.stalled[verb] {
		return nil
	}
	s.stalled[verb] = true
	<-ctx.Done()
	return ctx.Err()
}

func (s stallingLeases) Create(ctx context.Context, lease *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	created, err := s.LeaseInterface.Create(ctx, lease, o)
	if stalled := s.stall(ctx, "create"); stalled != nil {
		return nil, stalled
	}
	return created, err
}

func (s stallingLeases) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	if err := s.stall(ctx, "delete"); err != nil {
		return err
	}
	return s.LeaseInterface.Delete(ctx, name, o)
}

// Requests that never get an answer cost half a minute at most, not the run.
func TestLockStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		began := time.Now()
		locker := NewLocker(stalling{server.leases(), map[string]bool{}}, SystemClock{})
		held, err := locker.Lock(t.Context(), testKey(), "one", LockOptions{})
		must(t, err)
		must(t, holds(held))
		must(t, held.Release(t.Context()))
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %v", took)
		}
		next, err := server.lock(t, "two", LockOptions{})
		must(t, err)
		must(t, next.Release(t.Context()))
	})
}

// Taking over a Lease succeeds even if its holder frees it at that moment.
func TestLockFreedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		old, err := server.lock(t, "one", LockOptions{})
		must(t, err)
		old.stop()
		locker := NewLocker(server.leases(), SystemClock{})
		_, _, err = locker.Inspect(t.Context(), testKey())
		must(t, err)
		time.Sleep(time.Hour) // its holder is dead
		server.set(func(verb string) error {
			if verb != "update" {
				return nil
			}
			server.fail = nil
			return server.client.Tracker().Delete(coordinationv1.SchemeGroupVersion.WithResource("leases"), "shop", LeaseName("web"))
		}, false)
		next, err := locker.Lock(t.Context(), testKey(), "two", LockOptions{})
		must(t, err)
		must(t, holds(next))
		must(t, next.Release(t.Context()))
	})
}

// Ctrl-C ends a wait for a lock.
func TestLockCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		held, err := server.lock(t, "one", LockOptions{})
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		_, err = NewLocker(server.leases(), SystemClock{}).Lock(ctx, testKey(), "two", LockOptions{Wait: time.Hour})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled wait: %v", err)
		}
		must(t, held.Release(t.Context()))
	})
}
