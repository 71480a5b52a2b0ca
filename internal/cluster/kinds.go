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

// refreshPause keeps unknown kinds from asking discovery again and again.
const refreshPause = 300 * time.Millisecond

// kinds is the run's REST mapping. It knows what the cache on disk knows, and
// asks the server when there is none, when a kind is unknown, and when somebody
// insists on what is true now. Nobody holds the mutex while a request is under
// way, and one download serves all who wait for it.
type kinds struct {
	server rest.Interface
	cache  cache

	mu      sync.Mutex
	known   *catalog
	pending *download
}

// newKinds shares kubectl's cache below root: what it knows of the API and the
// HTTP answers beside it, which spare a server to send again what it has sent.
// Only client-go's own cached client has the door to the latter. Without a root
// nothing is cached.
func newKinds(config *rest.Config, root string) (*kinds, error) {
	dir, answers := "", ""
	if root != "" {
		dir, answers = filepath.Join(root, "discovery", cacheName(config.Host)), filepath.Join(root, "http")
	}
	cached, err := disk.NewCachedDiscoveryClientForConfig(config, dir, answers, discoveryAge)
	if err != nil {
		return nil, err
	}
	return &kinds{server: noRetry{cached.RESTClient()}, cache: cache{dir}}, nil
}

// download is one look at the server's API, which all who need it share.
type download struct {
	done  chan struct{}
	known *catalog
	err   error
	// waiting is how many wait for it; when the last one leaves, cancel ends it.
	waiting int
	cancel  context.CancelFunc
}

// find maps a kind, asking the server when it is not known.
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

// covering is a catalog that knows the kinds, or one that is fresh.
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

// renew is a catalog that the server gave a moment ago at most.
func (k *kinds) renew(ctx context.Context) (*catalog, error) {
	k.mu.Lock()
	if k.known != nil && time.Since(k.known.fetched) < refreshPause {
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

// download asks the server and, while the error is one that passes, asks again.
func (k *kinds) download(ctx context.Context, d *download) {
	defer d.cancel()
	var a answers
	err := retry.Read(ctx, retry.Pause, passes, func(ctx context.Context) error {
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

// Kinds tells scope and served versions of kinds. Kinds that the cluster does
// not know are in the answer without versions.
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
