package controller

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// view is the HelmRelease that a pass works with. If everything looks settled, it is the
// one in the cache, which costs no request; before anything is written or done, it must
// be the newest one.
type view struct {
	object *helmRelease
	hr     *flux.HelmRelease
	// newest is set if the HelmRelease was read from the API server, or is the same as
	// there.
	newest bool
	// behind is set if it turned out to be outdated: the pass does not count.
	behind bool
	// source is the source that this pass has written for spec.chart, as the API server answered: the
	// cache does not have it yet.
	source *flux.Source
}

var errBehind = errors.New("the cache is behind")

// behindPause is how long the cache may take to catch up.
const behindPause = time.Second

// settled reports whether the cached HelmRelease will do: it is as a pass left it in
// sync, and no older than what this process last wrote.
func (r *reconciler) settled(v *view) bool {
	return inSync(v.hr) && v.hr.Metadata.Generation == v.hr.Status.ObservedGeneration &&
		r.wrote.seen(client.ObjectKeyFromObject(v.object), v.object.ResourceVersion)
}

// refresh reads the HelmRelease from the API server. Errors are those of that server, and
// a terminal one if the object can't be decoded.
func (r *reconciler) refresh(ctx context.Context, v *view) error {
	fresh := &helmRelease{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(v.object), fresh); err != nil {
		return err
	}
	if _, err := slim(fresh); err != nil { // as it is cached, to be compared
		return err
	}
	hr, err := decoded(fresh)
	if err != nil {
		return ctrl.TerminalError(err)
	}
	v.object, v.hr, v.newest = fresh, hr, true
	return nil
}

// verify makes sure, before anything is done, that the HelmRelease is the newest one. It
// returns errBehind if it is not, or an error of the API server.
func (r *reconciler) verify(ctx context.Context, v *view) error {
	if v.newest {
		return nil
	}
	v.behind = true
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(helmVersion.WithKind(flux.KindHelmRelease))
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(v.object), o); err != nil {
		return fmt.Errorf("read the newest HelmRelease: %w", err)
	}
	if o.ResourceVersion != v.object.ResourceVersion {
		return errBehind
	}
	v.behind, v.newest = false, true
	return nil
}

// writes are the resource versions that this process last wrote, until the cache has
// them.
type writes struct {
	mu       sync.Mutex
	versions map[client.ObjectKey]string
}

func (w *writes) note(key client.ObjectKey, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions[key] = version
}

// seen reports whether a version is that of the last write or a later one. Versions count
// upwards (KEP-5504); if they are not numbers, only the same one counts.
func (w *writes) seen(key client.ObjectKey, version string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.versions[key]
	if !ok {
		return true
	}
	have, err := strconv.ParseUint(version, 10, 64)
	want, err2 := strconv.ParseUint(last, 10, 64)
	if version != last && (err != nil || err2 != nil || have < want) {
		return false
	}
	delete(w.versions, key)
	return true
}

func (w *writes) forget(key client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.versions, key)
}
