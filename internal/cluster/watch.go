package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// Pauses of a watch: between attempts, and between looks where watching is
// forbidden and only GET is allowed. watchAge is how long one connection is
// used: however dead it looks alive, a stalled proxy is noticed after that.
const (
	resumePause = 500 * time.Millisecond
	pollPause   = time.Second
	watchAge    = 60 * time.Second
)

// Watch tells every state of the named objects, the present ones first: see
// apply.Cluster. One LIST and one WATCH serve all names. Where the kind itself
// is gone, so are its objects.
func (c *Client) Watch(ctx context.Context, gvk schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	w := &watcher{names: names, see: see}
	if len(names) == 1 {
		// Also what a role that is restricted to one name allows.
		w.selector = fields.OneTermEqualSelector("metadata.name", names[0]).String()
	}
	for {
		began := time.Now()
		more, err := w.once(ctx, c, gvk, namespace)
		gone := meta.IsNoMatchError(err) || pathGone(err)
		if gone {
			more = w.allGone()
		}
		switch {
		case !more:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
			return w.poll(ctx, c, gvk, namespace, err)
		case gone, apierrors.IsUnauthorized(err), apierrors.IsBadRequest(err):
			return fmt.Errorf("watch %s: %w", gvk.Kind, c.tell(err))
		case err != nil || time.Since(began) < resumePause:
			// Also after a connection that was closed as soon as it was open:
			// whoever does that does it again.
			if pause(ctx, delay(err)) != nil {
				return context.Cause(ctx)
			}
		}
	}
}

// delay is how long to wait after an error: as long as the server asks for.
func delay(err error) time.Duration {
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok && err != nil {
		return min(max(time.Duration(seconds)*time.Second, resumePause), maxReadPause)
	}
	return resumePause
}

type watcher struct {
	names    []string
	selector string
	see      func(string, *unstructured.Unstructured) bool
	// version is where a broken watch resumes; "" lists anew.
	version string
}

// allGone tells that none of the objects is there; false when nobody wants to
// see more.
func (w *watcher) allGone() (more bool) {
	for _, name := range w.names {
		if !w.see(name, nil) {
			return false
		}
	}
	return true
}

// once lists (unless there is something to resume) and watches until the
// connection ends. more is false when nobody wants to see more.
func (w *watcher) once(ctx context.Context, c *Client, gvk schema.GroupVersionKind, namespace string) (more bool, err error) {
	r, err := c.resource(ctx, gvk, namespace)
	if err != nil {
		return true, err
	}
	if w.version == "" {
		if more, err := w.list(ctx, r); err != nil || !more {
			return more, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, watchAge+readPause)
	defer cancel()
	age := int64(watchAge / time.Second)
	events, err := r.Watch(ctx, metav1.ListOptions{
		FieldSelector: w.selector, ResourceVersion: w.version, AllowWatchBookmarks: true, TimeoutSeconds: &age,
	})
	if err != nil {
		w.version = ""
		return true, err
	}
	defer events.Stop()
	return w.follow(ctx, events)
}

func (w *watcher) list(ctx context.Context, r dynamic.ResourceInterface) (more bool, err error) {
	var list *unstructured.UnstructuredList
	err = within(ctx, readTimeout, func(ctx context.Context) (err error) {
		list, err = r.List(ctx, metav1.ListOptions{FieldSelector: w.selector})
		return err
	})
	if err != nil {
		return true, err
	}
	w.version = list.GetResourceVersion()
	present := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		present[list.Items[i].GetName()] = &list.Items[i]
	}
	for _, name := range w.names {
		if !w.see(name, present[name]) {
			return false, nil
		}
	}
	return true, nil
}

func (w *watcher) follow(ctx context.Context, events watch.Interface) (more bool, err error) {
	for {
		select {
		case <-ctx.Done():
			return true, nil // old, or called off: the caller knows which
		case event, open := <-events.ResultChan():
			if !open {
				return true, nil
			}
			if event.Type == watch.Error {
				w.version = ""
				return true, apierrors.FromObject(event.Object)
			}
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			w.version = object.GetResourceVersion()
			if event.Type == watch.Bookmark || !slices.Contains(w.names, object.GetName()) {
				continue
			}
			name := object.GetName()
			if event.Type == watch.Deleted {
				object = nil
			}
			if !w.see(name, object) {
				return false, nil
			}
		}
	}
}

// poll looks again and again where LIST or WATCH is not permitted: the only way
// to wait with a role that has nothing but get.
func (w *watcher) poll(ctx context.Context, c *Client, gvk schema.GroupVersionKind, namespace string, forbidden error) error {
	r, err := c.resource(ctx, gvk, namespace)
	if err != nil {
		return err
	}
	for {
		for _, name := range w.names {
			var object *unstructured.Unstructured
			err := within(ctx, readTimeout, func(ctx context.Context) (err error) {
				object, err = r.Get(ctx, name, metav1.GetOptions{})
				return err
			})
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case apierrors.IsForbidden(err):
				return fmt.Errorf("watch %s: %w", gvk.Kind, forbidden)
			case apierrors.IsUnauthorized(err):
				return fmt.Errorf("watch %s: %w", gvk.Kind, c.tell(err))
			case apierrors.IsNotFound(err):
				object = nil
			case err != nil:
				continue // the next look may be luckier
			}
			if !w.see(name, object) {
				return nil
			}
		}
		if err := pause(ctx, pollPause); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
