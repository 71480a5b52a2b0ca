package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// listFrom is how many objects of a kind in a namespace make one LIST cheaper
// than GETs; pageSize bounds one answer.
const (
	listFrom = 3
	pageSize = 1000
)

// Observe reads the live state of objects: one LIST per kind and namespace
// where that is cheaper than GETs, all side by side. A version that is no
// longer served is read through one that is. What can't be read is said in the
// observation; only a cluster that can't be reached is an error.
func (c *Client) Observe(ctx context.Context, refs []apply.Ref) (map[manifest.ID]plan.Observation, error) {
	o := &observer{client: c, seen: make(map[manifest.ID]plan.Observation, len(refs))}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Concurrency)
	for at, names := range c.places(refs, o) {
		if len(names) >= listFrom {
			group.Go(func() error { return o.list(ctx, at, names) })
			continue
		}
		for _, id := range names {
			group.Go(func() error { return o.get(ctx, at, id) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("observe the release's objects: %w", err)
	}
	return o.seen, nil
}

type place struct {
	gvk       schema.GroupVersionKind
	namespace string
}

// places groups refs by what one LIST covers. Objects of kinds that the cluster
// does not know are not there.
func (c *Client) places(refs []apply.Ref, o *observer) map[place][]manifest.ID {
	out := map[place][]manifest.ID{}
	for _, ref := range refs {
		gvk := ref.GVK()
		if _, err := c.kinds.find(gvk); err != nil {
			kind, descErr := c.kinds.describe([]schema.GroupVersionKind{gvk})
			info := kind[gvk.GroupKind()]
			switch {
			case descErr != nil:
				o.set(ref.ID, plan.Observation{Unreadable: descErr.Error()})
				continue
			case info.Unavailable != "":
				o.set(ref.ID, plan.Observation{Unreadable: info.Unavailable})
				continue
			case len(info.Versions) == 0:
				o.set(ref.ID, plan.Observation{})
				continue
			}
			gvk.Version = info.Versions[0]
		}
		at := place{gvk, ref.Namespace}
		out[at] = append(out[at], ref.ID)
	}
	return out
}

type observer struct {
	client *Client
	mu     sync.Mutex
	seen   map[manifest.ID]plan.Observation
}

func (o *observer) set(id manifest.ID, s plan.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen[id] = s
}

func (o *observer) get(ctx context.Context, at place, id manifest.ID) error {
	live, err := o.client.Get(ctx, apply.Ref{ID: id, Version: at.gvk.Version})
	switch {
	case err == nil:
		o.set(id, plan.Observation{Object: live})
	case notServed(err):
		o.set(id, plan.Observation{Unreadable: fmt.Sprintf("the cluster no longer serves %s in %s", id.Kind, at.gvk.GroupVersion())})
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		o.set(id, plan.Observation{})
	case unreachable(err):
		return err
	default:
		o.set(id, plan.Observation{Unreadable: message(err)})
	}
	return nil
}

// notServed tells the 404 of a path that the API server does not have from that
// of an object: the version may be gone although the cached discovery has it.
func notServed(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// list reads all objects of the kind in the namespace and picks its own. Where
// LIST is forbidden, GETs may not be.
func (o *observer) list(ctx context.Context, at place, ids []manifest.ID) error {
	found, err := o.client.listAll(ctx, at)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(Concurrency)
		for _, id := range ids {
			group.Go(func() error { return o.get(ctx, at, id) })
		}
		return group.Wait()
	case err != nil && unreachable(err):
		return err
	case err != nil:
		for _, id := range ids {
			o.set(id, plan.Observation{Unreadable: message(err)})
		}
		return nil
	}
	for _, id := range ids {
		o.set(id, plan.Observation{Object: found[id.Name]})
	}
	return nil
}

func (c *Client) listAll(ctx context.Context, at place) (map[string]*unstructured.Unstructured, error) {
	r, err := c.resource(at.gvk, at.namespace)
	if err != nil {
		return nil, err
	}
	options := metav1.ListOptions{Limit: pageSize}
	if at.gvk.Group == "" && at.gvk.Kind == "Secret" {
		// Release records are large and never part of a release.
		options.FieldSelector = "type!=helm.sh/release.v1"
	}
	found := map[string]*unstructured.Unstructured{}
	for {
		page, err := r.List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			found[page.Items[i].GetName()] = &page.Items[i]
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return found, nil
		}
	}
}

// unreachable says whether an error is about the whole cluster, not an object.
func unreachable(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return apierrors.IsUnauthorized(err)
	}
	var netErr net.Error
	return errors.As(err, &netErr) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
