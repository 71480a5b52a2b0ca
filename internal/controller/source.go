package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// source returns the source that a reference names, from the cache. Errors are those
// of the lookup, and one for a kind that is not supported.
func (r *reconciler) source(ctx context.Context, ref flux.Reference) (*flux.Source, error) {
	var content func() (map[string]any, error)
	var into client.Object
	switch ref.Kind {
	case flux.KindHelmChart:
		o := &object[helmChartKind]{}
		into, content = o, o.content
	case flux.KindOCIRepository:
		o := &object[ociRepositoryKind]{}
		into, content = o, o.content
	case flux.KindExternalArtifact:
		if !r.options.ExternalArtifacts {
			return nil, fmt.Errorf("%s: the feature gate ExternalArtifact is off", ref) // the pass says that it is denied
		}
		o := &object[externalArtifactKind]{}
		into, content = o, o.content
	default:
		return nil, fmt.Errorf("unsupported chart reference kind '%s'", ref.Kind)
	}
	if err := r.client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, into); err != nil {
		return nil, err
	}
	into.GetObjectKind().SetGroupVersionKind(sourceVersion.WithKind(ref.Kind))
	o, err := content()
	if err != nil {
		return nil, err
	}
	return flux.DecodeSource(o)
}

// decoded returns a HelmRelease from the cache or the API server, decoded.
func decoded(o *helmRelease) (*flux.HelmRelease, error) {
	o.SetGroupVersionKind(helmVersion.WithKind(flux.KindHelmRelease))
	content, err := o.content()
	if err != nil {
		return nil, err
	}
	return flux.DecodeHelmRelease(content)
}
