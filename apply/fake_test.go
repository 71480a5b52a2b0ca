package apply_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// world is an API server and a record store in memory. Every write is a call;
// trouble decides what goes wrong with the n-th one.
type world struct {
	mu      sync.Mutex
	objects map[manifest.ID]*unstructured.Unstructured
	records map[int]*release.Revision
	uids    int
	calls   int
	log     []string
	trouble func(call int) trouble
}

// trouble is what happens to a call: an error before it takes effect, or after.
type trouble struct {
	before, after error
}

var (
	_ apply.Cluster = (*world)(nil)
	_ apply.Store   = store{}
)

func newWorld() *world {
	return &world{
		objects: map[manifest.ID]*unstructured.Unstructured{}, records: map[int]*release.Revision{},
		trouble: func(int) trouble { return trouble{} },
	}
}

// call counts a write and lets it go wrong.
func (w *world) call(what string, effect func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	t := w.trouble(w.calls)
	if t.before != nil {
		return t.before
	}
	w.log = append(w.log, what)
	if err := effect(); err != nil {
		return err
	}
	return t.after
}

func resource(id manifest.ID) schema.GroupResource {
	return schema.GroupResource{Group: id.Group, Resource: id.Kind}
}

func idOf(u *unstructured.Unstructured) manifest.ID {
	gvk := u.GroupVersionKind()
	return manifest.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

func (w *world) put(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	if u.GetUID() == "" {
		w.uids++
		u.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
	}
	if u.GetKind() == "Job" {
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}, "succeeded": int64(1)}
	}
	w.objects[idOf(u)] = u
	return u.DeepCopy()
}

func (w *world) Get(_ context.Context, ref apply.Ref) (*unstructured.Unstructured, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o := w.objects[ref.ID]; o != nil {
		return o.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(resource(ref.ID), ref.Name)
}

func (w *world) Create(_ context.Context, u *unstructured.Unstructured, _ apply.WriteOptions) (created *unstructured.Unstructured, err error) {
	id := idOf(u)
	err = w.call("create "+id.String(), func() error {
		if w.objects[id] != nil {
			return apierrors.NewAlreadyExists(resource(id), id.Name)
		}
		created = w.put(u)
		return nil
	})
	return created, err
}

func (w *world) MigrateOwnership(_ context.Context, ref apply.Ref, _ types.UID, _ apply.Fields, _ apply.WriteOptions) error {
	return w.call("hand over "+ref.String(), func() error { return nil })
}

func (w *world) Replace(_ context.Context, u *unstructured.Unstructured, _ apply.WriteOptions) (after *unstructured.Unstructured, err error) {
	err = w.call("replace "+idOf(u).String(), func() error { after = w.put(u); return nil })
	return after, err
}

func (w *world) Patch(_ context.Context, ref apply.Ref, p apply.Patch, _ apply.WriteOptions) (after *unstructured.Unstructured, err error) {
	err = w.call("patch "+ref.String(), func() error {
		live := w.objects[ref.ID]
		if p.Type == types.ApplyPatchType {
			after, err = w.apply(live, ref, p.Data)
			return err
		}
		if live == nil {
			return apierrors.NewNotFound(resource(ref.ID), ref.Name)
		}
		merged, err := patch.Apply(live, patch.Patch{Type: p.Type, Data: p.Data})
		if err != nil {
			return err
		}
		after = w.put(merged)
		return nil
	})
	return after, err
}

// apply plays the part of server-side apply that matters here: a
// resourceVersion in the body has to be the object's, where there is one.
func (w *world) apply(live *unstructured.Unstructured, ref apply.Ref, data []byte) (*unstructured.Unstructured, error) {
	var sent unstructured.Unstructured
	if err := sent.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	version := sent.GetResourceVersion()
	sent.SetResourceVersion("")
	if live == nil {
		return w.put(&sent), nil
	}
	if version != "" && version != live.GetResourceVersion() {
		return nil, apierrors.NewConflict(resource(ref.ID), ref.Name, errors.New("the object has been modified"))
	}
	merged := live.DeepCopy()
	for k, v := range sent.Object {
		merged.Object[k] = v
	}
	merged.SetUID(live.GetUID())
	return w.put(merged), nil
}

func (w *world) Delete(_ context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	return w.call("delete "+ref.String(), func() error {
		live := w.objects[ref.ID]
		if live == nil {
			return apierrors.NewNotFound(resource(ref.ID), ref.Name)
		}
		if o.UID != "" && o.UID != live.GetUID() {
			return apierrors.NewConflict(resource(ref.ID), ref.Name, errors.New("the UID in the precondition differs"))
		}
		delete(w.objects, ref.ID)
		return nil
	})
}

// Watch tells the present states once; what is not ready then stays so.
func (w *world) Watch(ctx context.Context, gvk schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	for _, name := range names {
		w.mu.Lock()
		object := w.objects[manifest.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: namespace, Name: name}]
		w.mu.Unlock()
		if !see(name, object) {
			return nil
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

func (w *world) Diagnose(context.Context, apply.Ref, time.Time) apply.Diagnosis {
	return apply.Diagnosis{}
}

func (w *world) Reasons(_ context.Context, asked []apply.Asked) [][]apply.Reason {
	return make([][]apply.Reason, len(asked))
}

func (w *world) Logs(context.Context, apply.Ref, int64) (string, error) { return "the log", nil }

// store is the records of a world.
type store struct{ *world }

func (s store) Create(_ context.Context, r *release.Revision) error {
	return s.call(fmt.Sprintf("record %d %s", r.Version, r.Info.Status), func() error {
		if old := s.records[r.Version]; old != nil && old.Info.Status != r.Info.Status {
			return errors.New("that revision is taken")
		}
		s.records[r.Version] = r
		return nil
	})
}

func (s store) Update(_ context.Context, r *release.Revision) error {
	return s.call(fmt.Sprintf("record %d %s", r.Version, r.Info.Status), func() error {
		s.records[r.Version] = r
		return nil
	})
}

func (s store) Delete(_ context.Context, _ release.Key, version int) error {
	return s.call(fmt.Sprintf("drop %d", version), func() error {
		delete(s.records, version)
		return nil
	})
}

func (s store) history() release.History {
	var all []*release.Revision
	for _, r := range s.records {
		all = append(all, r)
	}
	return release.NewHistory(all)
}

// env runs against a world, and hardly ever sleeps.
func (w *world) env() apply.Env {
	return apply.Env{
		Cluster: w, Store: store{w}, History: store{w}.history(),
		Now:   func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) },
		Sleep: func(ctx context.Context, _ time.Duration) error { return sleepUnlessDone(ctx, time.Millisecond) },
	}
}

// failingJobs is a world in which Jobs fail.
type failingJobs struct{ *world }

func (f *failingJobs) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	created, err := f.world.Create(ctx, u, o)
	if err != nil || u.GetKind() != "Job" {
		return created, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[idOf(u)].Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit",
	}}}
	return created, nil
}
