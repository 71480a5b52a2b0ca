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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// guarded returns a chart whose pre-delete hook an uninstall runs first, and an upgrade as well if broken
// is set.
func guarded(text string, broken bool) Source {
	events := "pre-delete"
	if broken {
		events += ",post-install,post-upgrade"
	}
	return Source{Chart: &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "shop", Version: "1.0.0"},
		Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {text: ` + text + `}
---
apiVersion: batch/v1
kind: Job
metadata: {name: guard, annotations: {helm.sh/hook: "` + events + `"}}
`)}},
	}}
}

// An uninstall that fails or is killed changes the status of the newest revision, not whether it had been
// deployed: an atomic upgrade that fails afterwards goes back to what was there.
func TestAtomicFailureAfterAnUninstallThatDidNotEnd(t *testing.T) {
	for name, test := range map[string]struct {
		broken, killed bool // whether revision 2 fails, and whether the uninstall is killed
		to             int
		text, statuses string
	}{
		"it failed":                     {to: 2, text: "two", statuses: "superseded failed failed deployed"},
		"it was killed":                 {killed: true, to: 2, text: "two", statuses: "superseded failed failed deployed"},
		"that of a failed revision":     {broken: true, to: 1, text: "one", statuses: "superseded failed failed deployed"},
		"or that of one, and is killed": {broken: true, killed: true, to: 1, text: "one", statuses: "superseded failed failed deployed"},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				must := func(err error, fails bool) {
					if (err != nil) != fails {
						t.Fatal(err)
					}
				}
				_, err := b.deploy(Deployment{Source: guarded("one", false)}, nothing)
				must(err, false)
				b.Cluster = failingJobs{c}
				_, err = b.deploy(Deployment{Source: guarded("two", test.broken)}, nothing)
				must(err, test.broken)

				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.killed {
					b.Cluster = leavingJobs{c, func() { cancel(apply.ErrLeave) }}
				}
				_, _, err = b.PlanAndApply(ctx, releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
					return b.PlanUninstall(ctx, webKey, Uninstall{})
				}, func(*plan.Plan) error { return nil })
				must(err, true)

				b.Cluster = failingJobs{c}
				_, err = b.deploy(Deployment{Source: guarded("three", true), Options: plan.Options{Atomic: true}}, nothing)
				var back *RolledBackError
				if !errors.As(err, &back) || back.Rollback != nil || back.To != test.to {
					t.Errorf("error %v, want one that says that it was rolled back to %d", err, test.to)
				}
				if got := c.Objects[configMap].Object["data"].(map[string]any)["text"]; got != test.text || b.statuses() != test.statuses {
					t.Errorf("the ConfigMap says %v, the history is %q", got, b.statuses())
				}
			})
		})
	}
}

// The second uninstall of a release whose history was kept removes the records, and runs no hook again.
func TestUninstallOfKeptHistory(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		if _, err := b.deploy(Deployment{Source: guarded("one", false)}, nothing); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"uninstalled", ""} {
			_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
				return b.PlanUninstall(ctx, webKey, Uninstall{Options: plan.Options{KeepHistory: want != ""}})
			}, func(*plan.Plan) error { return nil })
			if err != nil || b.statuses() != want {
				t.Errorf("uninstall %d leaves the history %q, error %v", i+1, b.statuses(), err)
			}
			b.Cluster = failingJobs{c} // from now on a hook would fail
		}
	})
}

// lingering is a cluster in which deleted objects go after a while, if ever.
type lingering struct {
	failingJobs
	takes time.Duration
}

func (l lingering) Delete(_ context.Context, ref apply.Ref, _ apply.DeleteOptions) error {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	now := metav1.Now()
	l.Objects[ref.ID].SetDeletionTimestamp(&now)
	l.Objects[ref.ID].SetFinalizers([]string{"example.com/hold"})
	return nil
}

func (l lingering) Watch(ctx context.Context, gvk schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	id := manifest.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: namespace, Name: names[0]}
	l.Mu.Lock()
	object := l.Objects[id]
	l.Mu.Unlock()
	if see(names[0], object) && object.GetDeletionTimestamp() != nil && clusterfake.Sleep(ctx, l.takes) == nil {
		l.Mu.Lock()
		delete(l.Objects, id)
		l.Mu.Unlock()
		see(names[0], nil)
		return nil
	}
	return l.failingJobs.Watch(ctx, gvk, namespace, names, see)
}

// A failed atomic install ends once what it has created is gone, so that it can be tried again. What does
// not go in time is named, and the uninstall goes on.
func TestAtomicInstallWaitsUntilItIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		says  string
	}{
		"it goes":         {takes: time.Minute, says: "the release was uninstalled again"},
		"it does not yet": {takes: time.Hour, says: "ConfigMap/web: it is still being deleted: it waits for the finalizers example.com/hold (gave up after 5m0s)"},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				b.Cluster = lingering{failingJobs{c}, test.takes}
				_, err := b.deploy(Deployment{Source: shop(map[string]any{"hook": true}), Options: plan.Options{Atomic: true}}, nothing)
				var back *RolledBackError
				if !errors.As(err, &back) || back.Rollback != nil || back.To != 0 || !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %v, want one that says: %s", err, test.says)
				}
				if left := c.Objects[configMap] != nil; left != (len(back.Back.Remaining) > 0) || left != (test.takes == time.Hour) || b.statuses() != "" {
					t.Errorf("it is left: %v; the history is %q", left, b.statuses())
				}
			})
		})
	}
}

// refusing is a cluster that refuses to delete one object.
type refusing struct {
	*clusterfake.Cluster
	id manifest.ID
}

func (r refusing) Delete(ctx context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	if ref.ID == r.id {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, ref.Name, errors.New("admission webhook says no"))
	}
	return r.Cluster.Delete(ctx, ref, o)
}

// The deletion of the release's namespace that fails is remembered where the records are not in it, and done by
// the next uninstall.
func TestUninstallWhoseNamespaceStays(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		id := plan.NamespaceID("shop")
		delete(c.Objects, id)
		source := guarded("one", false)
		source.Chart.Templates = append(source.Chart.Templates, &chart.File{Name: "templates/namespace.yaml", Data: []byte("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")})
		if _, err := b.deploy(Deployment{Source: source, Options: plan.Options{CreateNamespace: true}}, nothing); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			cluster  Cluster
			statuses string
		}{{refusing{c, id}, "failed"}, {c, ""}} {
			b.Cluster = test.cluster
			_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
				return b.PlanUninstall(ctx, webKey, Uninstall{})
			}, func(*plan.Plan) error { return nil })
			if (err != nil) != (test.statuses != "") || b.statuses() != test.statuses {
				t.Errorf("error %v, history %q, want %q", err, b.statuses(), test.statuses)
			}
		}
		if c.Objects[id] != nil {
			t.Error("the namespace is still there")
		}
	})
}

// A release whose namespace somebody has deleted is uninstalled where its records are not in it.
func TestUninstallWithoutNamespace(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		if _, err := b.deploy(Deployment{Source: guarded("one", false)}, nothing); err != nil {
			t.Fatal(err)
		}
		clear(c.Objects)
		b.client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, webKey.Namespace)
		})
		_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanUninstall(ctx, webKey, Uninstall{Options: plan.Options{NoHooks: true}})
		}, func(*plan.Plan) error { return nil })
		if err != nil || b.statuses() != "" {
			t.Errorf("error %v, history %q", err, b.statuses())
		}
	})
}

// A release in a terminating namespace, which has no Lease and gets none, is uninstalled without a lock. Nothing else is
// done there without one.
func TestUninstallInATerminatingNamespace(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		if _, err := b.deploy(Deployment{Source: guarded("one", false)}, nothing); err != nil {
			t.Fatal(err)
		}
		b.Cluster = authorizer{Cluster: c}
		b.client.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, terminating() })
		b.client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, releasestore.LeaseName(webKey.Name))
		})
		if _, err := b.deploy(Deployment{Source: guarded("two", false)}, nothing); !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			t.Errorf("an upgrade: error %v", err)
		}
		c.Objects[configMap].Object["data"] = map[string]any{"text": "by hand"}
		drift, err := b.PlanDrift(t.Context(), webKey, plan.Options{ForceConflicts: true}, plan.DriftScope{})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Restore(t.Context(), drift, releasestore.LockOptions{}); !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			t.Errorf("a correction of drift: error %v", err)
		}
		if got := c.Objects[configMap].Object["data"].(map[string]any)["text"]; got != "by hand" {
			t.Errorf("without a lock, the text was changed to %v", got)
		}
		_, _, err = b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanUninstall(ctx, webKey, Uninstall{Options: plan.Options{NoHooks: true}})
		}, func(*plan.Plan) error { return nil })
		if err != nil || b.statuses() != "" {
			t.Errorf("error %v, history %q", err, b.statuses())
		}
	})
}
