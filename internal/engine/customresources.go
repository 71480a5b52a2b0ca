package engine

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// customResources counts the custom resources of each CRD that a plan deletes, except the release's
// own. Those that can't be listed are not counted: whoever lacks that permission is rarely allowed
// to delete the CRD.
func (e *Engine) customResources(ctx context.Context, p *plan.Plan) map[manifest.ID]int {
	counts := map[manifest.ID]int{}
	for _, s := range p.DeletedCRDs() {
		d, ok := kinds.Define(s.Before)
		if !ok || len(d.Served) == 0 {
			continue
		}
		apiVersion, name := d.WithVersion(d.Served[0]).ToAPIVersionAndKind()
		list, err := e.Cluster.Lookup(ctx, apiVersion, name, "", "")
		if err != nil {
			continue
		}
		_ = list.EachListItem(func(item runtime.Object) error { // the callback never fails
			if o, ok := item.(*unstructured.Unstructured); ok && !belongs(o, p.Release) {
				counts[s.Object]++
			}
			return nil
		})
	}
	return counts
}

// belongs reports whether an object carries the release's ownership annotations.
func belongs(o *unstructured.Unstructured, key release.Key) bool {
	a := o.GetAnnotations()
	return a[manifest.ReleaseNameAnnotation] == key.Name && a[manifest.ReleaseNamespaceAnnotation] == key.Namespace
}
