package releasestore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// machine is the Clock of one machine. Its wall clock is off, and may be set; its
// monotonic clock and its timers stand still while the machine is suspended.
type machine struct {
	mu        sync.Mutex
	booted    time.Time
	off       time.Duration
	slept     time.Duration // total of all past suspensions
	suspended time.Time     // since when; zero while it is awake
	monotonic map[int64]time.Duration
}

func newMachine(off time.Duration) *machine {
	return &machine{booted: time.Now(), off: off, monotonic: map[int64]time.Duration{}}
}

// uptime reads the monotonic clock.
func (m *machine) uptime() time.Duration {
	now := time.Now()
	if !m.suspended.IsZero() {
		now = m.suspended
	}
	return now.Sub(m.booted) - m.slept
}

func (m *machine) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now().Round(0).Add(m.off)
	m.monotonic[now.UnixNano()] = m.uptime()
	return now
}

func (m *machine) Since(t time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.uptime() - m.monotonic[t.UnixNano()]
}

func (m *machine) After(d time.Duration) <-chan time.Time {
	rings, began := make(chan time.Time, 1), m.Now()
	go func() {
		for left := d; left > 0; left = d - m.Since(began) {
			time.Sleep(max(left, 10*time.Millisecond))
		}
		rings <- m.Now()
	}()
	return rings
}

// setClock moves the wall clock by the duration.
func (m *machine) setClock(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off += by
}

// suspend suspends the machine for the duration.
func (m *machine) suspend(d time.Duration) {
	m.mu.Lock()
	m.suspended = time.Now()
	m.mu.Unlock()
	time.Sleep(d)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slept += time.Since(m.suspended)
	m.suspended = time.Time{}
}

// network is a client whose requests and answers are delayed on their way to and from the
// API server. A client that gives up on a request does not cancel it.
type network struct {
	coordinationclient.LeasesGetter
	delay func() time.Duration
}

func (n network) Leases(namespace string) coordinationclient.LeaseInterface {
	return distantLeases{n.LeasesGetter.Leases(namespace), n.delay}
}

type distantLeases struct {
	coordinationclient.LeaseInterface
	delay func() time.Duration
}

func (d distantLeases) send(ctx context.Context, request func() (*coordinationv1.Lease, error)) (*coordinationv1.Lease, error) {
	type answer struct {
		lease *coordinationv1.Lease
		err   error
	}
	came := make(chan answer, 1)
	there, back := d.delay(), d.delay()
	go func() {
		time.Sleep(there)
		lease, err := request()
		time.Sleep(back)
		came <- answer{lease, err}
	}()
	select {
	case a := <-came:
		return a.lease, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d distantLeases) Create(ctx context.Context, lease *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	lease = lease.DeepCopy()
	return d.send(ctx, func() (*coordinationv1.Lease, error) {
		return d.LeaseInterface.Create(context.WithoutCancel(ctx), lease, o)
	})
}

func (d distantLeases) Update(ctx context.Context, lease *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	lease = lease.DeepCopy()
	return d.send(ctx, func() (*coordinationv1.Lease, error) {
		return d.LeaseInterface.Update(context.WithoutCancel(ctx), lease, o)
	})
}

func (d distantLeases) Get(ctx context.Context, name string, o metav1.GetOptions) (*coordinationv1.Lease, error) {
	return d.send(ctx, func() (*coordinationv1.Lease, error) {
		return d.LeaseInterface.Get(context.WithoutCancel(ctx), name, o)
	})
}

func (d distantLeases) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	_, err := d.send(ctx, func() (*coordinationv1.Lease, error) {
		return nil, d.LeaseInterface.Delete(context.WithoutCancel(ctx), name, o)
	})
	return err
}

// amongMachines runs a test in a synctest bubble, then waits for its timers and for requests
// that nobody waits for any more.
func amongMachines(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Hour)
		test(t)
	})
}

// apart are differences between the clocks of two machines.
var apart = []time.Duration{-24 * time.Hour, -5 * time.Minute, -20 * time.Second, 0, 20 * time.Second, 5 * time.Minute, 24 * time.Hour}

