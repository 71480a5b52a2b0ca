package reconcile

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// inventory lists the objects of a revision and those of crds/ in the chart and in the subcharts
// that the revision's values enable, but not hooks.
func (p *pass) inventory(ctx context.Context, r *release.Revision) {
	objects, err := r.Objects()
	if err != nil {
		return // it was parsed before it was applied
	}
	out := &flux.Inventory{Entries: []flux.InventoryEntry{}}
	add := func(o manifest.Object) {
		// A colon, which RBAC's names may have, is written as two underscores (cli-utils).
		name := strings.ReplaceAll(o.Name, ":", "__")
		out.Entries = append(out.Entries, flux.InventoryEntry{
			ID: strings.Join([]string{o.Namespace, name, o.Group, o.Kind}, "_"), Version: o.Version,
		})
	}
	var others []schema.GroupVersionKind
	for _, o := range objects {
		if _, known := kinds.Scope(o.GroupKind()); !known {
			others = append(others, o.GVK())
		}
	}
	served, _ := p.engine.Cluster.Kinds(ctx, others) // usually from its cache; a kind that can't be found is taken for a namespaced one
	for _, o := range objects {
		clusterScoped, known := kinds.Scope(o.GroupKind())
		if !known {
			clusterScoped = served[o.GroupKind()].Scope == manifest.ScopeCluster
		}
		if o.Namespace == "" && !clusterScoped {
			o.Namespace = p.hr.ReleaseNamespace()
		}
		add(o)
	}
	if p.chart != nil {
		crds, _ := engine.EnabledCRDs(p.chart, r.Config) // they were parsed before they were applied
		for _, o := range crds {
			add(o)
		}
	}
	p.hr.Status.Inventory = out
}
