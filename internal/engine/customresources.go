package engine

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// countCustomResources counts the custom resources of each CRD that a plan deletes, unless the input
// has their number. counted is true if it has all of them.
func (e *Engine) countCustomResources(ctx context.Context, p *plan.Plan, in *plan.Input) (counted bool) {
	counted = true
	for _, s := range p.DeletedCRDs() {
		if _, known := in.CustomResources[s.Object]; known {
			continue
		}
		if in.CustomResources == nil {
			in.CustomResources = map[manifest.ID]plan.CustomResources{}
		}
		in.CustomResources[s.Object], counted = e.customResources(ctx, s.Before, p.Release), false
	}
	return counted
}

// customResources counts the custom resources of a CRD. A kind that is not served has none.
func (e *Engine) customResources(ctx context.Context, crd *unstructured.Unstructured, key release.Key) (found plan.CustomResources) {
	d, ok := kinds.Define(crd)
	if !ok || len(d.Served) == 0 {
		return found
	}
	apiVersion, name := d.WithVersion(d.Served[0]).ToAPIVersionAndKind()
	list, err := e.Cluster.Lookup(ctx, apiVersion, name, "", "")
	var unknown *templating.UnknownKindError
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err), errors.As(err, &unknown):
		return found
	case err != nil:
		return plan.CustomResources{Uncounted: err.Error()}
	}
	_ = list.EachListItem(func(item runtime.Object) error { // the callback never fails
		if o, ok := item.(*unstructured.Unstructured); ok && belongs(o, key) {
			found.Own++
		} else {
			found.Others++
		}
		return nil
	})
	return found
}

// belongs reports whether an object carries the release's ownership annotations.
func belongs(o *unstructured.Unstructured, key release.Key) bool {
	a := o.GetAnnotations()
	return a[manifest.ReleaseNameAnnotation] == key.Name && a[manifest.ReleaseNamespaceAnnotation] == key.Namespace
}
