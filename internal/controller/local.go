package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// local reads objects for passes: HelmReleases from the cache if they are in it, everything else from the
// API server. Those of another shard are not in it; of those in a namespace that is not watched, it does
// not say that they are not found, but has an error of its own.
type local struct {
	cached client.Reader
	live   client.Reader
}

// Lookup implements reconcile.Reader.
func (l local) Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	if kind == flux.KindHelmRelease {
		o := &helmRelease{}
		if l.cached.Get(ctx, key, o) == nil {
			o.SetGroupVersionKind(helmVersion.WithKind(kind))
			content, err := o.content()
			return &unstructured.Unstructured{Object: content}, err
		}
	}
	out := &unstructured.Unstructured{}
	out.SetAPIVersion(apiVersion)
	out.SetKind(kind)
	return out, l.live.Get(ctx, key, out)
}
