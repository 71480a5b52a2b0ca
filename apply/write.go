package apply

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/plan"
)

// target is the object of a step as requests name it.
func target(s *plan.Step) Ref {
	gv, err := schema.ParseGroupVersion(s.APIVersion)
	if err != nil {
		return Ref{ID: s.Object}
	}
	return Ref{ID: s.Object, Version: gv.Version}
}

func (r *run) writeOptions() WriteOptions {
	return WriteOptions{FieldManager: r.plan.Options.FieldManager, Force: r.plan.Options.ForceConflicts}
}

// create sends an object that must not be there yet.
func (r *run) create(ctx context.Context, s *plan.Step) error {
	var created *unstructured.Unstructured
	err := r.try(ctx, s, func(ctx context.Context, again bool) error {
		var err error
		if s.PatchType == types.ApplyPatchType {
			created, err = r.serverSideCreate(ctx, s)
		} else {
			created, err = r.env.Cluster.Create(ctx, s.Body, r.writeOptions())
		}
		if apierrors.IsAlreadyExists(err) && (again || marked(s.Body)) {
			created, err = r.recognise(ctx, s, err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create %s: %w", s.Object, err)
	}
	r.wrote(s.Object, created)
	return nil
}

// noVersion is a resourceVersion that no object has: the store begins to count
// at 1 with nothing in it.
const noVersion = "1"

// serverSideCreate applies an object that shall not be there. An apply can't
// say so, but with a resourceVersion that no object has, the server creates
// what is missing and answers with a conflict where something is. (The
// managers in an answer would tell only when it is too late.)
func (r *run) serverSideCreate(ctx context.Context, s *plan.Step) (*unstructured.Unstructured, error) {
	body := manifest.Sharing(s.Body)
	body.SetResourceVersion(noVersion)
	data, err := json.Marshal(body.Object)
	if err != nil {
		return nil, err
	}
	created, err := r.env.Cluster.Patch(ctx, target(s), Patch{Type: types.ApplyPatchType, Data: data}, r.writeOptions())
	if apierrors.IsConflict(err) {
		switch _, lookErr := r.env.Cluster.Get(ctx, target(s)); {
		case apierrors.IsNotFound(lookErr):
			return nil, err // it was about something else: trying again is right
		case lookErr != nil: // nobody knows whether something is there; this may pass
			return nil, fmt.Errorf("%s, and looking at it: %w", err.Error(), lookErr)
		}
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Group: s.Object.Group, Resource: s.Object.Kind}, s.Object.Name)
	}
	return created, err
}

// marked reports whether the body carries a release's ownership, which nobody else
// gives an object while this run holds the lock.
func marked(body *unstructured.Unstructured) bool {
	return manifest.Annotation(body, manifest.ReleaseNameAnnotation) != ""
}

// recognise answers an already-exists after a create whose answer was lost, or was
// a refusal that something on the way has made up: an object that carries the
// release's ownership and all that was sent is ours.
func (r *run) recognise(ctx context.Context, s *plan.Step, exists error) (*unstructured.Unstructured, error) {
	live, err := r.env.Cluster.Get(ctx, target(s))
	if err != nil { // which may pass, unlike the other one
		return nil, fmt.Errorf("%s, and looking at it: %w", exists.Error(), err)
	}
	if patch.InSync(s.Body, live, s.Body) {
		delete(live.Object, "status") // it had none when it was created
		return live, nil
	}
	return nil, exists
}

func (r *run) patch(ctx context.Context, s *plan.Step) error {
	var err error
	if s.PatchType == types.ApplyPatchType {
		err = r.serverSideApply(ctx, s, r.writeOptions())
	} else {
		err = r.send(ctx, s, Patch{Type: s.PatchType, Data: s.Patch}, r.writeOptions())
	}
	if err != nil {
		return fmt.Errorf("patch %s: %w", s.Object, err)
	}
	return nil
}

// serverSideApply sends the step's body as a server-side apply of the object that the plan has seen.
func (r *run) serverSideApply(ctx context.Context, s *plan.Step, o WriteOptions) error {
	body := manifest.Sharing(s.Body)
	body.SetUID(s.Expect.UID)
	data, err := json.Marshal(body.Object)
	if err != nil {
		return err
	}
	return r.send(ctx, s, Patch{Type: types.ApplyPatchType, Data: data}, o)
}

// send hands over what the step says has to be the apply's own first, and patches. Of
// conflicts, the step's drift is passed over.
func (r *run) send(ctx context.Context, s *plan.Step, p Patch, o WriteOptions) error {
	var after *unstructured.Unstructured
	o.Whole = r.waitsFor(s.Object)
	err := r.try(ctx, s, func(ctx context.Context, _ bool) (err error) {
		if s.TakesOver() {
			fields := Fields{From: s.MigrateOwnership, Paths: s.Clears, Emptied: s.Empties}
			if err := r.env.Cluster.MigrateOwnership(ctx, target(s), s.Expect.UID, fields, r.writeOptions()); err != nil {
				return err
			}
		}
		after, err = r.env.Cluster.Patch(ctx, target(s), p, o)
		if s.Drift && managedfields.OnlyKubectlConflicts(err) {
			forced := o
			forced.Force = true
			after, err = r.env.Cluster.Patch(ctx, target(s), p, forced)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.wrote(s.Object, after)
	return nil
}

// replace overwrites whatever the object has become since the plan was made:
// that is what was asked for.
func (r *run) replace(ctx context.Context, s *plan.Step) error {
	var after *unstructured.Unstructured
	err := r.try(ctx, s, func(ctx context.Context, again bool) error {
		body := manifest.Sharing(s.Body)
		body.SetUID(s.Expect.UID)
		body.SetResourceVersion(s.Expect.ResourceVersion)
		if again {
			live, err := r.env.Cluster.Get(ctx, target(s))
			if err != nil {
				return err
			}
			body.SetResourceVersion(live.GetResourceVersion())
		}
		o := r.writeOptions()
		o.Whole = r.waitsFor(s.Object)
		var err error
		after, err = r.env.Cluster.Replace(ctx, body, o)
		return err
	})
	if err != nil {
		return fmt.Errorf("replace %s: %w", s.Object, err)
	}
	r.wrote(s.Object, after)
	return nil
}

// recreate deletes the object, waits until it is gone, and creates it.
func (r *run) recreate(ctx context.Context, s *plan.Step) error {
	if err := r.delete(ctx, s); err != nil {
		return err
	}
	if err := r.gone(ctx, target(s), s.Expect.UID); err != nil {
		return fmt.Errorf("recreate %s: %w", s.Object, err)
	}
	return r.create(ctx, s)
}

// remove plays a delete step.
func (r *run) remove(ctx context.Context, s *plan.Step) error {
	if s.MakesRoom() {
		return r.makeRoom(ctx, s)
	}
	return r.delete(ctx, s)
}

func (r *run) delete(ctx context.Context, s *plan.Step) error {
	o := DeleteOptions{UID: r.toDelete(s), Cascade: s.Cascade}
	err := r.try(ctx, s, func(ctx context.Context, _ bool) error {
		err := r.env.Cluster.Delete(ctx, target(s), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("delete %s: %w", s.Object, err)
	}
	r.written.Store(true)
	return nil
}

// toDelete is the UID of the object that a step deletes: the one that the plan has
// seen, or the one that this run has created.
func (r *run) toDelete(s *plan.Step) types.UID {
	if s.Of != "" {
		return r.uid(s.Object)
	}
	return s.Expect.UID
}

// wrote keeps what waits have to know of what was written: its UID, since they
// are about that object, and how it was.
func (r *run) wrote(id manifest.ID, object *unstructured.Unstructured) {
	r.written.Store(true)
	if object == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.uids[id] = object.GetUID()
	if _, waits := r.awaited[id]; waits {
		r.awaited[id] = object
	}
}

// waitsFor reports whether the plan waits for the object at all.
func (r *run) waitsFor(id manifest.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, waits := r.awaited[id]
	return waits
}

// left is the object as this run has left it; nil when it has not written it, or
// nothing waits for it.
func (r *run) left(id manifest.ID) *unstructured.Unstructured {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.awaited[id]
}

func (r *run) uid(id manifest.ID) types.UID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.uids[id]
}
