package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// While discovery lists a resource that the API server does not know, objects are looked for again: at once,
// since the cache on disk may be old, then after pauses that double, 3 seconds in all, since discovery follows
// the deletion of a CRD a moment later (k8s.io/apiextensions-apiserver 0.36,
// pkg/apiserver/customresource_discovery_controller.go).
const firstLookPause, longestLookPause = 100 * time.Millisecond, 1600 * time.Millisecond

// Observe reads the live state of objects: with one LIST per kind and namespace if that is cheaper
// than GETs, all concurrently. An object in a version that is no longer served is read in another
// one. Read errors are part of the observation; only an unreachable cluster is an error.
func (c *Client) Observe(ctx context.Context, refs []apply.Ref) (map[manifest.ID]plan.Observation, error) {
	o := &observer{client: c, seen: make(map[manifest.ID]plan.Observation, len(refs))}
	known, err := c.kinds.covering(ctx, gvks(refs)...)
	if err == nil {
		err = o.observe(ctx, known, refs)
	}
	for pause := time.Duration(0); err == nil && len(o.again) > 0 && pause <= longestLookPause; pause = max(2*pause, firstLookPause) {
		err = o.lookAgain(ctx, pause)
	}
	if err != nil {
		return nil, fmt.Errorf("observe the release's objects: %w", c.explain(err))
	}
	for _, ref := range o.again {
		o.seen[ref.ID] = plan.Observation{Unreadable: fmt.Sprintf("the cluster lists %s in its API but does not serve it", ref.GVK())}
	}
	return o.seen, nil
}

// lookAgain looks, after a pause, for the objects that are left, with the results of a new discovery.
func (o *observer) lookAgain(ctx context.Context, pause time.Duration) error {
	moment := time.Now()
	if err := retry.Pause(ctx, pause); err != nil {
		return err
	}
	known, err := o.client.kinds.since(ctx, moment)
	if err != nil {
		return err
	}
	refs := o.again
	o.again = nil
	return o.observe(ctx, known, refs)
}

func gvks(refs []apply.Ref) []schema.GroupVersionKind {
	out := make([]schema.GroupVersionKind, 0, len(refs))
	for _, ref := range refs {
		out = append(out, ref.GVK())
	}
	return out
}

// listKey is the scope of one LIST.
type listKey struct {
	gvk       schema.GroupVersionKind
	namespace string
}

type observer struct {
	client *Client
	mu     sync.Mutex
	seen   map[manifest.ID]plan.Observation
	// again are objects whose resource the server does not know, to be reread after new discovery.
	again []apply.Ref
}

func (o *observer) observe(ctx context.Context, known *catalog, refs []apply.Ref) error {
	group, ctx := errgroup.WithContext(ctx)
	for at, refs := range o.places(known, refs) {
		group.Go(func() error {
			if len(refs) >= listFrom {
				return o.list(ctx, at, refs)
			}
			return o.getEach(ctx, at, refs)
		})
	}
	return group.Wait()
}

func (o *observer) getEach(ctx context.Context, at listKey, refs []apply.Ref) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(retry.Concurrency)
	for _, ref := range refs {
		group.Go(func() error { return o.get(ctx, at, ref) })
	}
	return group.Wait()
}

// places groups refs by the LISTs that cover them. Objects of unknown kinds do not exist, unless
// their group merely fails to answer.
func (o *observer) places(known *catalog, refs []apply.Ref) map[listKey][]apply.Ref {
	out := map[listKey][]apply.Ref{}
	for _, ref := range refs {
		gvk := ref.GVK()
		if !known.knows(gvk) {
			info := known.kind(gvk.GroupKind())
			if len(info.Versions) == 0 {
				o.seen[ref.ID] = plan.Observation{Unreadable: info.Unavailable}
				continue
			}
			gvk.Version = info.Versions[0]
		}
		at := listKey{gvk, ref.Namespace}
		out[at] = append(out[at], ref)
	}
	return out
}

func (o *observer) set(id manifest.ID, s plan.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen[id] = s
}

func (o *observer) repeat(refs ...apply.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.again = append(o.again, refs...)
}

func (o *observer) get(ctx context.Context, at listKey, ref apply.Ref) error {
	var live *unstructured.Unstructured
	r, err := o.client.resource(ctx, at.gvk, at.namespace)
	if err == nil {
		err = o.client.read(ctx, func(ctx context.Context) (err error) {
			live, err = r.Get(ctx, ref.Name, metav1.GetOptions{})
			return err
		})
	}
	switch {
	case err == nil:
		o.set(ref.ID, plan.Observed(live))
	case pathGone(err), meta.IsNoMatchError(err):
		o.repeat(ref)
	case apierrors.IsNotFound(err):
		o.set(ref.ID, plan.Observation{})
	case unreachable(err):
		return err
	default:
		o.set(ref.ID, plan.Observation{Unreadable: message(err)})
	}
	return nil
}

// list reads the objects with a LIST. If LIST is forbidden, it tries GETs.
func (o *observer) list(ctx context.Context, at listKey, refs []apply.Ref) error {
	names := make([]string, 0, len(refs))
	byName := make(map[string]apply.Ref, len(refs))
	for _, ref := range refs {
		names = append(names, ref.Name)
		byName[ref.Name] = ref
	}
	found, rest, err := o.client.list(ctx, at, names)
	switch {
	case err == nil:
		singly := make([]apply.Ref, 0, len(rest))
		for _, name := range rest {
			singly = append(singly, byName[name])
			delete(byName, name)
		}
		for name, ref := range byName {
			o.set(ref.ID, found[name])
		}
		return o.getEach(ctx, at, singly)
	case pathGone(err), meta.IsNoMatchError(err):
		o.repeat(refs...)
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return o.getEach(ctx, at, refs)
	case unreachable(err):
		return err
	default:
		for _, ref := range refs {
			o.set(ref.ID, plan.Observation{Unreadable: message(err)})
		}
	}
	return nil
}
