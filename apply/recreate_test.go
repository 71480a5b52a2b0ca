package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// selecting returns a Deployment that selects these pods, which can't be changed in place.
func selecting(app string) string {
	return strings.ReplaceAll(`apiVersion: apps/v1
kind: Deployment
metadata: {name: frontend, namespace: shop}
spec: {selector: {matchLabels: {app: APP}}, template: {metadata: {labels: {app: APP}}, spec: {containers: [{name: a, image: b}]}}}
`, "APP", app)
}

var frontendID = manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "frontend"}

// departing is a cluster in which deleted Deployments are gone after a while, never if that is 0.
type departing struct {
	*clusterfake.Cluster
	after   time.Duration
	deleted func()
	gone    chan struct{}
}

func (d departing) Delete(ctx context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	if ref.Kind != "Deployment" {
		return d.Cluster.Delete(ctx, ref, o)
	}
	defer d.deleted()
	if d.after > 0 {
		time.AfterFunc(d.after, func() {
			d.Mu.Lock()
			defer d.Mu.Unlock()
			delete(d.Objects, ref.ID)
			close(d.gone)
		})
	}
	return d.Write("delete "+ref.String(), func() error { return nil })
}

func (d departing) Watch(ctx context.Context, kind schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	if kind.Kind == "Deployment" {
		select {
		case <-d.gone:
		case <-ctx.Done():
		}
	}
	return d.Cluster.Watch(ctx, kind, namespace, names, see)
}

// An object that was deleted to be created again is created although the run is told to end, unless that takes
// too long or the run may not write any more. If it is not created, the outcome says so.
func TestWhatWasDeletedIsCreatedAgain(t *testing.T) {
	const gone = "Deployment/frontend was deleted and not created again"
	for name, c := range map[string]struct {
		after  time.Duration // until the object is gone
		ends   error         // why the run is told to end once the object is deleted
		lost   bool          // with the lock
		refuse error         // of the creation
		took   time.Duration
		begun  []string
	}{
		"undisturbed":                {after: 10 * time.Second, took: 10 * time.Second},
		"cancelled":                  {after: 10 * time.Second, ends: context.Canceled, took: 10 * time.Second},
		"cancelled, and never gone":  {ends: context.Canceled, took: time.Minute, begun: []string{gone}},
		"cancelled, and refused":     {after: 10 * time.Second, ends: context.Canceled, refuse: forbidden(), took: 10 * time.Second, begun: []string{gone}},
		"refused":                    {after: 10 * time.Second, refuse: forbidden(), took: 10 * time.Second, begun: []string{gone}},
		"left to the next run":       {after: 10 * time.Second, ends: apply.ErrLeave, begun: []string{gone}},
		"without its lock":           {after: 10 * time.Second, lost: true, took: 5 * time.Second, begun: []string{gone}},
		"cancelled, then locked out": {after: 10 * time.Second, ends: context.Canceled, lost: true, took: 5 * time.Second, begun: []string{gone}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := clusterfake.New()
				if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, selecting("old"))), w.Env()); err != nil {
					t.Fatal(err)
				}
				w.Calls, w.Log = 0, nil
				p := plannedWith(t, w, plan.Upgrade, revision(2, selecting("new")), plan.Options{Force: true})
				ctx, cancel := context.WithCancelCause(t.Context())
				refused := false
				w.Trouble = func(int) clusterfake.Trouble {
					if !refused && c.refuse != nil && slices.Contains(w.Log, "delete Deployment/frontend") && w.Objects[frontendID] == nil {
						refused = true
						return clusterfake.Trouble{Before: c.refuse}
					}
					return clusterfake.Trouble{}
				}
				env, told := w.Env(), 0
				env.Sleep = clusterfake.Sleep
				env.Cluster = departing{w, c.after, func() {
					if c.ends != nil {
						cancel(c.ends)
					}
				}, make(chan struct{})}
				if c.lost {
					env.Lock = losing(5 * time.Second)
				}
				env.Observer = ear(func(e apply.Event) {
					if e.Type == apply.Note && strings.Contains(e.Message, "is created again before the run ends") {
						told++
					}
				})
				began := time.Now()
				outcome, err := apply.Run(ctx, p, env)
				if took := time.Since(began).Truncate(time.Second); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if diff := cmp.Diff(c.begun, outcome.Begun); diff != "" {
					t.Errorf("what was begun (-want +got):\n%s", diff)
				}
				created := slices.Contains(w.Log, "create Deployment/frontend")
				if created != (c.begun == nil) || (outcome.Made == 1) != created || !outcome.Written {
					t.Errorf("%+v after %q", outcome, w.Log)
				}
				cause := c.ends
				switch {
				case c.lost:
					cause = errLost
				case c.refuse != nil:
					cause = c.refuse
				}
				if cause == nil && err != nil || cause != nil && !errors.Is(err, cause) {
					t.Errorf("got %v, want %v", err, cause)
				}
				if (told == 1) != errors.Is(c.ends, context.Canceled) {
					t.Errorf("people are told %d times that it goes on", told)
				}
			})
		})
	}
}

// A map is emptied before the object is patched: if the patch is refused, the outcome says what was done. Of an object
// that was created again since the plan was made, nothing is emptied.
func TestWhatWasEmptiedIsInTheOutcome(t *testing.T) {
	for _, c := range []struct {
		refuse  error
		another bool
		want    []string
	}{
		{},
		{refuse: forbidden(), want: []string{"ConfigMap/changed: /data was emptied, but the rest of the change failed"}},
		{refuse: forbidden(), another: true},
	} {
		w := installed(t)
		p := upgrade(t, w)
		var changed *plan.Step
		p.Steps(func(_ plan.StageName, s *plan.Step) {
			if s.Object.Name == "changed" {
				changed = s
			}
		})
		changed.Empties, changed.PatchType = []string{"/data"}, types.ApplyPatchType
		if c.another {
			w.Objects[changed.Object].SetUID("another")
		}
		refused := false
		w.Trouble = func(int) clusterfake.Trouble {
			if n := len(w.Log); !refused && n > 0 && strings.HasPrefix(w.Log[n-1], "migrate ownership") {
				refused = true
				return clusterfake.Trouble{Before: c.refuse}
			}
			return clusterfake.Trouble{}
		}
		outcome, err := apply.Run(t.Context(), p, w.Env())
		if diff := cmp.Diff(c.want, outcome.Begun); diff != "" || !errors.Is(err, c.refuse) {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}
