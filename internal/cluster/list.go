package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
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
	client *Client
	gvk    schema.GroupVersionKind
	path   string
	// continued is the token of the next page, selector a field selector; limit
	// is 0 for everything in one page.
	continued, selector string
	limit               int64
	// wanted are the names not found yet.
	wanted map[string]bool
	found  map[string]plan.Observation
	// last is the object found last: the next one shares with it what they have in common.
	last map[string]any
	// managed are its managedFields, as they were written and decoded.
	managed  []byte
	managers []metav1.ManagedFieldsEntry
}

// list reads wanted objects. rest are those that it did not look for to the end
// because the namespace is full of others: a GET each is cheaper.
func (c *Client) list(ctx context.Context, at listKey, names []string) (found map[string]plan.Observation, rest []string, err error) {
	path, err := c.path(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	l := &listing{client: c, gvk: at.gvk, path: path, limit: pageSize, wanted: map[string]bool{}, found: map[string]plan.Observation{}}
	if (manifest.ID{Group: at.gvk.Group, Kind: at.gvk.Kind}).IsSecret() {
		// Release records are large and never part of a release.
		l.selector = "type!=helm.sh/release.v1"
	}
	for _, name := range names {
		l.wanted[name] = true
	}
	for {
		more, err := l.page(ctx)
		if apierrors.IsResourceExpired(err) && l.continued != "" {
			l.continued, l.limit = "", 0 // the list changed too much on the way
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

// path is where the objects of a kind in a namespace are listed.
func (c *Client) path(ctx context.Context, at listKey) (string, error) {
	s, err := c.kinds.find(ctx, at.gvk)
	if err != nil {
		return "", c.explain(err)
	}
	path := "/apis/" + s.resource.Group + "/" + s.resource.Version
	if s.resource.Group == "" {
		path = "/api/" + s.resource.Version
	}
	if s.namespaced {
		path += "/namespaces/" + at.namespace
	}
	return path + "/" + s.resource.Resource, nil
}

// page reads one page; more is false when there are no more, or none are wanted.
// The objects' managedFields, half of the text, are kept apart: as maps they would
// take most of the memory.
func (l *listing) page(ctx context.Context) (more bool, err error) {
	var page listPage
	err = l.client.read(ctx, func(ctx context.Context) error {
		result := l.request().Do(ctx)
		if err := result.Error(); err != nil {
			return err // Raw would know less of it
		}
		text, err := result.Raw()
		if err != nil {
			return err
		}
		page, err = readPage(text)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, item := range page.Items {
		if err := l.take(item); err != nil {
			return false, fmt.Errorf("read an object of %s: %w", l.path, err)
		}
	}
	l.continued = page.Metadata.Continue
	return l.continued != "" && len(l.wanted) > 0, nil
}

func (l *listing) request() *rest.Request {
	r := l.client.objects.Get().AbsPath(l.path)
	for name, value := range map[string]string{"continue": l.continued, "fieldSelector": l.selector} {
		if value != "" {
			r = r.Param(name, value)
		}
	}
	if l.limit > 0 {
		r = r.Param("limit", strconv.FormatInt(l.limit, 10))
	}
	return r
}

// take keeps an object when it is wanted.
func (l *listing) take(item []byte) error {
	rest, managed := cutManagedFields(item)
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(rest, &object.Object); err != nil {
		return err
	}
	if object.GetKind() == "" { // lists of built-in kinds leave it out
		object.SetGroupVersionKind(l.gvk)
	}
	name := object.GetName()
	if !l.wanted[name] {
		return nil
	}
	jsontree.Share(object.Object, l.last, nil)
	l.last = object.Object
	o := plan.Observed(object)
	switch {
	case managed == nil:
	case bytes.Equal(managed, l.managed): // as objects written in the same second mostly have them
		o.Managers = l.managers
	default:
		if err := json.Unmarshal(managed, &o.Managers); err != nil {
			return err
		}
		shareFields(o.Managers, l.managers)
		l.managed, l.managers = managed, o.Managers
	}
	l.found[name] = o
	delete(l.wanted, name)
	return nil
}
