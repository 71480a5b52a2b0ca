package apply_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// lockUntil is a lock whose state check decides; the test closes lost.
type lockUntil struct {
	check func() error
	lost  chan struct{}
}

func (l lockUntil) Take(context.Context) error                    { return nil }
func (l lockUntil) Check() error                                  { return l.check() }
func (l lockUntil) Hold(context.Context) (<-chan struct{}, error) { return l.lost, l.check() }
func (l lockUntil) Lost() <-chan struct{}                         { return l.lost }
func (l lockUntil) Supported() bool                               { return true }

// lateLock is a lock that is not held from the start.
type lateLock struct {
	lockUntil
	take func() error
}

func (l lateLock) Take(context.Context) error { return l.take() }

// noLock stands in for the lock of a run that may not use Leases.
type noLock struct{ lockUntil }

func (noLock) Supported() bool { return false }

// A run without a lock says so in its pending record, and in no other; the plan stays
// as it was made.
func TestARunWithoutALockSaysSo(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	var said []string
	env := w.Env()
	env.Lock = noLock{lockUntil{check: func() error { return nil }}}
	w.Trouble = func(int) clusterfake.Trouble {
		if r := w.Records[2]; r != nil {
			said = append(said, r.Info.Description)
		}
		return clusterfake.Trouble{}
	}
	if _, err := apply.Run(t.Context(), p, env); err != nil {
		t.Fatal(err)
	}
	if got := said[0]; got != plan.PendingMark+": upgrade under way"+plan.UnlockedMark {
		t.Errorf("the pending record says %q", got)
	}
	if got := w.Records[2].Info.Description; got != "Upgrade complete" {
		t.Errorf("the record says %q at last", got)
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Record != nil && strings.Contains(s.Record.Description, plan.UnlockedMark) {
			t.Errorf("the plan says %q", s.Record.Description)
		}
	})
}

var errLost = errors.New("the lock is lost: two has taken it")

// losing returns a lock that is lost after the given time.
func losing(after time.Duration) lockUntil {
	lost := make(chan struct{})
	time.AfterFunc(after, func() { close(lost) })
	return lockUntil{lost: lost, check: func() error {
		select {
		case <-lost:
			return errLost
		default:
			return nil
		}
	}}
}

// stuck is a cluster where creations hang (hangs is "create") or what is created never becomes ready ("hook").
type stuck struct {
	*clusterfake.Cluster
	hangs string
}

func (s stuck) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if s.hangs == "create" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	created, err := s.Cluster.Create(ctx, u, o)
	if err == nil && s.hangs == "hook" {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		delete(s.Objects[clusterfake.IDOf(u)].Object, "status")
	}
	return created, err
}

// Logs is not answered while the API server is away, and given up after a while.
func (s stuck) Logs(ctx context.Context, _ apply.Ref, _ int64) (string, error) {
	return "", clusterfake.Sleep(ctx, 15*time.Second)
}

// A run that loses its lock while it waits for a hook, or while a write hangs,
// ends immediately, says why, and writes nothing more: neither records nor
// cleanups.
func TestALostLockEndsWaits(t *testing.T) {
	for hangs, want := range map[string]string{"hook": "pending-upgrade migrate", "create": "pending-upgrade"} {
		t.Run(hangs, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := installed(t)
				p := upgrade(t, w)
				env := w.Env()
				env.Cluster, env.Lock = stuck{w, hangs}, losing(20*time.Second)
				began := time.Now()
				_, err := apply.Run(t.Context(), p, env)
				if !errors.Is(err, errLost) || strings.Count(err.Error(), errLost.Error()) != 1 {
					t.Errorf("it has to say once that the lock is lost: %v", err)
				}
				if took := time.Since(began); took != 20*time.Second {
					t.Errorf("it took %v, want to end with the lock", took)
				}
				if got := brief(w.Log); got != want {
					t.Errorf("it wrote %q, want %q", got, want)
				}
			})
		})
	}
}

// A lock that can be taken only once the run has created its namespace is taken before the first record is
// written, and nothing is recorded without it.
func TestALateLockComesBeforeTheRecord(t *testing.T) {
	for _, taken := range []error{nil, errors.New("somebody else has it")} {
		w := installed(t)
		p := upgrade(t, w)
		env, takes := w.Env(), 0
		env.Lock = lateLock{lockUntil{check: func() error { return nil }}, func() error {
			takes++
			if w.Records[2] != nil {
				t.Error("the record was written before the lock was taken")
			}
			return taken
		}}
		_, err := apply.Run(t.Context(), p, env)
		if !errors.Is(err, taken) || takes != 1 || (w.Records[2] == nil) != (taken != nil) {
			t.Errorf("%v: %v, taken %d times, record %v", taken, err, takes, w.Records[2])
		}
	}
}

