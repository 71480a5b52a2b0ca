package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// authorizer is a cluster that answers only what is permitted.
type authorizer struct {
	Cluster
	denied    string // a verb
	unchecked string
}

func (a authorizer) Access(_ context.Context, needed []plan.Permission) plan.Access {
	access := plan.Access{Denied: map[plan.Permission]bool{}, Unchecked: a.unchecked}
	for _, p := range needed {
		if p.Verb == a.denied {
			access.Denied[p] = true
		}
	}
	return access
}

// refuse makes the API server refuse a verb on Leases.
func (b bench) refuse(verb, why string) {
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	b.client.PrependReactor(verb, "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(leases, releasestore.LeaseName(webKey.Name), errors.New(why))
	})
}

// A run goes on without a lock only if the API server says that Leases are not permitted,
// and it says so. A quota or a webhook that answers with the same 403
// is an error.
func TestLockedWithoutPermissionOnly(t *testing.T) {
	const quota = "exceeded quota: q, requested: count/leases.coordination.k8s.io=1"
	for name, c := range map[string]struct {
		access  authorizer
		refused string
		why     string
		wrong   string // what the error has to say; "" if it runs without a lock
	}{
		"no permission to create":       {authorizer{denied: "create"}, "create", `User "ci" cannot create resource "leases"`, ""},
		"no permission at all":          {authorizer{denied: "get"}, "*", `User "ci" cannot create resource "leases"`, ""},
		"a quota":                       {authorizer{}, "create", quota, quota},
		"a webhook":                     {authorizer{}, "create", `admission webhook "w" denied the request`, `admission webhook "w"`},
		"a quota, and no deletions":     {authorizer{denied: "delete"}, "create", quota, quota},
		"nobody may ask":                {authorizer{unchecked: "forbidden"}, "create", `User "ci" cannot create resource "leases"`, ""},
		"a quota, and nobody may ask":   {authorizer{unchecked: "forbidden"}, "create", quota, quota},
		"a webhook, and nobody may ask": {authorizer{unchecked: "forbidden"}, "create", `admission webhook "w" denied the request: User "ci" cannot`, `admission webhook "w"`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b bench) {
				b.Cluster = c.access
				b.refuse(c.refused, c.why)
				ran := false
				err := b.Locked(t.Context(), webKey, releasestore.LockOptions{}, func(_ context.Context, lock apply.Lock) error {
					ran = true
					return lock.Check()
				})
				switch {
				case c.wrong == "" && (err != nil || !ran || len(*b.told) != 1 || (*b.told)[0].Type != apply.Warning):
					t.Errorf("ran: %t, error: %v, people were told %v, want one warning", ran, err, *b.told)
				case c.wrong != "" && (ran || err == nil || !strings.Contains(err.Error(), c.wrong)):
					t.Errorf("ran: %t, error: %v, want one with %q", ran, err, c.wrong)
				}
			})
		})
	}
}

// A run that was found unable to use Leases beforehand is also warned.
func TestUnusableLockIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		err := b.Locked(t.Context(), webKey, releasestore.LockOptions{Unusable: true}, func(context.Context, apply.Lock) error { return nil })
		if err != nil || len(*b.told) != 1 || (*b.told)[0].Type != apply.Warning {
			t.Errorf("error %v, people were told %v, want one warning", err, *b.told)
		}
	})
}

// If reading a Lease is refused for any reason but missing permission, the lock does not count as free.
func TestHolderUnreadForWantOfPermissionOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.refuse("get", "somebody refuses it")
		b.Cluster = authorizer{denied: "get"}
		if holder, held, err := b.Holder(t.Context(), webKey); err != nil || held || !holder.Unread {
			t.Errorf("without permission: %+v, %t, %v", holder, held, err)
		}
		b.Cluster = authorizer{}
		if _, _, err := b.Holder(t.Context(), webKey); err == nil {
			t.Error("no error though reading is permitted")
		}
	})
}

// A run in another container, with the same user, host name and process ID, is
// somebody else: no run starts beside it, and what it has recorded is not taken over.
func TestRunsOfOneTextAreToldApart(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		const text = "somebody on ci, process 1"
		b.Identity = releasestore.NewIdentity(text)
		b.works(releasestore.NewIdentity(text))
		b.pending()
		var locked *releasestore.LockedError
		err := b.Locked(t.Context(), webKey, releasestore.LockOptions{}, func(context.Context, apply.Lock) error {
			t.Error("it ran beside the holder")
			return nil
		})
		if !errors.As(err, &locked) || !strings.Contains(err.Error(), "is locked by "+text) {
			t.Errorf("error is %v, want one that names the holder", err)
		}
		history, err := b.history(t.Context(), webKey)
		if err != nil {
			t.Fatal(err)
		}
		g := gathered{history: history}
		if err := b.inspectPending(t.Context(), webKey, &g); err != nil {
			t.Fatal(err)
		}
		if g.pending.Holder != text {
			t.Errorf("the pending revision is that of %q, want %q", g.pending.Holder, text)
		}
	})
}

