package controller

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// etcd is an API server that holds one HelmRelease, apps/web, and is its own cache.
type etcd struct {
	client.Client
	content map[string]any
	version int
	// before is called before a status is accepted.
	before func()
}

func (e *etcd) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if o, ok := into.(*helmRelease); ok && key.Name == "web" {
		return e.read(o)
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (e *etcd) read(into *helmRelease) error {
	data, err := json.Marshal(e.content)
	if err != nil {
		return err
	}
	*into = helmRelease{}
	err = json.Unmarshal(data, into)
	into.ResourceVersion = strconv.Itoa(e.version)
	return err
}

// change changes a field, as somebody else would.
func (e *etcd) change(of, name string, to any) {
	e.content[of].(map[string]any)[name] = to
	e.version++
}

func (e *etcd) Status() client.SubResourceWriter { return statuses{e: e} }

// statuses accepts merge patches of the status, field by field.
type statuses struct {
	client.SubResourceWriter
	e *etcd
}

func (s statuses) Patch(_ context.Context, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
	if s.e.before != nil {
		s.e.before()
	}
	data, err := p.Data(o)
	if err != nil {
		return err
	}
	var patch struct {
		Metadata struct{ ResourceVersion string }
		Status   map[string]any
	}
	if err := json.Unmarshal(data, &patch); err != nil {
		return err
	}
	if v := patch.Metadata.ResourceVersion; v != "" && v != strconv.Itoa(s.e.version) {
		return apierrors.NewConflict(schema.GroupResource{Resource: "helmreleases"}, "web", nil)
	}
	status := s.e.content["status"].(map[string]any)
	for name, value := range patch.Status {
		if status[name] = value; value == nil {
			delete(status, name)
		}
	}
	s.e.version++
	return s.e.read(o.(*helmRelease))
}

// passing runs a test's passes.
type passing func(ctx context.Context, hr *flux.HelmRelease, in reconcile.Sources, report reconcile.Report) (reconcile.Outcome, error)

func (f passing) Reconcile(ctx context.Context, hr *flux.HelmRelease, in reconcile.Sources, report reconcile.Report) (reconcile.Outcome, error) {
	return f(ctx, hr, in, report)
}

func (f passing) Supersedes(context.Context, *flux.HelmRelease, reconcile.Sources) (bool, error) {
	return false, nil
}

// desk returns a reconciler for the HelmRelease apps/web.
func desk(t *testing.T, f passing) (*reconciler, *etcd) {
	t.Helper()
	counted, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	e := &etcd{version: 1, content: map[string]any{
		"metadata": map[string]any{"namespace": "apps", "name": "web", "uid": "1", "generation": 1, "finalizers": []any{finalizer}},
		"spec":     map[string]any{"interval": "10m"}, "status": map[string]any{},
	}}
	digests := func() sums { return sums{digests: map[client.ObjectKey]fingerprint{}} }
	r := &reconciler{
		client: e, live: e, passes: f, records: &recordDigests{digests()}, synced: &syncDigests{digests: map[client.ObjectKey]stateDigest{}},
		wrote: &writes{versions: map[client.ObjectKey]string{}}, drift: &driftWatch{sums: digests(), last: map[client.ObjectKey]time.Time{}, asked: map[client.ObjectKey]bool{}},
		events:  &events{records: &eventWriter{queue: make(chan *corev1.Event, 100)}, log: logr.Discard(), now: time.Now},
		metrics: counted, memory: newBudget(256<<20, func(int64) {}), now: time.Now, options: Options{WatchAllNamespaces: true},
		tries: workqueue.NewTypedItemExponentialFailureRateLimiter[client.ObjectKey](time.Second, time.Minute),
	}
	r.detached = newDetached(r)
	return r, e
}

var web = ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "apps", Name: "web"}}