// expiring is a lock that expires once, and is held again later.
type expiring struct {
	lockUntil
	expired, again chan struct{}
}

func (l expiring) Hold(ctx context.Context) (<-chan struct{}, error) {
	select {
	case <-l.expired:
	default:
		return l.expired, nil
	}
	select {
	case <-l.again:
		return nil, nil
	default:
	}
	select {
	case <-l.again:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// hangsOnce is a cluster where the first creation hangs.
type hangsOnce struct {
	*clusterfake.Cluster
	hung *atomic.Bool
}

func (h hangsOnce) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if h.hung.CompareAndSwap(false, true) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.Cluster.Create(ctx, u, o)
}

// While the lock has expired, nothing is written: a write under way is cancelled, and sent again when the
// lock is held again. Nothing is lost by that.
func TestAnExpiredLockSuspendsWrites(t *testing.T) {
	want, _ := undisturbed(t)
	synctest.Test(t, func(t *testing.T) {
		w := installed(t)
		p := upgrade(t, w)
		lock := expiring{lockUntil{check: func() error { return nil }}, make(chan struct{}), make(chan struct{})}
		time.AfterFunc(20*time.Second, func() { close(lock.expired) })
		time.AfterFunc(time.Minute, func() { close(lock.again) })
		env := w.Env()
		env.Cluster, env.Lock = hangsOnce{w, new(atomic.Bool)}, lock
		var retried []string
		env.Observer = ear(func(e apply.Event) {
			if e.Type == apply.StepRetried || e.Type == apply.Note {
				retried = append(retried, e.Message)
			}
		})
		began := time.Now()
		if _, err := apply.Run(t.Context(), p, env); err != nil {
			t.Error(err)
		}
		if took := time.Since(began).Round(time.Second); took != time.Minute {
			t.Errorf("it took %v, want to end when the lock is held again", took)
		}
		if got, statuses := state(w); !maps.Equal(got, want) || statuses != "superseded,deployed" {
			t.Errorf("the cluster has %v, %s; want %v", got, statuses, want)
		}
		if len(retried) != 2 || !strings.Contains(retried[0], "not renewed in time") || !strings.Contains(retried[1], "nothing is written until it is") {
			t.Errorf("it says %q", retried)
		}
	})
}

// lapsing is a lock that has expired before each write, and is held again at once.
type lapsing struct{ lockUntil }

func (lapsing) Hold(ctx context.Context) (<-chan struct{}, error) { return nil, context.Cause(ctx) }

// Each time that writes have to wait for the lock is reported, not only the first.
func TestEachWaitForTheLockIsTold(t *testing.T) {
	w, told := installed(t), 0
	p, env := upgrade(t, w), w.Env()
	env.Lock = lapsing{lockUntil{check: func() error { return nil }}}
	env.Observer = ear(func(e apply.Event) {
		if strings.Contains(e.Message, "the lock can't be renewed") {
			told++
		}
	})
	if _, err := apply.Run(t.Context(), p, env); err != nil || told < 2 {
		t.Errorf("told %d times, %v", told, err)
	}
}

// answerLost is a store that keeps the first record, whose answer comes only when the request is cancelled.
type answerLost struct {
	apply.Store
	once *sync.Once
}

func (s answerLost) Create(ctx context.Context, r *release.Revision) error {
	err := s.Store.Create(ctx, r)
	s.once.Do(func() {
		<-ctx.Done()
		err = ctx.Err()
	})
	return err
}

// A run that ends while a write waits for the lock still knows that an earlier attempt may have stored its record.
func TestARecordIsFoundAfterAWaitForTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := installed(t)
		p := upgrade(t, w)
		ctx, cancel := context.WithCancel(t.Context())
		lock := expiring{lockUntil{check: func() error { return nil }}, make(chan struct{}), make(chan struct{})}
		time.AfterFunc(20*time.Second, func() { close(lock.expired) })
		time.AfterFunc(30*time.Second, cancel)
		time.AfterFunc(time.Minute, func() { close(lock.again) })
		env := w.Env()
		env.Lock, env.Store = lock, answerLost{env.Store, &sync.Once{}}
		outcome, err := apply.Run(ctx, p, env)
		if err == nil || !outcome.Recorded {
			t.Errorf("recorded %v: %v", outcome.Recorded, err)
		}
		if got := w.Records[2].Info.Status; got != release.StatusFailed {
			t.Errorf("revision 2 is %s", got)
		}
	})
}