// A blocked plan is shown, not held up by the lock of a dead run, even if by its holder's
// clock the lock was renewed a moment ago.
func TestBlockedPlanDoesNotWaitForTheDead(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.pending()
		b.killed("the dead")
		p, err := b.PlanWhenUnlocked(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			history, err := b.history(ctx, webKey)
			if err != nil {
				return nil, err
			}
			blocked := &plan.Plan{Document: plan.Document{Release: webKey, FoundPending: true}}
			blocked.Summary.Blocking = 1
			return blocked, b.inspectPending(ctx, webKey, &gathered{history: history})
		})
		if err != nil || !p.Blocked() {
			t.Errorf("plan %+v, error %v", p, err)
		}
	})
}

// A run that queues for less time than the lock of a dead run lasts gets the lock nevertheless.
func TestDeadHolderOutlastsTheQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.killed("the dead")
		began := time.Now()
		err := b.Locked(t.Context(), webKey, releasestore.LockOptions{Wait: 10 * time.Second}, func(context.Context, apply.Lock) error { return nil })
		if took := time.Since(began); err != nil || took < 30*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

// terminating is the refusal of a Lease in a namespace that is terminating.
func terminating() error {
	err := apierrors.NewForbidden(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, releasestore.LeaseName(webKey.Name), errors.New("unable to create new content"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

// Only a missing or terminating namespace of the release is not an error: then there is nothing to lock. In a
// terminating one, the caller decides what to do without a lock.
func TestLockedWithoutNamespaceOnly(t *testing.T) {
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	for _, tc := range []struct {
		why   string
		err   error
		runs  bool
		takes bool
	}{
		{"the namespace", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop"), true, true},
		{"the namespace is terminating", terminating(), true, false},
		{"another one", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "other"), false, false},
		{"the Lease's API", apierrors.NewNotFound(leases, ""), false, false},
	} {
		inBubble(t, func(t *testing.T, b bench) {
			b.Cluster = authorizer{}
			b.client.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, tc.err
			})
			ran := false
			err := b.Locked(t.Context(), webKey, releasestore.LockOptions{}, func(ctx context.Context, lock apply.Lock) error {
				ran = true
				if err := errors.Join(lock.Check(), lock.Take(ctx)); (err == nil) != tc.takes {
					t.Errorf("%s: before a pending record: %v", tc.why, err)
				}
				return nil
			})
			if ran != tc.runs || (err == nil) != tc.runs {
				t.Errorf("%s: ran %t, %v", tc.why, ran, err)
			}
			if missing := (*apierrors.StatusError)(nil); !tc.runs && !errors.As(err, &missing) {
				t.Errorf("%s: %v", tc.why, err)
			}
		})
	}
}

// TestLockOfANewNamespace: a run that creates the namespace of its release takes the lock before it writes
// the first record, keeps others away from then on, and releases it.
func TestLockOfANewNamespace(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		exists := false
		b.client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return !exists, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, webKey.Namespace)
		})
		err := b.Locked(t.Context(), webKey, releasestore.LockOptions{}, func(ctx context.Context, lock apply.Lock) error {
			late, ok := lock.(*lateLock)
			if !ok || late.Check() != nil || !late.Supported() {
				t.Fatalf("the lock is %v", lock)
			}
			if err := late.Take(ctx); err != nil || late.lock() != nil {
				t.Errorf("in a namespace that does not exist the lock is %v, error %v", late.lock(), err)
			}
			exists = true
			for range 2 {
				if err := late.Take(ctx); err != nil {
					t.Fatal(err)
				}
			}
			other := *b.Engine
			other.Identity = "other"
			var locked *releasestore.LockedError
			if err := other.Locked(ctx, webKey, releasestore.LockOptions{}, func(context.Context, apply.Lock) error { return nil }); !errors.As(err, &locked) {
				t.Errorf("another run gets the lock, too: %v", err)
			}
			return late.Check()
		})
		if err != nil {
			t.Error(err)
		}
		if _, held, err := b.Locker.Inspect(t.Context(), webKey); held || err != nil {
			t.Errorf("afterwards the lock is held: %t, %v", held, err)
		}
	})
}
