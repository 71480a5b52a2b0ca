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

// Pauses of a watch: between attempts after an error, and between looks where
// watching is forbidden and only GET is allowed.
const (
	resumePause = 500 * time.Millisecond
	pollPause   = time.Second
)

// Watch tells every state of the named objects, the present ones first: see
// apply.Cluster. One LIST and one WATCH serve all names.
func (c *Client) Watch(ctx context.Context, gvk schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	w := &watcher{names: names, see: see}
	if len(names) == 1 {
		w.selector = fields.OneTermEqualSelector("metadata.name", names[0]).String()
	}
	for {
		more, err := w.once(ctx, c, gvk, namespace)
		switch {
		case !more:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case apierrors.IsForbidden(err):
			return w.poll(ctx, c, gvk, namespace, err)
		case meta.IsNoMatchError(err), apierrors.IsUnauthorized(err), apierrors.IsMethodNotSupported(err):
			return fmt.Errorf("watch %s: %w", gvk.Kind, err)
		case err != nil:
			if pause(ctx, resumePause) != nil {
				return context.Cause(ctx)
			}
		}
	}
}

type watcher struct {
	names    []string
	selector string
	see      func(string, *unstructured.Unstructured) bool
	// version is where a broken watch resumes; "" lists anew.
	version string
}

// once lists (unless there is something to resume) and watches until the
// connection ends. more is false when nobody wants to see more.
func (w *watcher) once(ctx context.Context, c *Client, gvk schema.GroupVersionKind, namespace string) (more bool, err error) {
	r, err := c.resource(gvk, namespace)
	if err != nil {
		return true, err
	}
	if w.version == "" {
		if more, err := w.list(ctx, r); err != nil || !more {
			return more, err
		}
	}
	events, err := r.Watch(ctx, metav1.ListOptions{
		FieldSelector: w.selector, ResourceVersion: w.version, AllowWatchBookmarks: true,
	})
	if err != nil {
		w.version = ""
		return true, err
	}
	defer events.Stop()
	return w.follow(ctx, events)
}

func (w *watcher) list(ctx context.Context, r dynamic.ResourceInterface) (more bool, err error) {
	list, err := r.List(ctx, metav1.ListOptions{FieldSelector: w.selector})
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
			return true, context.Cause(ctx)
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

// poll looks again and again where neither LIST nor WATCH is permitted: the
// only way to wait with a role that has nothing but get.
func (w *watcher) poll(ctx context.Context, c *Client, gvk schema.GroupVersionKind, namespace string, forbidden error) error {
	r, err := c.resource(gvk, namespace)
	if err != nil {
		return err
	}
	for {
		for _, name := range w.names {
			object, err := r.Get(ctx, name, metav1.GetOptions{})
			switch {
			case apierrors.IsForbidden(err):
				return fmt.Errorf("watch %s: %w", gvk.Kind, forbidden)
			case apierrors.IsNotFound(err):
				object = nil
			case err != nil:
				continue
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
