package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// local reads objects for passes: HelmReleases from the cache if they are in it,
// everything else from the API server.
type local struct {
	cached client.Reader
	live   client.Reader
}

// Lookup implements reconcile.Reader.
func (l local) Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	if kind == flux.KindHelmRelease {
		o := &helmRelease{}
		err := l.cached.Get(ctx, key, o)
		if err == nil {
			o.SetGroupVersionKind(helmVersion.WithKind(kind))
			content, err := o.content()
			return &unstructured.Unstructured{Object: content}, err
		}
		if !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	out := &unstructured.Unstructured{}
	out.SetAPIVersion(apiVersion)
	out.SetKind(kind)
	return out, l.live.Get(ctx, key, out)
}