// passed runs a pass.
func passed(t *testing.T, r *reconciler) ctrl.Result {
	t.Helper()
	out, err := r.reconcile(t.Context(), web, pauses{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The pause before a pass that is wanted soon grows with each such pass in a row, and starts over
// after one that is not.
func TestPausesOfTriesGrow(t *testing.T) {
	again := true
	r, _ := desk(t, func(_ context.Context, hr *flux.HelmRelease, _ reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
		return reconcile.Outcome{Status: hr.Status, Again: again, After: time.Hour}, nil
	})
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if got := passed(t, r).RequeueAfter; got != want*time.Second {
			t.Errorf("the pause is %s, want %ds", got, want)
		}
	}
	again = false
	if got := passed(t, r).RequeueAfter; got != time.Hour {
		t.Error(got)
	}
	again = true
	if got := passed(t, r).RequeueAfter; got != time.Second {
		t.Errorf("the pause begins with %s", got)
	}
}

// A process that slept between its last record and its status does not overwrite what its
// successor has written in the meantime, nor report any of it again; what it wrote before it
// slept counts, too.
func TestCheck44StatusesAreFenced(t *testing.T) {
	for _, at := range []int{1, 2} {
		r, e := desk(t, func(ctx context.Context, hr *flux.HelmRelease, _ reconcile.Sources, report reconcile.Report) (reconcile.Outcome, error) {
			mine := hr.Status
			mine.Failures = 1
			if err := report(ctx, mine, nil); err != nil {
				return reconcile.Outcome{Status: mine}, err
			}
			mine.Failures = 2
			return reconcile.Outcome{Status: mine, Changed: true}, nil
		})
		n := 0
		e.before = func() {
			if n++; n == at {
				e.change("status", "failures", 7.0)
			}
		}
		if got := passed(t, r).RequeueAfter; got != behindPause {
			t.Errorf("at write %d: the next pass is after %s", at, got)
		}
		if got := e.content["status"].(map[string]any)["failures"]; got != 7.0 || n != at {
			t.Errorf("at write %d of %d: failures are %v", at, n, got)
		}
	}
}

// Other changes during a pass, such as an annotation, do not keep its status from being written.
func TestStatusBesideOtherChanges(t *testing.T) {
	var e *etcd
	r, e := desk(t, func(_ context.Context, hr *flux.HelmRelease, _ reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
		e.change("metadata", "annotations", map[string]any{"a": "b"})
		done := hr.Status
		done.Failures = 2
		return reconcile.Outcome{Status: done, Changed: true, After: time.Hour}, nil
	})
	passed(t, r)
	if got := e.content["status"].(map[string]any)["failures"]; got != 2.0 {
		t.Errorf("failures are %v", got)
	}
}

// A panic ends only its own pass: it is an error, which controller-runtime counts, wherever
// it happens, and the pass is tried again.
func TestAPanicEndsOnePass(t *testing.T) {
	for want, broken := range map[string]any{
		"it is [REDACTED]": &reconcile.PanicError{What: "it is [REDACTED]"},
		"string":           "s3cr3t-canary-value",
	} {
		r, e := desk(t, func(ctx context.Context, hr *flux.HelmRelease, _ reconcile.Sources, report reconcile.Report) (reconcile.Outcome, error) {
			begun := hr.Status
			begun.Failures = 5
			if err := report(ctx, begun, nil); err != nil {
				return reconcile.Outcome{}, err
			}
			if err, ok := broken.(error); ok {
				return reconcile.Outcome{Status: hr.Status}, err
			}
			panic(broken)
		})
		for range 2 {
			func() {
				defer func() {
					if got := recover(); got != want {
						t.Errorf("it says %v, want %s", got, want)
					}
				}()
				_, err := r.detached.Reconcile(t.Context(), web)
				t.Errorf("it ends with %v", err)
			}()
		}
		if got := e.content["status"].(map[string]any)["failures"]; got != 5.0 {
			t.Errorf("the status is not what was written last: %v", got)
		}
	}
}

// Once its finalizer is gone, a HelmRelease whose deletion somebody else's finalizer still delays is left
// alone: the name of its release may belong to another one by now.
func TestADeletedHelmReleaseIsUninstalledOnce(t *testing.T) {
	passes := 0
	r, e := desk(t, func(_ context.Context, hr *flux.HelmRelease, _ reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
		passes++
		return reconcile.Outcome{Status: hr.Status}, nil
	})
	e.change("metadata", "deletionTimestamp", "2026-11-26T22:00:00Z")
	e.change("metadata", "finalizers", []any{finalizer, "foregroundDeletion"})
	if passed(t, r); passes != 1 {
		t.Errorf("%d passes with the finalizer", passes)
	}
	e.change("metadata", "finalizers", []any{"foregroundDeletion"})
	if passed(t, r); passes != 1 {
		t.Errorf("%d passes, one of them without the finalizer", passes)
	}
}

// leftInSync returns the status of a HelmRelease after a pass that leaves nothing to do.
func leftInSync(hr *flux.HelmRelease) flux.HelmReleaseStatus {
	done := hr.Status
	done.ObservedGeneration = 1
	done.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "InstallSucceeded"}}
	return done
}

// A pass over objects that were not watched yet does not count as one that saw them: one that was
// deleted before its kind was watched would never be missed.
func TestAPassThatDidNotSeeItsObjects(t *testing.T) {
	passes := 0
	r, e := desk(t, func(_ context.Context, hr *flux.HelmRelease, _ reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
		passes++
		done := leftInSync(hr)
		done.Inventory = &flux.Inventory{Entries: []flux.InventoryEntry{{ID: "apps_web_apps_Deployment", Version: "v1"}}}
		return reconcile.Outcome{Status: done, Changed: passes == 1, After: time.Hour}, nil
	})
	r.drift.kinds = map[schema.GroupVersionKind]*kindWatch{}
	r.drift.begin = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[schema.GroupVersionKind]())
	e.change("spec", "driftDetection", map[string]any{"mode": "enabled"})
	for range 2 {
		passed(t, r)
	}
	r.drift.kinds[schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}].synced = func() bool { return true }
	for range 3 {
		passed(t, r)
	}
	if passes != 3 {
		t.Errorf("%d passes, want two before the kind is watched and one after", passes)
	}
}

// Records in a namespace that is not watched may change unseen: each pass reads them.
func TestRecordsThatAreNotWatched(t *testing.T) {
	for _, c := range []struct {
		all     bool
		storage string
		want    int
	}{
		{all: true, storage: "records", want: 1},
		{storage: "apps", want: 1},
		{storage: "records", want: 3},
	} {
		passes := 0
		r, e := desk(t, func(_ context.Context, hr *flux.HelmRelease, in reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
			passes++
			if in.RecordsUnchanged {
				t.Errorf("%+v: pass %d takes the records for unchanged", c, passes)
			}
			return reconcile.Outcome{Status: leftInSync(hr), Changed: passes == 1, After: time.Hour}, nil
		})
		r.options.WatchAllNamespaces, r.options.Namespace = c.all, "apps"
		e.change("spec", "storageNamespace", c.storage)
		for range 3 {
			passed(t, r)
		}
		if passes != c.want {
			t.Errorf("%+v: %d passes", c, passes)
		}
	}
}
