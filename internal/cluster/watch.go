package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Pauses of a watch. Between attempts it waits resumePause, doubled each time until a connection
// lasts longer than steady, but at most maxClosedPause after a closed connection and maxErrorPause
// after an error. Where only GET is allowed, it reads every pollPause. A connection is used for
// watchAge, so a proxy that stalls is noticed after that time.
const (
	resumePause    = 50 * time.Millisecond
	maxClosedPause = 200 * time.Millisecond
	maxErrorPause  = 2 * time.Second
	steady         = time.Second
	pollPause      = 250 * time.Millisecond
	watchAge       = 60 * time.Second
)

// Watch reports every state of the named objects, beginning with the current one: see
// apply.Cluster. One LIST and one WATCH serve all names. If the kind no longer exists, its objects
// are reported as missing.
func (c *Client) Watch(ctx context.Context, gvk schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	w := &watcher{names: names, among: make(map[string]bool, len(names)), see: see}
	for _, name := range names {
		w.among[name] = true
	}
	if len(names) == 1 {
		// This works even with a role that is restricted to one name.
		w.selector = fields.OneTermEqualSelector("metadata.name", names[0]).String()
	}
	for wait := resumePause; ; {
		began := time.Now()
		more, err := w.once(ctx, c, gvk, namespace)
		gone := meta.IsNoMatchError(err) || c.kindGone(ctx, gvk.GroupKind(), err)
		if gone {
			more = w.allGone()
		}
		switch {
		case !more:
			return nil
		case ctx.Err() != nil:
			return w.ended(ctx)
		case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
			return w.poll(ctx, c, gvk, namespace, err)
		case gone, apierrors.IsUnauthorized(err), apierrors.IsBadRequest(err):
			return fmt.Errorf("watch %s: %w", gvk.Kind, c.explain(err))
		case err == nil && time.Since(began) > steady:
			wait = resumePause // the connection lasted for a while
			continue
		}
		w.unread = c.explain(err)
		// A connection that is closed right after it was opened may be closed again.
		if retry.Pause(ctx, delay(wait, err)) != nil {
			return w.ended(ctx)
		}
		wait = min(2*wait, maxErrorPause)
	}
}

// delay returns the pause before the next attempt: longer than wait if the server asks for it.
func delay(wait time.Duration, err error) time.Duration {
	if err == nil {
		return min(wait, maxClosedPause)
	}
	return retry.Wait(err, min(wait, maxErrorPause), retry.MaxAfter)
}

type watcher struct {
	names []string
	// among has the same names as a set, for events of namespaces with many other objects.
	among    map[string]bool
	selector string
	see      func(string, *unstructured.Unstructured) bool
	// version is where a broken watch resumes; "" starts with a new LIST.
	version string
	// unread is why the last attempt to read the objects failed, nil if it did not.
	unread error
}

// ended returns the error of a watch whose context has ended.
func (w *watcher) ended(ctx context.Context) error {
	if w.unread == nil {
		return context.Cause(ctx)
	}
	return &apply.UnreadError{Cause: context.Cause(ctx), Err: w.unread}
}

// allGone reports all objects as missing. more is false when see wants no more states.
func (w *watcher) allGone() (more bool) {
	for _, name := range w.names {
		if !w.see(name, nil) {
			return false
		}
	}
	return true
}

// once lists, unless there is something to resume, and watches until the connection ends. more is
// false when see wants no more states.
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
	ctx, cancel := context.WithTimeout(ctx, watchAge+time.Second)
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
	w.unread = nil // what follows is read
	return w.follow(ctx, events), nil
}

func (w *watcher) list(ctx context.Context, r dynamic.ResourceInterface) (more bool, err error) {
	var list *unstructured.UnstructuredList
	err = retry.Attempt(ctx, func(ctx context.Context) (err error) {
		list, err = r.List(ctx, metav1.ListOptions{FieldSelector: w.selector})
		return err
	})
	if err != nil {
		return true, err
	}
	w.version, w.unread = list.GetResourceVersion(), nil
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

// follow reports events until the connection ends. An error in the stream ends it as well: the
// stream broke, or its resource version is too old.
func (w *watcher) follow(ctx context.Context, events watch.Interface) (more bool) {
	for {
		select {
		case <-ctx.Done():
			return true // its time is over, or it was cancelled: the caller knows which
		case event, open := <-events.ResultChan():
			if !open {
				return true
			}
			if event.Type == watch.Error {
				w.version = ""
				return true
			}
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			w.version = object.GetResourceVersion()
			if event.Type == watch.Bookmark || !w.among[object.GetName()] {
				continue
			}
			name := object.GetName()
			if event.Type == watch.Deleted {
				object = nil
			}
			if !w.see(name, object) {
				return false
			}
		}
	}
}

// poll reads the objects again and again if LIST or WATCH is not permitted, which is the only way
// to wait with a role that allows nothing but get.
func (w *watcher) poll(ctx context.Context, c *Client, gvk schema.GroupVersionKind, namespace string, forbidden error) error {
	r, err := c.resource(ctx, gvk, namespace)
	if err != nil {
		return err
	}
	for {
		objects, errs := w.look(ctx, c, r)
		var failed error
		for i, name := range w.names {
			err := errs[i]
			switch {
			case ctx.Err() != nil:
				return w.ended(ctx)
			case apierrors.IsForbidden(err):
				return fmt.Errorf("watch %s: %w", gvk.Kind, forbidden)
			case apierrors.IsUnauthorized(err):
				return fmt.Errorf("watch %s: %w", gvk.Kind, c.explain(err))
			case err != nil && !retry.Missing(err) && !c.kindGone(ctx, gvk.GroupKind(), err):
				failed = c.explain(err)
				continue // the next attempt may succeed
			}
			if !w.see(name, objects[i]) {
				return nil
			}
		}
		w.unread = failed
		if retry.Pause(ctx, pollPause) != nil {
			return w.ended(ctx)
		}
	}
}

// look reads every object once, concurrently. A missing object is nil.
func (w *watcher) look(ctx context.Context, c *Client, r dynamic.ResourceInterface) ([]*unstructured.Unstructured, []error) {
	objects := make([]*unstructured.Unstructured, len(w.names))
	errs := make([]error, len(w.names))
	var group sync.WaitGroup
	for i, name := range w.names {
		group.Go(func() {
			errs[i] = c.send(ctx, func(ctx context.Context) error {
				live, err := r.Get(ctx, name, metav1.GetOptions{})
				if err == nil {
					objects[i] = live
				}
				return err
			})
		})
	}
	group.Wait()
	return objects, errs
}
