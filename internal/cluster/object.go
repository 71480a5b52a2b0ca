package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/client-go/dynamic"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/templating"
)

// resource returns the client for one kind in one namespace.
func (c *Client) resource(ctx context.Context, gvk schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	return c.resourceBy(ctx, c.dynamic, gvk, namespace)
}

// written is resource for a write. The response to a dry run is the object without managedFields,
// that to a write the object's metadata; with o.Whole it is the whole object.
func (c *Client) written(ctx context.Context, gvk schema.GroupVersionKind, namespace string, o apply.WriteOptions) (dynamic.ResourceInterface, error) {
	by := c.metadataOnly
	switch {
	case o.Whole:
		by = c.dynamic
	case o.DryRun:
		by = c.noManagedFields
	}
	return c.resourceBy(ctx, by, gvk, namespace)
}

func (c *Client) resourceBy(ctx context.Context, by dynamic.Interface, gvk schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	s, err := c.kinds.find(ctx, gvk)
	if err != nil {
		return nil, c.explain(err)
	}
	if !s.namespaced {
		return by.Resource(s.resource), nil
	}
	return by.Resource(s.resource).Namespace(namespace), nil
}

// Get reads one object from the API server; see apply.Cluster.
func (c *Client) Get(ctx context.Context, ref apply.Ref) (*unstructured.Unstructured, error) {
	r, err := c.resource(ctx, ref.GVK(), ref.Namespace)
	if err != nil {
		return nil, err
	}
	live, err := r.Get(ctx, ref.Name, metav1.GetOptions{})
	return live, c.explain(err)
}

// Lookup reads one object, or the list of a kind when name is empty, with the
// apiVersion and kind that a template asks for. If the API server serves the apiVersion without
// that kind, the error is a *templating.UnknownKindError.
func (c *Client) Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	r, err := c.resource(ctx, gvk, namespace)
	if meta.IsNoMatchError(err) && c.kinds.serve(gvk.GroupVersion()) {
		return nil, &templating.UnknownKindError{APIVersion: apiVersion, Kind: kind}
	}
	if err != nil {
		return nil, err
	}
	var found *unstructured.Unstructured
	err = c.read(ctx, func(ctx context.Context) (err error) {
		found, err = getOrList(ctx, r, name)
		return c.settleGone(ctx, gvk.GroupKind(), name, err)
	})
	return found, err
}

// getOrList reads one object, or the list of its kind if name is empty.
func getOrList(ctx context.Context, r dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	if name != "" {
		return r.Get(ctx, name, metav1.GetOptions{})
	}
	list, err := r.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: list.UnstructuredContent()}, nil
}

// settleGone turns a 404 without a Status into one that says what it means: the object does not exist, since its kind
// is gone, or something else has answered in the server's place, which is transient.
func (c *Client) settleGone(ctx context.Context, kind schema.GroupKind, name string, err error) error {
	if c.kindGone(ctx, kind, err) {
		return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, name)
	}
	return inItsPlace(err)
}

// inItsPlace turns a 404 without a Status, for a path that the API server has, into a transient error. It returns all
// other errors unchanged.
func inItsPlace(err error) error {
	if !pathGone(err) {
		return err
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("something else has answered in the API server's place: %v", err))
}

// Create creates an object and returns its metadata; for a dry run the object without managedFields,
// with o.Whole the whole object. Replace and Patch return the same; for errors see apply.Cluster.
func (c *Client) Create(ctx context.Context, object *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	r, err := c.written(ctx, object.GroupVersionKind(), object.GetNamespace(), o)
	if err != nil {
		return nil, err
	}
	after, err := r.Create(sending(ctx, idOf(object)), object, metav1.CreateOptions{FieldManager: o.FieldManager, DryRun: dryRun(o), FieldValidation: fieldValidation(o)})
	return after, c.explain(err)
}

// idOf returns the ID of an object that is sent; one whose name is to be generated has the name that it
// stands for, see dryRunReplacement.
func idOf(object *unstructured.Unstructured) manifest.ID {
	kind := object.GroupVersionKind()
	name := cmp.Or(object.GetName(), strings.TrimSuffix(object.GetGenerateName(), "-"))
	return manifest.ID{Group: kind.Group, Kind: kind.Kind, Namespace: object.GetNamespace(), Name: name}
}

// Replace replaces an object (PUT).
func (c *Client) Replace(ctx context.Context, object *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	r, err := c.written(ctx, object.GroupVersionKind(), object.GetNamespace(), o)
	if err != nil {
		return nil, err
	}
	after, err := r.Update(sending(ctx, idOf(object)), object, metav1.UpdateOptions{FieldManager: o.FieldManager, DryRun: dryRun(o), FieldValidation: fieldValidation(o)})
	return after, c.explain(err)
}

// Patch sends a patch or a server-side apply.
func (c *Client) Patch(ctx context.Context, ref apply.Ref, p apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	r, err := c.written(ctx, ref.GVK(), ref.Namespace, o)
	if err != nil {
		return nil, err
	}
	options := metav1.PatchOptions{FieldManager: o.FieldManager, DryRun: dryRun(o), FieldValidation: fieldValidation(o)}
	if p.Type == types.ApplyPatchType {
		options.Force = &o.Force
	}
	patched, err := r.Patch(sending(ctx, ref.ID), ref.Name, p.Type, p.Data, options)
	return patched, c.explain(misfit(err))
}

// misfit turns the API server's status 500 for a server-side apply whose fields have the wrong
// types (Kubernetes 1.36: "failed to create typed patch object") into a bad request: a retry would
// not help.
func misfit(err error) error {
	var api apierrors.APIStatus
	if errors.As(err, &api) && strings.HasPrefix(api.Status().Message, "failed to create typed patch object") {
		return apierrors.NewBadRequest(api.Status().Message)
	}
	return err
}

// Delete requests the deletion of an object; see apply.Cluster.
func (c *Client) Delete(ctx context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	options := metav1.DeleteOptions{PropagationPolicy: propagation(o.Cascade)}
	if o.UID != "" {
		options.Preconditions = &metav1.Preconditions{UID: &o.UID}
	}
	r, err := c.resourceBy(ctx, c.metadataOnly, ref.GVK(), ref.Namespace)
	if err == nil {
		err = r.Delete(ctx, ref.Name, options)
	}
	if c.kindGone(ctx, ref.GroupKind(), err) {
		return apierrors.NewNotFound(schema.GroupResource{Group: ref.Group, Resource: ref.Kind}, ref.Name)
	}
	return c.explain(err)
}

// kindGone reports whether a request failed since the server no longer serves the kind. A 404 without a Status may
// also come from a proxy, so discovery has to agree. Of a kind that it does not list, no request was sent.
func (c *Client) kindGone(ctx context.Context, kind schema.GroupKind, err error) bool {
	return pathGone(err) && c.kinds.gone(ctx, kind)
}

func propagation(cascade string) *metav1.DeletionPropagation {
	p := metav1.DeletePropagationBackground
	switch cascade {
	case "foreground":
		p = metav1.DeletePropagationForeground
	case "orphan":
		p = metav1.DeletePropagationOrphan
	}
	return &p
}

func dryRun(o apply.WriteOptions) []string {
	if o.DryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}
