// Package apply carries out a plan: waves of concurrent steps, waits based on watches, hooks,
// records, retries and cancellation.
//
// It decides nothing that the plan could have decided, prints nothing (it reports events to an
// Observer), and knows neither HTTP clients nor stores: it needs only the interfaces Cluster and
// Store.
package apply

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Ref names an object and the version to read or write it through.
type Ref struct {
	manifest.ID
	Version string
}

// GVK returns the group, version and kind to use in requests for the object.
func (r Ref) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// WriteOptions are the options of every write of an object.
type WriteOptions struct {
	// FieldManager owns the fields that are written.
	FieldManager string
	// DryRun asks the server what it would do.
	DryRun bool
	// Force takes fields over from other managers (server-side apply only).
	Force bool
	// Whole asks for the whole object in response, with its managedFields and
	// the status that it had when it was written.
	Whole bool
	// Strict has the server refuse fields that it does not know, which it otherwise drops with a warning.
	Strict bool
}

// For returns the options with which a step is sent, or its dry run made: a resource that becomes a hook
// takes its fields over from other managers.
func (o WriteOptions) For(s *plan.Step) WriteOptions {
	o.Force = o.Force || s.InPlace()
	return o
}

// Patch is the body of a PATCH request.
type Patch struct {
	Type types.PatchType
	Data []byte
}

// DeleteOptions are the options of a delete.
type DeleteOptions struct {
	// UID prevents the deletion of another object with the same name; "" deletes any object.
	UID types.UID
	// Cascade is the deletion propagation, see plan.Step.Cascade: "background" ("" as well) deletes
	// dependents after the object, "foreground" before it is gone, "orphan" leaves them.
	Cascade string
}

// Fields are the fields whose ownership migrates before a server-side apply: From lists
// managers that have written client-side, Paths individual fields (plan.Step.Clears), Emptied
// maps and lists whose content is removed (plan.Step.Empties), and Unserved versions that nobody's
// fields may be in (plan.Step.Unserved).
type Fields struct {
	From     []string
	Paths    []string
	Emptied  []string
	Unserved []string
}

// Cluster is what apply needs from an API server. Errors are those of
// apimachinery's api/errors, so callers can tell not-found, conflict and
// the rest apart. Implementations are safe for concurrent use and do not retry.
type Cluster interface {
	// Get reads an object from the API server, not from a cache. It fails with not-found
	// when the object does not exist.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// Create, Replace and Patch return at least the metadata of the object as it is stored
	// afterwards, without managedFields; a dry run returns the whole object.
	//
	// Create fails with already-exists when there is an object of that name. Replace (PUT) fails
	// with not-found when there is none, and with a conflict when the object's resourceVersion, if
	// it has one, is not the stored one, or its UID is another object's. Patch fails with
	// not-found when there is none, unless it is a server-side apply, which creates the object; with
	// a conflict, or as invalid, when the body has the UID of another object; and, as a server-side
	// apply without o.Force, with a conflict when other managers own fields in it.
	Create(ctx context.Context, object *unstructured.Unstructured, o WriteOptions) (*unstructured.Unstructured, error)
	Replace(ctx context.Context, object *unstructured.Unstructured, o WriteOptions) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, ref Ref, patch Patch, o WriteOptions) (*unstructured.Unstructured, error)
	// Delete requests the deletion and does not wait until the object is gone. It fails with
	// not-found when there is no such object, with a conflict when its UID is not o.UID, and with a
	// *meta.NoKindMatchError when the API server does not serve its kind.
	Delete(ctx context.Context, ref Ref, o DeleteOptions) error
	// MigrateOwnership makes o.FieldManager the owner of fields, as if it had applied them. It
	// does nothing when none are left to migrate, or when there is no object with that UID; found is
	// false then.
	MigrateOwnership(ctx context.Context, ref Ref, uid types.UID, fields Fields, o WriteOptions) (found bool, err error)

	// Watch calls see with every state of the named objects of one kind and namespace,
	// beginning with the current one, until ctx ends or see returns false. A nil
	// object means that it does not, or no longer, exist. Dropped connections are
	// resumed; a permanent error is returned. When ctx ends, the error is its cause, or an
	// *UnreadError with that.
	Watch(ctx context.Context, kind schema.GroupVersionKind, namespace string, names []string, see func(name string, object *unstructured.Unstructured) bool) error

	// Reasons explains why each object is not ready, with no more requests for
	// many than for one. Pods of older revisions of a workload are omitted, and so are
	// events that were last seen before Since, by the server's clock. It never fails:
	// what can't be read is omitted.
	Reasons(ctx context.Context, asked []Asked) [][]Reason
	// Diagnose is Reasons for one object, with the end of a log unless the object is
	// itself a Job or Pod.
	Diagnose(ctx context.Context, ref Ref, since time.Time) Diagnosis
	// Logs returns the last lines of every container of a pod, or of the pods of
	// a Job, oldest pod first; 0 lines means all. Of more than 1 MiB in all it returns
	// those of the newest pods, and says how many containers are left out.
	Logs(ctx context.Context, ref Ref, lines int64) (string, error)
}

// UnreadError is the error of a Watch that has ended with its context, and could not read the objects just before.
type UnreadError struct {
	// Cause is that of the context's end, and Err why the objects could not be read.
	Cause, Err error
}

func (e *UnreadError) Error() string {
	return fmt.Sprintf("%v; the last attempt to read failed: %v", e.Cause, e.Err)
}

// Unwrap returns the cause of the end.
func (e *UnreadError) Unwrap() error { return e.Cause }

// Store is what apply needs from the store of release records. Errors are those of apimachinery's
// api/errors; implementations do not retry writes. All three methods may be called again with the
// same arguments after a response was lost, and recognise what they have written.
type Store interface {
	// Create stores a new revision. It fails with already-exists when another one has its number,
	// and with request-entity-too-large when the record does not fit.
	Create(ctx context.Context, r *release.Revision) error
	// Update overwrites a stored revision. It fails with a conflict when somebody else has written
	// it since this process last read or wrote it, with not-found when it is gone, and with
	// request-entity-too-large when it does not fit.
	Update(ctx context.Context, r *release.Revision) error
	// Delete removes one revision's record. A missing one is not an error; one that somebody else
	// has written since this process last read or wrote it is a conflict.
	Delete(ctx context.Context, key release.Key, version int) error
}
