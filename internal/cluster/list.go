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

// Limits for LISTs: the number of objects of a kind in a namespace from which one LIST is cheaper
// than GETs, the size of a page, and the number of missing objects above which another page is read.
const (
	listFrom    = 3
	pageSize    = 1000
	getsPerPage = 16
)

// listing reads objects of one kind and namespace, page by page, until all wanted ones are found.
type listing struct {
	client *Client
	gvk    schema.GroupVersionKind
	path   string
	// continued is the token of the next page, selector a field selector; limit 0 is no limit.
	continued, selector string
	limit               int64
	// wanted are the names that have not been found yet.
	wanted map[string]bool
	found  map[string]plan.Observation
	// last is the object found last, with whose content the next one shares memory.
	last map[string]any
	// managed are that object's managedFields in JSON, managers the same decoded.
	managed  []byte
	managers []metav1.ManagedFieldsEntry
}

// list reads the wanted objects. rest are those that were not found in the first pages because the
// namespace is full of other objects: a GET for each is cheaper.
func (c *Client) list(ctx context.Context, at listKey, names []string) (found map[string]plan.Observation, rest []string, err error) {
	path, err := c.path(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	l := &listing{client: c, gvk: at.gvk, path: path, limit: pageSize, wanted: map[string]bool{}, found: map[string]plan.Observation{}}
	if (manifest.ID{Group: at.gvk.Group, Kind: at.gvk.Kind}).IsSecret() {
		// Release records are large and hardly ever objects of a release: one that a chart has is taken for missing.
		l.selector = "type!=helm.sh/release.v1"
	}
	for _, name := range names {
		l.wanted[name] = true
	}
	for {
		more, err := l.page(ctx)
		if apierrors.IsResourceExpired(err) && l.continued != "" {
			l.continued, l.limit = "", 0 // the continue token has expired
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

// path returns the path for LISTs of a kind in a namespace.
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

// page reads one page; more is false after the last one, or when all wanted objects are found.
// managedFields, half of the text, are kept apart: as maps they would take most of the memory.
func (l *listing) page(ctx context.Context) (more bool, err error) {
	var page listPage
	err = l.client.read(ctx, func(ctx context.Context) error {
		text, err := rawBody(l.request().Do(ctx))
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

// take keeps an object if it is wanted.
func (l *listing) take(item []byte) error {
	rest, managed := cutManagedFields(item)
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(rest, &object.Object); err != nil {
		return err
	}
	if object.GetKind() == "" { // lists of built-in kinds omit it
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
	case bytes.Equal(managed, l.managed): // objects written in the same second mostly have equal ones
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
