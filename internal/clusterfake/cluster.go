// Package clusterfake is a cluster in memory for tests: objects, records, and what goes
// wrong with each write. It has no defaulting, no validation and no controllers, except
// that Jobs complete immediately; what depends on those is tested on a real control plane.
package clusterfake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Cluster is an API server and a record store in memory. The zero value can't be used,
// see New. Its methods, except Put, are safe for concurrent use; its fields are not.
type Cluster struct {
	Mu sync.Mutex
	// Objects holds the existing objects.
	Objects map[manifest.ID]*unstructured.Unstructured
	// Records holds the revisions of one release, by version.
	Records map[int]*release.Revision
	// Calls counts the writes, and Log describes those that were not prevented by Trouble.
	Calls int
	Log   []string
	// Trouble decides what goes wrong with the n-th write, counted from 1.
	Trouble func(call int) Trouble
	// Denied holds the permissions that nobody has.
	Denied map[plan.Permission]bool
	// Refuse holds the API server's refusals in dry runs.
	Refuse map[manifest.ID]*plan.Refusal

	uids int
}

// Trouble is what goes wrong with a call: an error before or after it takes effect.
type Trouble struct {
	Before, After error
}

var (
	_ apply.Cluster = (*Cluster)(nil)
	_ apply.Store   = Store{}
)

// New returns an empty cluster in which nothing goes wrong.
func New() *Cluster {
	return &Cluster{
		Objects: map[manifest.ID]*unstructured.Unstructured{}, Records: map[int]*release.Revision{},
		Trouble: func(int) Trouble { return Trouble{} },
	}
}

// Write counts a write and runs effect, unless Trouble prevents it.
func (c *Cluster) Write(what string, effect func() error) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Calls++
	t := c.Trouble(c.Calls)
	if t.Before != nil {
		return t.Before
	}
	c.Log = append(c.Log, what)
	if err := effect(); err != nil {
		return err
	}
	return t.After
}

func resource(id manifest.ID) schema.GroupResource {
	return schema.GroupResource{Group: id.Group, Resource: id.Kind}
}

// IDOf returns the ID of an object.
func IDOf(u *unstructured.Unstructured) manifest.ID {
	gvk := u.GroupVersionKind()
	return manifest.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// Put stores a copy of an object, with a new UID if it has none, and returns another copy. It
// marks Jobs as complete. Mu must be held, unless nothing else uses the cluster.
func (c *Cluster) Put(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	if u.GetUID() == "" {
		c.uids++
		u.SetUID(types.UID(fmt.Sprintf("uid-%d", c.uids)))
	}
	if u.GroupVersionKind().GroupKind() == kinds.Job {
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}, "succeeded": int64(1)}
	}
	c.Objects[IDOf(u)] = u
	return u.DeepCopy()
}

