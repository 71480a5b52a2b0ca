// Package readiness says whether one object, as it was read, is ready, still progressing, or can no
// longer become ready, and why.
//
// It does not read objects, does not wait and reads no clock: callers watch and ask again.
package readiness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// State is how far an object is on the way to ready.
type State string

const (
	// Ready: the object does what it is for.
	Ready State = "ready"
	// Progressing: not yet; ask again when the object changes.
	Progressing State = "progressing"
	// Failed: it can't become ready without somebody's help.
	Failed State = "failed"
	// Unknown: the object does not say. Callers report it and do not wait for it.
	Unknown State = "unknown"
)

// Result is a state and one plain sentence that explains it.
type Result struct {
	State State  `json:"state"`
	Why   string `json:"why"`
}

// Context is what a check may know besides the object itself.
type Context struct {
	// WaitForJobs asks for Jobs to be complete; without it, a Job that exists
	// and has not failed is ready (Helm's --wait-for-jobs).
	WaitForJobs bool
	// Related are objects that belong to the checked one: a Deployment's ReplicaSets, a claim's
	// StorageClass. Without them, the check uses the object's own status only.
	Related []*unstructured.Unstructured
	// Before is the object, with its status, as it was right after it was last written; nil when
	// nothing was written. Signs of failure that it already had say nothing about what was written:
	// until they change, the object is progressing. Failed Jobs and Pods are failed nevertheless:
	// no write changes that.
	Before *unstructured.Unstructured
}

// check judges one object of one kind.
type check func(*unstructured.Unstructured, Context) Result

// Check says whether the object is ready. It must be the one that was sent: callers compare the UID
// first, and know whether a nil object does not exist yet or was deleted.
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

// rules are the checks of the kinds that package kinds calls ByRule. All others are judged by
// kstatus.
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
