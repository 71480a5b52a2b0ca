package apply_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// widget is a custom resource with one condition of this kind, which last changed at that time.
func widget(kind, at string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "shop", "name": "w", "uid": "uid-w"},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": kind, "status": "True", "message": "no room", "lastTransitionTime": at},
		}},
	}}
}

// staged is a cluster in which the widget passes through states while it is watched.
type staged struct {
	*clusterfake.Cluster
	states []*unstructured.Unstructured
}

func (s staged) Watch(ctx context.Context, _ schema.GroupVersionKind, _ string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	for _, state := range s.states {
		if !see(names[0], state) {
			return nil
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// A failure counts if this run caused it, or if nothing that this run does can
// end it. A failure from before the write is history while it stays unchanged.
func TestOldFailuresAreHistory(t *testing.T) {
	stalled, stillStalled, again := widget("Stalled", "0:00"), widget("Stalled", "0:00"), widget("Stalled", "0:09")
	well, working := widget("Ready", "0:05"), widget("Reconciling", "0:07")
	object := plan.Step{Object: clusterfake.IDOf(stalled), APIVersion: "example.com/v1"}
	write, wait, other := object, object, plan.Step{
		ID: "other", Op: plan.OpCreate, Object: manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "new"}, APIVersion: "v1",
		Body: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "shop", "name": "new"}}},
	}
	write.ID, write.Op, write.PatchType, write.Patch = "write", plan.OpPatch, types.MergePatchType, []byte(`{"spec":{"size":2}}`)
	wait.ID, wait.Op = "wait", plan.OpWait
	for _, test := range []struct {
		name   string
		before *unstructured.Unstructured
		steps  []plan.Step
		states []*unstructured.Unstructured
		failed bool
	}{
		{"written, recovers", stalled, []plan.Step{write}, []*unstructured.Unstructured{stillStalled, well}, false},
		{"written, fails anew", stalled, []plan.Step{write}, []*unstructured.Unstructured{stillStalled, again}, true},
		{"written, failed between write and wait", well, []plan.Step{write}, []*unstructured.Unstructured{stalled, well}, true},
		{"unwritten, recovers by what was written beside it", stalled, []plan.Step{other}, []*unstructured.Unstructured{stillStalled, well}, false},
		{"unwritten, fails by what was written beside it", well, []plan.Step{other}, []*unstructured.Unstructured{working, again}, true},
		{"nothing written", stalled, nil, []*unstructured.Unstructured{stillStalled, well}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := clusterfake.New()
			w.Put(test.before)
			p := &plan.Plan{Document: plan.Document{Operation: plan.Upgrade, Options: plan.Options{Timeout: time.Second}}}
			for _, s := range append(test.steps, wait) {
				p.Stages = append(p.Stages, plan.Stage{Name: plan.StageName(s.ID), Waves: []plan.Wave{{Steps: []plan.Step{s}}}})
			}
			env := w.Env()
			env.Cluster = staged{w, test.states}
			_, err := apply.Run(t.Context(), p, env)
			var late *apply.NotReadyError
			if got := errors.As(err, &late) && late.Failed; got != test.failed || !got && err != nil {
				t.Errorf("failed is %v, want %v; the error is %v", got, test.failed, err)
			}
		})
	}
}

// asked is a cluster that remembers what it was asked for.
type asked struct {
	staged
	since time.Time
	mu    sync.Mutex // the steps of a wave run side by side
	whole map[string]bool
}

func (a *asked) Patch(ctx context.Context, ref apply.Ref, p apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	a.mu.Lock()
	a.whole[ref.Kind] = o.Whole
	a.mu.Unlock()
	return a.Cluster.Patch(ctx, ref, p, o)
}

func (a *asked) Diagnose(_ context.Context, _ apply.Ref, since time.Time) apply.Diagnosis {
	a.since = since
	return apply.Diagnosis{}
}

// Reasons are requested from the time of the write on, by the server's clock: a write
// to an object that is waited for is answered with the whole object.
func TestReasonsBeginWithTheWrite(t *testing.T) {
	w := clusterfake.New()
	live := widget("Ready", "0:00")
	live.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "helm", Time: &metav1.Time{Time: time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC)}},
		{Manager: "controller", Subresource: "status", Time: &metav1.Time{Time: time.Date(2026, 11, 20, 11, 30, 0, 0, time.UTC)}},
	})
	w.Put(live)
	config := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "shop", "name": "c"}}}
	w.Put(config)
	patch := func(o *unstructured.Unstructured) plan.Step {
		return plan.Step{ID: "patch " + o.GetName(), Op: plan.OpPatch, Object: clusterfake.IDOf(o), APIVersion: o.GetAPIVersion(), PatchType: types.MergePatchType, Patch: []byte(`{"spec":{}}`)}
	}
	p := &plan.Plan{Document: plan.Document{Operation: plan.Upgrade, Options: plan.Options{Timeout: time.Second}, Stages: []plan.Stage{
		{Name: "resources", Waves: []plan.Wave{{Steps: []plan.Step{patch(live), patch(config)}}}},
		{Name: "wait", Waves: []plan.Wave{{Steps: []plan.Step{{ID: "wait", Op: plan.OpWait, Object: clusterfake.IDOf(live), APIVersion: "example.com/v1"}}}}},
	}}}
	env := w.Env()
	a := &asked{staged: staged{w, []*unstructured.Unstructured{widget("Stalled", "0:09")}}, whole: map[string]bool{}}
	env.Cluster = a
	if _, err := apply.Run(t.Context(), p, env); err == nil {
		t.Error("it has not failed")
	}
	if got := a.since.UTC().Format(time.RFC3339); got != "2026-11-20T11:00:00Z" {
		t.Errorf("reasons are asked for since %s", got)
	}
	if diff := cmp.Diff(map[string]bool{"Widget": true, "ConfigMap": false}, a.whole); diff != "" {
		t.Errorf("whole answers are asked for of (-want +got):\n%s", diff)
	}
}
