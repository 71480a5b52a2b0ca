package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// target returns the object of a step, with the version that requests use.
func target(s *plan.Step) Ref {
	gv, err := schema.ParseGroupVersion(s.APIVersion)
	if err != nil {
		return Ref{ID: s.Object}
	}
	return Ref{ID: s.Object, Version: gv.Version}
}

// writeOptions returns the options of one attempt to write a step's object.
func (r *run) writeOptions(s *plan.Step) WriteOptions {
	return WriteOptions{FieldManager: r.plan.Options.FieldManager, Force: r.plan.Options.ForceConflicts, Strict: r.strict(s.Object)}.For(s)
}

// create creates an object that must not exist yet.
func (r *run) create(ctx context.Context, s *plan.Step) error {
	var created *unstructured.Unstructured
	err := r.try(ctx, s, func(ctx context.Context, again bool) error {
		var err error
		if s.PatchType == types.ApplyPatchType {
			created, err = r.serverSideCreate(ctx, s)
		} else {
			created, err = r.env.Cluster.Create(ctx, s.Body, r.writeOptions(s))
		}
		if apierrors.IsAlreadyExists(err) && (again || s.Hook == nil) {
			created, err = r.recognise(ctx, s, again, err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create %s: %w", s.Object, err)
	}
	r.wrote(s, created)
	return nil
}

// serverSideCreate creates an object by server-side apply. An apply can't demand that the object
// does not exist. With a resourceVersion that no object has ("1"), however, the API server creates a
// missing object and answers with a conflict if there is one.
func (r *run) serverSideCreate(ctx context.Context, s *plan.Step) (*unstructured.Unstructured, error) {
	body := manifest.Sharing(s.Body)
	body.SetResourceVersion(plan.NoVersion)
	data, err := json.Marshal(body.Object)
	if err != nil {
		return nil, err
	}
	created, err := r.env.Cluster.Patch(ctx, target(s), Patch{Type: types.ApplyPatchType, Data: data}, r.writeOptions(s))
	if apierrors.IsConflict(err) {
		switch _, lookErr := r.env.Cluster.Get(ctx, target(s)); {
		case retry.Missing(lookErr):
			return nil, err // the conflict had another reason: a retry is right
		case lookErr != nil: // whether the object exists is not known; this error may be transient
			return nil, fmt.Errorf("%s; reading the object failed, too: %w", err.Error(), lookErr)
		}
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Group: s.Object.Group, Resource: s.Object.Kind}, s.Object.Name)
	}
	return created, err
}

// isReleaseNamespace reports whether the step creates the namespace of the release (--create-namespace), not
// one that the chart has.
func isReleaseNamespace(s *plan.Step) bool {
	return s.Object.GroupKind() == kinds.Namespace && manifest.Annotation(s.Body, manifest.ReleaseNameAnnotation) == ""
}

// recognise handles already-exists after a create. An object that has everything that was sent and the
// release's ownership metadata is the run's own, since no one else sets that metadata while the run
// holds the lock; so is any that an attempt sent whose response was lost or replaced by a proxy's error.
// again is true from the second attempt on: see created. The release's namespace and CRDs of crds/
// folders may come from another run, and will do as well. A hook has no such metadata: before a second
// attempt, it is another release's.
func (r *run) recognise(ctx context.Context, s *plan.Step, again bool, exists error) (*unstructured.Unstructured, error) {
	live, err := r.env.Cluster.Get(ctx, target(s))
	if err != nil { // this error may be transient, already-exists is not
		return nil, fmt.Errorf("%s; reading the object failed, too: %w", exists.Error(), err)
	}
	will := isReleaseNamespace(s) || patch.InSync(s.Body, live, s.Body) || again && r.created(s, live)
	if will && live.GetDeletionTimestamp() == nil {
		delete(live.Object, "status") // it had none when it was created
		return live, nil
	}
	return nil, exists
}

// created reports whether an earlier attempt has created the object, though it is not what was sent: an
// admission webhook may have changed a field, the API server dropped one that it does not know. The plan
// has seen no such object, and the run holds the lock, so nobody else gives one this release's ownership
// metadata and writes it as this field manager. A hook has no such metadata; for it, freePlace has found
// the name free just before the first attempt.
func (r *run) created(s *plan.Step, live *unstructured.Unstructured) bool {
	ours := plan.Owns(r.plan.Release, s.Body) && plan.Owns(r.plan.Release, live)
	if s.Hook != nil {
		ours = plan.SameHook(r.plan.Release, s.Body, live)
	}
	return ours && slices.ContainsFunc(live.GetManagedFields(), func(by metav1.ManagedFieldsEntry) bool {
		return by.Manager == r.plan.Options.FieldManager && by.Subresource == ""
	})
}

func (r *run) patch(ctx context.Context, s *plan.Step) error {
	var err error
	if s.PatchType == types.ApplyPatchType {
		err = r.serverSideApply(ctx, s)
	} else {
		err = r.send(ctx, s, Patch{Type: s.PatchType, Data: s.Patch})
	}
	if err != nil {
		return fmt.Errorf("patch %s: %w", s.Object, err)
	}
	return nil
}

// serverSideApply sends the step's body as a server-side apply of the object that the plan has seen.
func (r *run) serverSideApply(ctx context.Context, s *plan.Step) error {
	body := manifest.Sharing(s.Body)
	body.SetUID(s.Expect.UID)
	data, err := json.Marshal(body.Object)
	if err != nil {
		return err
	}
	return r.send(ctx, s, Patch{Type: types.ApplyPatchType, Data: data})
}

// send migrates the ownership of the fields that the step names, and patches. If the step corrects
// drift and all conflicts are with kubectl's field managers, the patch is forced.
func (r *run) send(ctx context.Context, s *plan.Step, p Patch) error {
	var after *unstructured.Unstructured
	err := r.try(ctx, s, func(ctx context.Context, _ bool) (err error) {
		o := r.writeOptions(s)
		if s.TakesOver() {
			fields := Fields{From: s.MigrateOwnership, Paths: s.Clears, Emptied: s.Empties, Unserved: s.Unserved}
			found, err := r.env.Cluster.MigrateOwnership(ctx, target(s), s.Expect.UID, fields, o)
			if err != nil {
				return err
			}
			if found && len(s.Empties) > 0 {
				r.began(s, fmt.Sprintf("%s: %s was emptied, but the rest of the change failed", s.Object, strings.Join(s.Empties, ", ")))
			}
		}
		o.Whole = r.waitsFor(s.Object)
		after, err = r.env.Cluster.Patch(ctx, target(s), p, o)
		if s.ForcesDrift && managedfields.OnlyKubectlConflicts(err) {
			o.Force = true
			after, err = r.env.Cluster.Patch(ctx, target(s), p, o)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.wrote(s, after)
	return nil
}

// replace overwrites the object, whatever it has become since the plan was made: the user asked for
// that.
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
		o := r.writeOptions(s)
		o.Whole = r.waitsFor(s.Object)
		var err error
		after, err = r.env.Cluster.Replace(ctx, body, o)
		return err
	})
	if err != nil {
		return fmt.Errorf("replace %s: %w", s.Object, err)
	}
	r.wrote(s, after)
	return nil
}

// remove carries out a delete step.
func (r *run) remove(ctx context.Context, stage plan.StageName, s *plan.Step) error {
	switch {
	case s.MakesRoom():
		return r.makeRoom(ctx, s)
	case stage == plan.StageInterrupted:
		return r.stopHook(ctx, s)
	}
	return r.delete(ctx, s)
}

func (r *run) delete(ctx context.Context, s *plan.Step) error {
	o := DeleteOptions{UID: r.toDelete(s), Cascade: s.Cascade}
	err := r.try(ctx, s, func(ctx context.Context, _ bool) error {
		err := r.env.Cluster.Delete(ctx, target(s), o)
		if retry.Missing(err) {
			return nil
		}
		return err
	})
	if err != nil && (!meta.IsNoMatchError(err) || ctx.Err() != nil) { // a kind that is still not served is gone, with its objects
		return fmt.Errorf("delete %s: %w", s.Object, err)
	}
	r.written.Store(true)
	return nil
}

// toDelete returns the UID of the object that a step deletes, or whose end it awaits: the one that the plan
// observed, or the one that this run has created. It is "" if there is none.
func (r *run) toDelete(s *plan.Step) types.UID {
	if s.Of != "" {
		return r.uid(s.Object)
	}
	return s.Expect.UID
}

// wrote keeps what later waits need to know about a written object: its UID, and its state right
// after the write.
func (r *run) wrote(s *plan.Step, object *unstructured.Unstructured) {
	r.written.Store(true)
	r.redefine(s)
	if object == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.uids[s.Object] = object.GetUID()
	if _, waits := r.awaited[s.Object]; waits {
		r.awaited[s.Object] = object
	}
}

// waitsFor reports whether the plan waits for the object.
func (r *run) waitsFor(id manifest.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, waits := r.awaited[id]
	return waits
}

// left returns the object as this run has written it; nil when it has not, or when nothing waits
// for it.
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
