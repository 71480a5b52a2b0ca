package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// heard keeps the events that an observer receives.
type heard []apply.Event

func (h *heard) Observe(e apply.Event) { *h = append(*h, e) }

var webKey = release.Key{Namespace: "shop", Name: "web"}

// bench is an engine with locks and records in memory, in a synctest bubble whose clock
// jumps.
type bench struct {
	*Engine
	t      *testing.T
	client *fake.Clientset
	told   *heard
}

func inBubble(t *testing.T, test func(t *testing.T, b bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, told := clusterfake.Clientset(), &heard{}
		store, err := releasestore.Open(client.CoreV1(), "memory", releasestore.SystemClock{})
		if err != nil {
			t.Fatal(err)
		}
		e := &Engine{
			Store: store, Locker: releasestore.NewLocker(client.CoordinationV1(), releasestore.SystemClock{}),
			Observer: told, Now: time.Now, Identity: "me",
		}
		test(t, bench{Engine: e, t: t, client: client, told: told})
	})
}

// killed leaves what a killed run leaves: a Lease that nobody renews.
func (b bench) killed(owner string) {
	b.t.Helper()
	now, seconds := metav1.NewMicroTime(time.Now()), int32(30)
	_, err := b.client.CoordinationV1().Leases(webKey.Namespace).Create(b.t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: webKey.Namespace, Name: releasestore.LeaseName(webKey.Name)},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &owner, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now},
	}, metav1.CreateOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
}

// works takes the lock and renews it until the test ends or end is called.
func (b bench) works(owner releasestore.Identity) (end func()) {
	b.t.Helper()
	held, err := b.Locker.Lock(b.t.Context(), webKey, owner, releasestore.LockOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	end = func() { _ = held.Release(context.Background()) }
	b.t.Cleanup(end)
	return end
}

// pending stores a pending revision that a run of this program has begun.
func (b bench) pending() {
	b.t.Helper()
	r := &release.Revision{
		Name: webKey.Name, Namespace: webKey.Namespace, Version: 1,
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1.0.0"}},
		Info: release.Info{
			Status: release.StatusPendingInstall, Description: plan.PendingMark, LastDeployed: b.Now(),
		},
	}
	if err := b.Store.Create(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
}

// A killed run is waited for: its lock is free as soon as it expires.
func TestLockedOutlastsADeadHolder(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.killed("the dead")
		began, ran := time.Now(), false
		err := b.Locked(b.t.Context(), webKey, releasestore.LockOptions{}, func(context.Context, apply.Lock) error {
			ran = true
			return nil
		})
		if err != nil || !ran {
			t.Fatalf("ran is %t, error %v", ran, err)
		}
		if took := time.Since(began); took < 30*time.Second || took > 45*time.Second {
			t.Errorf("it took %s, want the 30s of the lock and a little more", took)
		}
		if len(*b.told) != 1 || (*b.told)[0].Type != apply.Note {
			t.Errorf("people were told %v, want one note that it waits", *b.told)
		}
	})
}

// A live run is not waited for unless that is requested.
func TestLockedGivesUpOnALivingHolder(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.works("the living")
		var locked *releasestore.LockedError
		err := b.Locked(b.t.Context(), webKey, releasestore.LockOptions{}, func(context.Context, apply.Lock) error {
			t.Error("it ran beside the holder")
			return nil
		})
		if !errors.As(err, &locked) || locked.Identity != "the living" {
			t.Errorf("error is %v, want one that names the holder", err)
		}
	})
}

// A pending revision is being worked on as long as its run renews the lock,
// and interrupted if it does not.
func TestPendingOfTheLivingAndOfTheDead(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(b bench)
		want  plan.Pending
	}{
		"nobody holds the lock":      {func(bench) {}, plan.Pending{Ours: true, Age: "0s"}},
		"its holder was killed":      {func(b bench) { b.killed("x") }, plan.Pending{Ours: true, Age: "6s"}},
		"its holder works":           {func(b bench) { b.works("x") }, plan.Pending{Ours: true, Age: "6s", Holder: "x"}},
		"we hold the lock ourselves": {func(b bench) { b.works("me") }, plan.Pending{Ours: true, Age: "0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b bench) {
				b.pending()
				c.leave(b)
				history, err := b.history(context.Background(), webKey)
				if err != nil {
					t.Fatal(err)
				}
				g := gathered{history: history}
				if err := b.inspectPending(context.Background(), webKey, &g); err != nil {
					t.Fatal(err)
				}
				if g.pending != c.want {
					t.Errorf("found %+v, want %+v", g.pending, c.want)
				}
			})
		})
	}
}