// However far apart the clocks of two machines are, a holder that renews its lock
// keeps it, and one whose network stalls knows that its lock has expired before another
// holder has it.
func TestClocksApart(t *testing.T) {
	for _, off := range apart {
		t.Run(off.String(), func(t *testing.T) {
			amongMachines(t, func(t *testing.T) {
				server := newLeaseServer()
				var stalled sync.Map
				first := NewLocker(network{server.leases(), func() time.Duration {
					if _, yes := stalled.Load("yes"); yes {
						return 10 * time.Minute
					}
					return 10 * time.Millisecond
				}}, newMachine(off))
				second := NewLocker(server.leases(), newMachine(0))
				held, err := first.Lock(t.Context(), testKey(), "first", LockOptions{})
				must(t, err)
				var locked *LockedError
				if _, err := second.Lock(t.Context(), testKey(), "second", LockOptions{Wait: time.Minute}); !errors.As(err, &locked) {
					t.Fatalf("the lock of a living holder: %v", err)
				}
				must(t, holds(held))

				stalled.Store("yes", true)
				next, err := second.Lock(t.Context(), testKey(), "second", LockOptions{Wait: time.Minute})
				must(t, err)
				if holds(held) == nil {
					t.Error("both hold the lock")
				}
				must(t, held.Release(t.Context()))
				must(t, holds(next))
				must(t, next.Release(t.Context()))
			})
		})
	}
}

// A Lease is taken over once we have seen it unchanged for its duration, however old its
// times are; another Lease of that name, and each change, restart the wait.
func TestTakeoverWaitsByItsOwnClock(t *testing.T) {
	for _, off := range apart {
		t.Run(off.String(), func(t *testing.T) {
			amongMachines(t, func(t *testing.T) {
				server := newLeaseServer()
				dead, err := NewLocker(server.leases(), newMachine(off)).Lock(t.Context(), testKey(), "dead", LockOptions{})
				must(t, err)
				dead.stop()
				time.Sleep(time.Hour)
				locker := NewLocker(server.leases(), newMachine(0))
				began := time.Now()
				held, err := locker.Lock(t.Context(), testKey(), "next", LockOptions{Wait: time.Minute})
				must(t, err)
				if took := time.Since(began); took < DefaultDuration || took > DefaultDuration+2*time.Second {
					t.Errorf("it took %s, want the %s of the lease", took, DefaultDuration)
				}
				must(t, held.Release(t.Context()))
			})
		})
	}
}

// A Locker remembers what it has seen of a Lease: if it has watched a dead holder, it
// does not wait for the whole duration again.
func TestLockerRemembersWhatItSaw(t *testing.T) {
	amongMachines(t, func(t *testing.T) {
		server := newLeaseServer()
		dead, err := server.lock(t, "dead", LockOptions{})
		must(t, err)
		dead.stop()
		locker := NewLocker(server.leases(), SystemClock{})
		_, isHeld, err := locker.Inspect(t.Context(), testKey())
		must(t, err)
		if !isHeld {
			t.Error("nobody can tell at the first look that the holder is dead")
		}
		time.Sleep(20 * time.Second)
		holder, _, err := locker.Inspect(t.Context(), testKey())
		must(t, err)
		if holder.Unchanged != 20*time.Second {
			t.Errorf("the lease is unchanged for %s", holder.Unchanged)
		}
		time.Sleep(10 * time.Second)
		if _, isHeld, _ := locker.Inspect(t.Context(), testKey()); isHeld {
			t.Error("the lock is still held after its duration")
		}
		held, err := locker.Lock(t.Context(), testKey(), "next", LockOptions{})
		must(t, err)
		must(t, held.Release(t.Context()))
	})
}

// A holder whose machine was suspended knows when it wakes up that its lock has expired, although
// its monotonic clock stood still; one whose wall clock was set back knows it from the
// monotonic clock. If nobody has taken the lock, it goes on once it can renew it.
func TestHolderTrustsNeitherClockAlone(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(m *machine)
		late    time.Duration
	}{
		"suspended":              {func(m *machine) { m.suspend(23 * time.Second) }, 0},
		"wall clock set back":    {func(m *machine) { m.setClock(-time.Hour) }, 23 * time.Second},
		"wall clock set forward": {func(m *machine) { m.setClock(time.Hour) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			amongMachines(t, func(t *testing.T) {
				server, m := newLeaseServer(), newMachine(0)
				held, err := NewLocker(server.leases(), m).Lock(t.Context(), testKey(), "one", LockOptions{})
				must(t, err)
				must(t, holds(held))
				server.set(func(string) error { return context.DeadlineExceeded }, false)
				c.happens(m)
				time.Sleep(c.late)
				if holds(held) == nil {
					t.Error("the lock counts as held")
				}
				server.set(nil, false)
				_, err = held.Hold(t.Context()) // nobody has taken it
				must(t, err)
				must(t, held.Release(t.Context()))
			})
		})
	}
}

