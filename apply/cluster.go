// Package apply carries out a plan: waves of steps side by side, waits that watch, hooks, records,
// retries and cancellation.
//
// It decides nothing that the plan could have decided, prints nothing (it reports events to an
// Observer) and knows neither HTTP clients nor stores: Cluster and Store are the interfaces that it
// needs.
package apply

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Ref names an object and the version to read or write it through.
type Ref struct {
	manifest.ID
	Version string
}

// GVK is the group, version and kind of requests for the object.
func (r Ref) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// WriteOptions go with every write of an object.
type WriteOptions struct {
	// FieldManager owns the fields that are written.
	FieldManager string
	// DryRun asks the server what it would do.
	DryRun bool
	// Force takes fields from other managers (server-side apply only).
	Force bool
	// Whole asks for the whole object as the answer, with the status that it
	// had when it was written and with its managedFields.
	Whole bool
}

// Patch is the body of a PATCH request.
type Patch struct {
	Type types.PatchType
	Data []byte
}

// DeleteOptions go with a delete.
type DeleteOptions struct {
	// UID prevents the deletion of another object with the same name; "" deletes any object.
	UID types.UID
	// Cascade is the deletion propagation, see plan.Step.Cascade: "background" ("" as well) deletes
	// dependents after the object, "foreground" before it is gone, "orphan" leaves them.
	Cascade string
}

// Fields are the fields whose ownership migrates before a server-side apply: From are
// managers that have written client-side, Paths single fields (plan.Step.Clears), and Emptied
// maps and lists whose content is removed (plan.Step.Empties).
type Fields struct {
	From    []string
	Paths   []string
	Emptied []string
}

// Cluster is what apply needs of an API server. Errors are those of
// apimachinery's api/errors, so that callers can tell not-found, conflict and
// the rest apart. Implementations are safe for concurrent use and do not retry.
type Cluster interface {
	// Get reads an object as it is stored, from the API server and not from a cache.
	// Error: not-found when it is not there.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// Create, Replace and Patch return the metadata of what is stored from then
	// on, without managedFields, or more; a dry run, the whole object.
	//
	// Create fails with already-exists when there is an object of that name. Replace (PUT) fails
	// with not-found when there is none, and with a conflict when the object's resourceVersion, if
	// it has one, is not the stored one, or its UID is another object's. Patch fails with
	// not-found when there is none, but that a server-side apply creates it; with a conflict, or as
	// invalid, when the body has the UID of another object; and an apply without o.Force with a
	// conflict when other managers own fields of it.
	Create(ctx context.Context, object *unstructured.Unstructured, o WriteOptions) (*unstructured.Unstructured, error)
	Replace(ctx context.Context, object *unstructured.Unstructured, o WriteOptions) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, ref Ref, patch Patch, o WriteOptions) (*unstructured.Unstructured, error)
	// Delete asks for the deletion and does not wait until the object is gone. Errors: not-found
	// when it is not there, and a conflict when o.UID is not the UID of what is.
	Delete(ctx context.Context, ref Ref, o DeleteOptions) error
	// MigrateOwnership makes fields o.FieldManager's, as if it had applied them. It does
	// nothing when there are none left, or the object with that UID is not there.
	MigrateOwnership(ctx context.Context, ref Ref, uid types.UID, fields Fields, o WriteOptions) error

	// Watch calls see with every state of the named objects of one kind and namespace,
	// beginning with the current one, until ctx ends or see returns false. A nil
	// object means that it does not exist (any more). Dropped connections are
	// resumed; a permanent error is returned.
	Watch(ctx context.Context, kind schema.GroupVersionKind, namespace string, names []string, see func(name string, object *unstructured.Unstructured) bool) error

	// Reasons explains of each object why it is not ready, with as few requests for
	// many as for one. Pods of older revisions of a workload are left out, and so are
	// events that were last seen before Since, by the server's clock. It never fails:
	// what can't be read is left out.
	Reasons(ctx context.Context, asked []Asked) [][]Reason
	// Diagnose is Reasons of one object, with the end of a log. That of a Job or Pod
	// is not in it.
	Diagnose(ctx context.Context, ref Ref, since time.Time) Diagnosis
	// Logs gives the last lines of every container of a pod, or of the pods of
	// a Job.
	Logs(ctx context.Context, ref Ref, lines int64) (string, error)
}

// Store is what apply needs of the release records. Errors are those of apimachinery's api/errors;
// implementations do not repeat writes. All three methods may be called again with the same
// arguments after an answer was lost, and recognise what they have written.
type Store interface {
	// Create stores a new revision; it fails with already-exists when that number is taken by
	// another one, and with a *releasestore.TooLargeError when the record does not fit.
	Create(ctx context.Context, r *release.Revision) error
	// Update overwrites a stored revision. It fails with a conflict when somebody else has written
	// it since this process last read or wrote it, with not-found when it is gone, and with a
	// *releasestore.TooLargeError as well.
	Update(ctx context.Context, r *release.Revision) error
	// Delete removes one revision's record. A missing one is no error; one that somebody else has
	// written since this process last read or wrote it is a conflict.
	Delete(ctx context.Context, key release.Key, version int) error
}
