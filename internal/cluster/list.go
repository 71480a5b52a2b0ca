package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// Bounds of LISTs: how many objects of a kind in a namespace make one LIST
// cheaper than GETs, the size of a page, and how many missing objects are worth
// a further page.
const (
	listFrom    = 3
	pageSize    = 1000
	getsPerPage = 16
)

// listing reads the objects of one kind and namespace, page by page, until it
// has all that are wanted.
type listing struct {
	client  *Client
	of      dynamic.ResourceInterface
	options metav1.ListOptions
	// wanted are the names not found yet.
	wanted map[string]bool
	found  map[string]*unstructured.Unstructured
}

// list reads wanted objects. rest are those that it did not look for to the end
// because the namespace is full of others: a GET each is cheaper.
func (c *Client) list(ctx context.Context, at place, names []string) (found map[string]*unstructured.Unstructured, rest []string, err error) {
	r, err := c.resource(ctx, at.gvk, at.namespace)
	if err != nil {
		return nil, nil, err
	}
	l := &listing{client: c, of: r, options: metav1.ListOptions{Limit: pageSize}, wanted: map[string]bool{}, found: map[string]*unstructured.Unstructured{}}
	if at.gvk.Group == "" && at.gvk.Kind == "Secret" {
		// Release records are large and never part of a release.
		l.options.FieldSelector = "type!=helm.sh/release.v1"
	}
	for _, name := range names {
		l.wanted[name] = true
	}
	for {
		more, err := l.page(ctx)
		if apierrors.IsResourceExpired(err) && l.options.Continue != "" {
			l.options.Continue, l.options.Limit = "", 0 // the list changed too much on the way
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if !more {
			return l.found, nil, nil
		}
		if len(l.wanted) <= getsPerPage {
			for name := range l.wanted {
				rest = append(rest, name)
			}
			return l.found, rest, nil
		}
	}
}

// page reads one page; more is false when there are no more, or none are wanted.
func (l *listing) page(ctx context.Context) (more bool, err error) {
	var page *unstructured.UnstructuredList
	err = l.client.read(ctx, func(ctx context.Context) (err error) {
		page, err = l.of.List(ctx, l.options)
		return err
	})
	if err != nil {
		return false, err
	}
	for i := range page.Items {
		object := &page.Items[i]
		if name := object.GetName(); l.wanted[name] {
			l.found[name] = object
			delete(l.wanted, name)
		}
	}
	l.options.Continue = page.GetContinue()
	return l.options.Continue != "" && len(l.wanted) > 0, nil
}