// A run that queues plans again when the other run has ended; one that does not gets an error
// that names the holder.
func TestPlanWhenUnlockedQueues(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		end := b.works("the other")
		plans := 0
		make := func(context.Context) (*plan.Plan, error) {
			plans++
			p := &plan.Plan{Document: plan.Document{Release: webKey, FoundPending: plans == 1}}
			if p.FoundPending {
				p.Summary.Blocking = 1
			}
			return p, nil
		}
		time.AfterFunc(20*time.Second, end)
		p, err := b.PlanWhenUnlocked(b.t.Context(), releasestore.LockOptions{Wait: time.Minute}, make)
		if err != nil || p.Blocked() || plans != 2 {
			t.Fatalf("%d plans, the last one %+v, error %v", plans, p, err)
		}
		plans = 0
		b.works("the other")
		var locked *releasestore.LockedError
		if _, err := b.PlanWhenUnlocked(b.t.Context(), releasestore.LockOptions{}, make); !errors.As(err, &locked) || locked.Identity != "the other" {
			t.Errorf("error is %v, want one that names the holder", err)
		}
	})
}

// preceded is a cluster in which another run has come first when a run creates the namespace of its release.
type preceded struct {
	*clusterfake.Cluster
	by func()
}

func (p preceded) Facts(ctx context.Context) (cluster.Facts, error) {
	facts, err := p.Cluster.Facts(ctx)
	facts.Cluster.UID = "dev" // by which a reviewed plan knows its cluster
	return facts, err
}

func (p preceded) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if u.GetKind() == "Namespace" {
		p.by()
	}
	return p.Cluster.Create(ctx, u, o)
}

func (p preceded) Patch(ctx context.Context, ref apply.Ref, patch apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if ref.Kind == "Namespace" {
		p.by()
	}
	return p.Cluster.Patch(ctx, ref, patch, o)
}

// Of two runs that install a release in a new namespace, the second one queues for the lock, and plans again when
// the first one has ended. A reviewed plan is refused by then, but not as
// stale, since the namespace was written. If the new plan can't be made, the outcome is still that
// of the first one.
func TestASecondInstallInANewNamespaceQueues(t *testing.T) {
	for _, kind := range []struct {
		mode     Mode
		reviewed bool
	}{{}, {reviewed: true}, {mode: InstallOnly}} {
		inBubble(t, func(t *testing.T, b bench) {
			c := clusterfake.New()
			b.Cluster = c
			b.client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				c.Mu.Lock()
				defer c.Mu.Unlock()
				return c.Objects[plan.NamespaceID("shop")] == nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop")
			})
			d := Deployment{Release: webKey, Source: shop(nil), Options: plan.Options{CreateNamespace: true}}
			again := d
			again.Mode = kind.mode
			first := *b.Engine
			first.Identity = "the first"
			second := *b.Engine
			second.Cluster = preceded{c, sync.OnceFunc(func() {
				if _, err := (bench{&first, t, b.client, b.told}).deploy(d, nothing); err != nil {
					t.Error(err)
				}
				time.AfterFunc(20*time.Second, b.works("the third"))
			})}
			var plans []plan.Operation
			prepare := func(ctx context.Context) (*plan.Plan, error) { return second.PlanDeployment(ctx, again) }
			began, lock := time.Now(), releasestore.LockOptions{Wait: time.Minute}
			if kind.reviewed {
				p, err := prepare(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var stale *StaleError
				outcome, err := second.ApplyReviewed(t.Context(), p, lock)
				if !errors.Is(err, apply.ErrChanged) || errors.As(err, &stale) || !outcome.Written {
					t.Errorf("outcome %+v, error %v", outcome, err)
				}
				if got := b.statuses(); got != "deployed" {
					t.Errorf("statuses %s, %v", got, err)
				}
				return
			}
			made, outcome, err := second.PlanAndApply(t.Context(), lock, prepare, func(p *plan.Plan) error {
				plans = append(plans, p.Operation)
				return nil
			})
			if kind.mode == InstallOnly {
				var exists *ExistsError
				if !errors.As(err, &exists) || made == nil || !outcome.Written || outcome.Made != 1 {
					t.Errorf("plan %v, outcome %+v, error %v", made, outcome, err)
				}
				return
			}
			if got := b.statuses(); err != nil || got != "superseded deployed" || !slices.Equal(plans, []plan.Operation{plan.Install, plan.Upgrade}) {
				t.Errorf("plans %v, statuses %s, error %v", plans, got, err)
			}
			if slices.ContainsFunc(*b.told, func(e apply.Event) bool { return e.Type == apply.StepFailed }) {
				t.Errorf("a step is said to have failed: %v", *b.told)
			}
			if took := time.Since(began); took < 20*time.Second {
				t.Errorf("it has not waited for the lock: %v", took)
			}
		})
	}
}