// The channel for what is under way is closed the moment the lock expires, also when a renewal stalls until
// then, or from then on.
func TestExpiryIsNoticedInTime(t *testing.T) {
	for _, stalling := range []time.Duration{18 * time.Second, DefaultDuration * 3 / 4} {
		amongMachines(t, func(t *testing.T) {
			server := newLeaseServer()
			began := time.Now()
			far := network{server.leases(), func() time.Duration {
				if time.Since(began) >= stalling {
					return time.Minute
				}
				return 0
			}}
			held, err := NewLocker(far, SystemClock{}).Lock(t.Context(), testKey(), "one", LockOptions{})
			must(t, err)
			server.set(func(string) error { return errDown }, false) // until then it is retried every second
			expired, err := held.Hold(t.Context())
			must(t, err)
			<-expired
			if after := time.Since(began); after != DefaultDuration*3/4 {
				t.Errorf("stalling from %s on, it is noticed after %s", stalling, after)
			}
			held.stop()
		})
	}
}

// Whatever the machines' clocks say, however often machines are suspended or clocks set,
// however long requests take, and whichever run dies: at no time do two runs pass
// the check.
func TestNeverTwoHolders(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			amongMachines(t, func(t *testing.T) {
				w := &world{server: newLeaseServer(), holders: map[string]*HeldLock{}}
				ctx, end := context.WithTimeout(t.Context(), 15*time.Minute)
				defer end()
				var all sync.WaitGroup
				for i := range 3 {
					all.Go(func() { w.live(ctx, fmt.Sprint(i), rand.New(rand.NewPCG(seed, uint64(i)))) })
				}
				for ctx.Err() == nil {
					if passing := w.passing(); len(passing) > 1 {
						t.Fatalf("%v hold the lock at %s", passing, time.Now().Format(time.TimeOnly))
					}
					time.Sleep(100 * time.Millisecond)
				}
				all.Wait()
				if w.taken < 5 {
					t.Errorf("the lock was taken %d times only", w.taken)
				}
			})
		})
	}
}

// world is a cluster where several machines compete for one lock.
type world struct {
	server *leaseServer

	mu      sync.Mutex
	holders map[string]*HeldLock
	taken   int
}

func (w *world) passing() (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, held := range w.holders {
		if holds(held) == nil {
			names = append(names, name)
		}
	}
	return names
}

func (w *world) hold(name string, held *HeldLock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if held == nil {
		delete(w.holders, name)
		return
	}
	w.holders[name] = held
	w.taken++
}

// live takes the lock, works, and frees it or dies, again and again.
func (w *world) live(ctx context.Context, name string, random *rand.Rand) {
	seconds := func(n int) time.Duration { return time.Duration(random.IntN(n*1000)) * time.Millisecond }
	m := newMachine(seconds(1200) - 10*time.Minute)
	var mu sync.Mutex
	delays := rand.New(rand.NewPCG(random.Uint64(), 1))
	far := network{w.server.leases(), func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		if delays.IntN(12) == 0 { // it stalls
			return time.Duration(delays.IntN(60_000)) * time.Millisecond
		}
		return time.Duration(delays.IntN(100)) * time.Millisecond
	}}
	setsClock := random.IntN(2) == 0
	for run := 0; ctx.Err() == nil; run++ {
		locker := NewLocker(far, m)
		held, err := locker.Lock(ctx, testKey(), Identity(fmt.Sprintf("%s, run %d", name, run)), LockOptions{Wait: seconds(120)})
		if err != nil {
			continue
		}
		w.hold(name, held)
		time.Sleep(seconds(20))
		if setsClock {
			m.setClock(seconds(120) - time.Minute)
		} else if random.IntN(2) == 0 {
			m.suspend(seconds(60))
		}
		time.Sleep(seconds(20))
		if random.IntN(3) == 0 { // killed
			w.hold(name, nil)
			held.stop()
			continue
		}
		w.hold(name, nil)
		_ = held.Release(context.WithoutCancel(ctx))
	}
}
