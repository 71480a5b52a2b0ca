package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// refreshPause keeps unknown kinds from causing discovery requests again and again.
const refreshPause = 300 * time.Millisecond

// kinds is this process's REST mapping. It starts with the cache on disk, and asks the server when
// there is none, when a kind is unknown, and when a caller needs the current state. The mutex is
// not held during requests, and all callers that wait share one download.
type kinds struct {
	server rest.Interface
	cache  cache

	mu      sync.Mutex
	known   *catalog
	pending *download
}

// newKinds shares kubectl's caches below root: that of discovery and, beside it, that of HTTP
// responses, thanks to which the server need not resend what it confirms to be unchanged. Only
// client-go's cached client gives access to the latter. Without a root nothing is cached.
func newKinds(config *rest.Config, root string) (*kinds, error) {
	dir, answers := "", ""
	if root != "" {
		dir, answers = filepath.Join(root, "discovery", cacheName(config.Host)), filepath.Join(root, "http")
	}
	cached, err := disk.NewCachedDiscoveryClientForConfig(config, dir, answers, discoveryAge)
	if err != nil {
		return nil, err
	}
	return &kinds{server: noRetry{validated{cached.RESTClient()}}, cache: cache{dir}}, nil
}

// download is one run of discovery, shared by all callers that need it.
type download struct {
	done  chan struct{}
	known *catalog
	err   error
	// waiting is the number of callers that wait for it; when the last one leaves, cancel ends it.
	waiting int
	cancel  context.CancelFunc
}

// find returns the resource of a kind, asking the server if the kind is not known.
func (k *kinds) find(ctx context.Context, gvk schema.GroupVersionKind) (served, error) {
	known, err := k.covering(ctx, gvk)
	if err != nil {
		return served{}, err
	}
	if s, ok := known.table[gvk]; ok {
		return s, nil
	}
	if why := known.failed[gvk.Group]; why != "" {
		return served{}, apierrors.NewServiceUnavailable(fmt.Sprintf("the API group %s can't be discovered: %s", gvk.Group, why))
	}
	return served{}, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}

// serve reports whether the API server, when it was last asked, served a group version.
func (k *kinds) serve(gv schema.GroupVersion) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known != nil && slices.Contains(k.known.all, gv.String())
}

// covering returns a catalog that knows the kinds, or a fresh one.
func (k *kinds) covering(ctx context.Context, gvks ...schema.GroupVersionKind) (*catalog, error) {
	k.mu.Lock()
	if k.known == nil {
		if a, ok := k.cache.restore(); ok {
			k.known = newCatalog(a)
		}
	}
	known := k.known
	k.mu.Unlock()
	unknown := func(gvk schema.GroupVersionKind) bool { return !known.knows(gvk) }
	if known == nil || slices.ContainsFunc(gvks, unknown) {
		return k.renew(ctx)
	}
	return known, nil
}

// renew returns a catalog that is at most refreshPause old.
func (k *kinds) renew(ctx context.Context) (*catalog, error) {
	return k.since(ctx, time.Now().Add(-refreshPause))
}

// since returns a catalog that was downloaded after the moment.
func (k *kinds) since(ctx context.Context, moment time.Time) (*catalog, error) {
	k.mu.Lock()
	if k.known != nil && k.known.fetched.After(moment) {
		defer k.mu.Unlock()
		return k.known, nil
	}
	if k.pending == nil {
		own, cancel := context.WithTimeout(context.WithoutCancel(ctx), stalls*retry.Timeout)
		k.pending = &download{done: make(chan struct{}), cancel: cancel}
		go k.download(own, k.pending)
	}
	pending := k.pending
	pending.waiting++
	k.mu.Unlock()
	select {
	case <-ctx.Done():
		k.leave(pending)
		return nil, fmt.Errorf("ask the cluster for its API: %w", ctx.Err())
	case <-pending.done:
		return pending.known, pending.err
	}
}

// gone reports whether the server, asked again, serves no version of a kind.
func (k *kinds) gone(ctx context.Context, kind schema.GroupKind) bool {
	known, err := k.since(ctx, time.Now())
	if err != nil {
		return false
	}
	info := known.kind(kind)
	return len(info.Versions) == 0 && info.Unavailable == ""
}

// leave ends the wait of one caller, and the download if it was the last one.
func (k *kinds) leave(d *download) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d.waiting--; d.waiting > 0 {
		return
	}
	d.cancel()
	if k.pending == d {
		k.pending = nil
	}
}

// download asks the server, with retries after transient errors.
func (k *kinds) download(ctx context.Context, d *download) {
	defer d.cancel()
	var a answers
	again := func(err error, _ int) bool { return passes(err) || pathGone(err) } // ctx bounds attempts that stall
	err := retry.Read(ctx, retry.Pause, again, func(ctx context.Context) error {
		return retry.Attempt(ctx, func(ctx context.Context) (err error) {
			a, err = ask(ctx, k.server)
			return err
		})
	})
	if err != nil {
		d.err = fmt.Errorf("ask the cluster for its API: %w", err)
	} else {
		d.known = newCatalog(a)
		d.known.fetched = time.Now()
		k.cache.keep(a)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pending == d {
		k.pending = nil
	}
	if err == nil {
		k.known = d.known
	}
	close(d.done)
}

// Kinds returns the scope and the served versions of kinds. Kinds that the cluster does not know
// have no versions.
func (c *Client) Kinds(ctx context.Context, gvks []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	known, err := c.kinds.covering(ctx, gvks...)
	if err != nil {
		return nil, c.explain(err)
	}
	out := make(map[schema.GroupKind]plan.Kind, len(gvks))
	for _, gvk := range gvks {
		out[gvk.GroupKind()] = known.kind(gvk.GroupKind())
	}
	return out, nil
}
