// Package engine wires together the three steps of every operation: gather,
// plan.Build, apply.Run. Each operation fits on one screen.
//
// It decides nothing itself (package plan does), does no rendering or storing
// of its own, and prints nothing.
package engine

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/gcpacing"
	"github.com/kubectl-release/kubectl-release/internal/invocation"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// API answers questions about a cluster other than those about its objects.
type API interface {
	Facts(ctx context.Context) (cluster.Facts, error)
	Kinds(ctx context.Context, kinds []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error)
}

// Cluster is what gathering needs from a cluster, in addition to what apply needs.
type Cluster interface {
	apply.Cluster
	API
	Observe(ctx context.Context, refs []apply.Ref) (map[manifest.ID]plan.Observation, error)
	// Predict answers the dry runs of steps, by their IDs. Without an error the map is not nil, and belongs
	// to the caller.
	Predict(ctx context.Context, steps []*plan.Step, o apply.WriteOptions) (map[string]plan.Prediction, error)
	Access(ctx context.Context, needed []plan.Permission) plan.Access
	Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error)
}

// Engine runs operations against one cluster and one store.
type Engine struct {
	Cluster  Cluster
	Store    *releasestore.Store
	Locker   *releasestore.Locker
	Observer apply.Observer
	Now      func() time.Time
	// Readiness is passed on to apply, see apply.Env.
	Readiness func(*unstructured.Unstructured) (result readiness.Result, judged bool)
	// ReadOnly plans without dry runs, see plan.Input.
	ReadOnly bool
	// Applier is the user who is going to apply the plans, see plan.Input; Cluster.Access must
	// answer for that user.
	Applier string

	ToolVersion string
	// Invocation is how the program was called, for the commands in hints.
	Invocation invocation.Invocation
	// Identity identifies this run to other runs as the holder of the lock.
	Identity releasestore.Identity
}

// StoringIn returns an engine for the releases of one namespace whose records are kept in another.
func (e *Engine) StoringIn(storage, releases string) *Engine {
	out := *e
	out.Store = e.Store.In(storage, releases)
	return &out
}

// gathered is what every plan starts from.
type gathered struct {
	facts cluster.Facts
	// assumed are the API versions that the baseline of a comparison brings.
	assumed []string
	history release.History
	corrupt []*releasestore.CorruptError
	pending plan.Pending
	// also selects revisions that are read whole besides the usual ones.
	also []goals
	// lookups answer the templates' lookups.
	lookups *lookups
}

// gather reads the cluster's facts and the history, and inspects a pending revision.
func (e *Engine) gather(ctx context.Context, key release.Key, also ...goals) (gathered, error) {
	g, err := e.factsAndHistory(ctx, key, also...)
	if err != nil {
		return gathered{}, err
	}
	return g, e.inspectPending(ctx, key, &g)
}

// factsAndHistory reads both in parallel, since each costs a round trip. If both fail, it returns the
// cluster's error; without the facts, the history is given up.
func (e *Engine) factsAndHistory(ctx context.Context, key release.Key, also ...goals) (gathered, error) {
	g := gathered{also: also}
	var historyErr error
	read := make(chan struct{})
	reading, giveUp := context.WithCancel(ctx)
	defer giveUp()
	go func() {
		defer close(read)
		g.history, g.corrupt, historyErr = e.records(reading, key, also...)
	}()
	var err error
	if g.facts, err = e.Cluster.Facts(ctx); err != nil {
		giveUp()
	}
	<-read
	if err == nil {
		err = historyErr
	}
	if err != nil {
		return gathered{}, err
	}
	if last := g.history.Last(); last != nil {
		gcpacing.Expect(treesPerByte * int64(len(last.Manifest)))
	}
	g.lookups = e.lookups(ctx)
	return g, nil
}

// treesPerByte is the size of the heap relative to that of the stored manifest once its objects,
// the target's and the live ones have been read: 80 MB for 2.8 MB, 10,000 objects (make profile).
const treesPerByte = 30
