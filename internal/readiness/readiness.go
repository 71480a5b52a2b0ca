// Package readiness says of one object, as it was read, whether it is ready,
// still on its way, or can no longer become ready, and why.
//
// It does not read objects, does not wait and knows no time: callers watch and
// ask again.
package readiness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// State is where an object is on its way to ready.
type State string

const (
	// Ready: what was asked for is there.
	Ready State = "ready"
	// Progressing: not yet; ask again when the object changes.
	Progressing State = "progressing"
	// Failed: it can't become ready without someone's help.
	Failed State = "failed"
	// Unknown: the object does not say. It is told, and not waited on for ever.
	Unknown State = "unknown"
)

// Result is a state and one plain sentence that explains it.
type Result struct {
	State State  `json:"state"`
	Why   string `json:"why"`
}

// Context is what a check may know beyond the object itself.
type Context struct {
	// WaitForJobs asks for Jobs to be complete; without it, a Job that exists
	// and has not failed is ready (Helm's --wait-for-jobs).
	WaitForJobs bool
	// Related are objects that belong to the one checked: a Deployment's
	// ReplicaSets, a claim's StorageClass. Without them the object's own status
	// has to do.
	Related []*unstructured.Unstructured
	// Before is the object as it was left when it was last written, with the
	// status that it had then; nil when nothing was. Signs of failure that stand
	// in it are no judgement of what was written: while they stand on, the object
	// is on its way. Jobs and Pods that have failed are failed all the same: no
	// write changes that.
	Before *unstructured.Unstructured
}

// check looks at one object of one kind.
type check func(*unstructured.Unstructured, Context) Result

// Check says whether the object is ready. It must be the one that was sent:
// whoever watches compares the UID first. A nil object is not there yet.
func Check(obj *unstructured.Unstructured, ctx Context) Result {
	if obj == nil {
		return progressing("it does not exist yet")
	}
	if obj.GetDeletionTimestamp() != nil {
		return progressing("it is being deleted")
	}
	if f, ok := rules[obj.GroupVersionKind().GroupKind()]; ok {
		return f(obj, ctx)
	}
	return computed(obj, ctx)
}

// rules are the functions of the kinds that kinds.Kind calls ByRule. What is not
// among them is read as kstatus reads it.
var rules = map[schema.GroupKind]check{
	kinds.APIService:               apiService,
	kinds.CustomResourceDefinition: definition,
	kinds.DaemonSet:                daemonSet,
	kinds.Deployment:               deployment,
	kinds.Job:                      job,
	kinds.PersistentVolumeClaim:    claim,
	kinds.Pod:                      pod,
	kinds.ReplicaSet:               replicaSet,
	kinds.ReplicationController:    replicaSet,
	kinds.Service:                  service,
	kinds.StatefulSet:              statefulSet,

	{Group: "extensions", Kind: kinds.DaemonSet.Kind}:  daemonSet,
	{Group: "extensions", Kind: kinds.Deployment.Kind}: deployment,
	{Group: "extensions", Kind: kinds.ReplicaSet.Kind}: replicaSet,
}

func ready(format string, args ...any) Result {
	return Result{State: Ready, Why: fmt.Sprintf(format, args...)}
}

func progressing(format string, args ...any) Result {
	return Result{State: Progressing, Why: fmt.Sprintf(format, args...)}
}

func failed(format string, args ...any) Result {
	return Result{State: Failed, Why: fmt.Sprintf(format, args...)}
}

func unknown(format string, args ...any) Result {
	return Result{State: Unknown, Why: fmt.Sprintf(format, args...)}
}
