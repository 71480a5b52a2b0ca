package cluster

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// served is one version of a kind.
type served struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// catalog is an index of the results of discovery. It is immutable.
type catalog struct {
	// fetched is when the server was asked; zero for results from the cache on disk.
	fetched  time.Time
	table    map[schema.GroupVersionKind]served
	versions map[schema.GroupKind][]string // preferred first
	failed   map[string]string             // by group: why one of its versions did not answer
	// undiscovered says the same by group version, or by group if its versions are not known.
	undiscovered map[string]string
	all          []string
}

// silent is the reason for a group that can't be discovered when discovery gives none.
const silent = "the server behind this API does not answer"

func newCatalog(a answers) *catalog {
	c := &catalog{
		table:    map[schema.GroupVersionKind]served{},
		versions: map[schema.GroupKind][]string{},
		failed:   map[string]string{}, undiscovered: map[string]string{},
	}
	lists := map[string]*metav1.APIResourceList{}
	for _, list := range a.Resources {
		lists[list.GroupVersion] = list
	}
	for gv, why := range a.Failed {
		c.failed[gv.Group] = why
		c.undiscovered[gv.String()] = why
		c.all = append(c.all, gv.String())
	}
	for _, group := range a.Groups {
		for _, v := range preferredFirst(group) {
			c.all = append(c.all, v.GroupVersion)
			if list := lists[v.GroupVersion]; list != nil {
				c.add(schema.GroupVersion{Group: group.Name, Version: v.Version}, list)
			}
		}
		if len(group.Versions) == 0 && c.failed[group.Name] == "" { // as in aggregated discovery when no version answers
			c.failed[group.Name] = silent
			c.undiscovered[group.Name] = silent
		}
	}
	slices.Sort(c.all)
	c.all = slices.Compact(c.all)
	return c
}

func preferredFirst(group *metav1.APIGroup) []metav1.GroupVersionForDiscovery {
	versions := slices.Clone(group.Versions)
	if i := slices.Index(versions, group.PreferredVersion); i > 0 {
		versions = slices.Insert(slices.Delete(versions, i, i+1), 0, group.PreferredVersion)
	}
	return versions
}

// add adds the kinds of one group version. Kinds of subresources are in .Capabilities.APIVersions
// (Helm 4.3.1, pkg/action/action.go, GetVersionSet), but are not objects.
func (c *catalog) add(gv schema.GroupVersion, list *metav1.APIResourceList) {
	for _, r := range list.APIResources {
		c.all = append(c.all, list.GroupVersion+"/"+r.Kind)
		if strings.Contains(r.Name, "/") {
			continue
		}
		gvk := gv.WithKind(r.Kind)
		if _, twice := c.table[gvk]; !twice {
			c.versions[gvk.GroupKind()] = append(c.versions[gvk.GroupKind()], gv.Version)
		}
		c.table[gvk] = served{resource: gv.WithResource(r.Name), namespaced: r.Namespaced}
	}
}

func (c *catalog) knows(gvk schema.GroupVersionKind) bool {
	_, known := c.table[gvk]
	return known
}

func (c *catalog) kind(gk schema.GroupKind) plan.Kind {
	info := plan.Kind{Versions: slices.Clone(c.versions[gk]), Unavailable: c.failed[gk.Group]}
	if len(info.Versions) == 0 {
		return info
	}
	preferred := c.table[gk.WithVersion(info.Versions[0])]
	info.Scope, info.Resource = manifest.ScopeCluster, preferred.resource.Resource
	if preferred.namespaced {
		info.Scope = manifest.ScopeNamespaced
	}
	return info
}