// Get returns a copy of an object.
func (c *Cluster) Get(_ context.Context, ref apply.Ref) (*unstructured.Unstructured, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if o := c.Objects[ref.ID]; o != nil {
		return o.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(resource(ref.ID), ref.Name)
}

// Create stores a new object.
func (c *Cluster) Create(_ context.Context, u *unstructured.Unstructured, _ apply.WriteOptions) (created *unstructured.Unstructured, err error) {
	id := IDOf(u)
	err = c.Write("create "+id.String(), func() error {
		if c.Objects[id] != nil {
			return apierrors.NewAlreadyExists(resource(id), id.Name)
		}
		created = c.Put(u)
		return nil
	})
	return created, err
}

// MigrateOwnership counts as a write, and changes nothing.
func (c *Cluster) MigrateOwnership(_ context.Context, ref apply.Ref, uid types.UID, _ apply.Fields, _ apply.WriteOptions) (found bool, err error) {
	err = c.Write("migrate ownership of "+ref.String(), func() error {
		live := c.Objects[ref.ID]
		found = live != nil && live.GetUID() == uid
		return nil
	})
	return found, err
}

// Replace overwrites an object.
func (c *Cluster) Replace(_ context.Context, u *unstructured.Unstructured, _ apply.WriteOptions) (after *unstructured.Unstructured, err error) {
	err = c.Write("replace "+IDOf(u).String(), func() error { after = c.Put(u); return nil })
	return after, err
}

// Patch merges a patch into an object; an apply patch may also create one.
func (c *Cluster) Patch(_ context.Context, ref apply.Ref, p apply.Patch, _ apply.WriteOptions) (after *unstructured.Unstructured, err error) {
	err = c.Write("patch "+ref.String(), func() error {
		patched, err := c.patched(ref, p)
		if err == nil {
			after = c.Put(patched)
		}
		return err
	})
	return after, err
}

// patched returns an object with a patch applied; Mu must be held. It imitates only the part
// of server-side apply that matters here: a resourceVersion in the body must be that of the
// object, if that exists.
func (c *Cluster) patched(ref apply.Ref, p apply.Patch) (*unstructured.Unstructured, error) {
	live := c.Objects[ref.ID]
	if p.Type != types.ApplyPatchType {
		if live == nil {
			return nil, apierrors.NewNotFound(resource(ref.ID), ref.Name)
		}
		return patch.Apply(live, patch.Patch{Type: p.Type, Data: p.Data})
	}
	var sent unstructured.Unstructured
	if err := sent.UnmarshalJSON(p.Data); err != nil {
		return nil, err
	}
	version := sent.GetResourceVersion()
	sent.SetResourceVersion("")
	if live == nil {
		return &sent, nil
	}
	if version != "" && version != live.GetResourceVersion() {
		return nil, apierrors.NewConflict(resource(ref.ID), ref.Name, errors.New("the object has been modified"))
	}
	merged := live.DeepCopy()
	maps.Copy(merged.Object, sent.Object)
	merged.SetUID(live.GetUID())
	return merged, nil
}

// Delete removes an object; with a UID, only the one with that UID.
func (c *Cluster) Delete(_ context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	return c.Write("delete "+ref.String(), func() error {
		live := c.Objects[ref.ID]
		if live == nil {
			return apierrors.NewNotFound(resource(ref.ID), ref.Name)
		}
		if o.UID != "" && o.UID != live.GetUID() {
			return apierrors.NewConflict(resource(ref.ID), ref.Name, errors.New("the UID in the precondition differs"))
		}
		delete(c.Objects, ref.ID)
		return nil
	})
}

// Watch reports the current states once; what is not ready then never becomes ready.
func (c *Cluster) Watch(ctx context.Context, gvk schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	for _, name := range names {
		c.Mu.Lock()
		object := c.Objects[manifest.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: namespace, Name: name}]
		c.Mu.Unlock()
		if !see(name, object) {
			return nil
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// Diagnose returns an empty diagnosis.
func (c *Cluster) Diagnose(context.Context, apply.Ref, time.Time) apply.Diagnosis {
	return apply.Diagnosis{}
}

// Reasons returns no reasons.
func (c *Cluster) Reasons(_ context.Context, asked []apply.Asked) [][]apply.Reason {
	return make([][]apply.Reason, len(asked))
}

// Logs always returns the same text.
func (c *Cluster) Logs(context.Context, apply.Ref, int64) (string, error) { return "the log", nil }

// Env returns an environment that applies plans to the cluster, and hardly sleeps.
func (c *Cluster) Env() apply.Env {
	return apply.Env{
		Cluster: c, Store: Store{c}, History: Store{c}.History(),
		Now:   func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) },
		Sleep: func(ctx context.Context, _ time.Duration) error { return Sleep(ctx, time.Millisecond) },
	}
}

// Sleep sleeps for d, or until ctx ends, and returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	slept, end := context.WithTimeout(ctx, d)
	defer end()
	<-slept.Done()
	return ctx.Err()
}

// FailingJobs is a cluster in which Jobs fail.
type FailingJobs struct{ *Cluster }

// Create stores a new object; a Job fails immediately.
func (f FailingJobs) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	created, err := f.Cluster.Create(ctx, u, o)
	if err != nil || u.GroupVersionKind().GroupKind() != kinds.Job {
		return created, err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Objects[IDOf(u)].Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit",
	}}}
	return created, nil
}
