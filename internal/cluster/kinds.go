package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// refreshPause keeps unknown kinds from asking discovery again and again.
const refreshPause = 300 * time.Millisecond

// served is one kind in one version as discovery describes it.
type served struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// kinds is the run's REST mapping, read from discovery once and again when a
// kind is asked for that it does not know.
type kinds struct {
	discovery discovery.CachedDiscoveryInterface

	mu        sync.Mutex
	loaded    bool
	refreshed time.Time
	table     map[schema.GroupVersionKind]served
	versions  map[schema.GroupKind][]string // preferred first
	failed    map[string]string             // group: why its discovery failed
	all       []string
}

// find maps a kind, asking discovery anew when it is not known.
func (k *kinds) find(gvk schema.GroupVersionKind) (served, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(); err != nil {
		return served{}, err
	}
	s, ok := k.table[gvk]
	if !ok {
		if err := k.refresh(); err != nil {
			return served{}, err
		}
		s, ok = k.table[gvk]
	}
	if !ok {
		return served{}, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	}
	return s, nil
}

// describe tells what discovery knows of groups and kinds.
func (k *kinds) describe(gvks []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(); err != nil {
		return nil, err
	}
	unknown := func(gvk schema.GroupVersionKind) bool {
		_, known := k.table[gvk]
		return !known
	}
	if slices.ContainsFunc(gvks, unknown) {
		if err := k.refresh(); err != nil {
			return nil, err
		}
	}
	out := make(map[schema.GroupKind]plan.Kind, len(gvks))
	for _, gvk := range gvks {
		out[gvk.GroupKind()] = k.kind(gvk.GroupKind())
	}
	return out, nil
}

func (k *kinds) kind(gk schema.GroupKind) plan.Kind {
	info := plan.Kind{Versions: k.versions[gk], Unavailable: k.failed[gk.Group]}
	if len(info.Versions) == 0 {
		return info
	}
	info.Scope = manifest.ScopeCluster
	info.Resource = k.table[gk.WithVersion(info.Versions[0])].resource.Resource
	if k.table[gk.WithVersion(info.Versions[0])].namespaced {
		info.Scope = manifest.ScopeNamespaced
	}
	return info
}

// refresh reads discovery from the server when what is known came from the
// cache on disk, or is older than a moment.
func (k *kinds) refresh() error {
	if time.Since(k.refreshed) < refreshPause {
		return nil
	}
	k.discovery.Invalidate()
	k.loaded = false
	err := k.load()
	k.refreshed = time.Now()
	return err
}

// load fills the tables. Groups whose discovery fails are remembered with the
// reason and do not hinder the rest.
func (k *kinds) load() error {
	if k.loaded {
		return nil
	}
	groups, lists, err := k.discovery.ServerGroupsAndResources()
	k.failed = map[string]string{}
	var partial *discovery.ErrGroupDiscoveryFailed
	switch {
	case errors.As(err, &partial):
		for gv, reason := range partial.Groups {
			k.failed[gv.Group] = reason.Error()
		}
	case err != nil:
		return fmt.Errorf("ask the cluster for its API: %w", err)
	}
	// In aggregated discovery a service that does not answer leaves its group
	// without versions, and no error.
	for _, g := range groups {
		if len(g.Versions) == 0 && k.failed[g.Name] == "" {
			k.failed[g.Name] = "the service behind this API does not answer"
		}
	}
	k.fill(groups, lists)
	k.loaded = true
	return nil
}

func (k *kinds) fill(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) {
	k.table = map[schema.GroupVersionKind]served{}
	k.versions = map[schema.GroupKind][]string{}
	k.all = nil
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		k.all = append(k.all, list.GroupVersion)
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue // a subresource
			}
			gvk := gv.WithKind(r.Kind)
			k.table[gvk] = served{resource: gv.WithResource(r.Name), namespaced: r.Namespaced}
			k.versions[gvk.GroupKind()] = append(k.versions[gvk.GroupKind()], gv.Version)
			k.all = append(k.all, list.GroupVersion+"/"+r.Kind)
		}
	}
	for _, g := range groups {
		k.prefer(g)
	}
}

// prefer moves a group's preferred version to the front.
func (k *kinds) prefer(g *metav1.APIGroup) {
	for gk, versions := range k.versions {
		if gk.Group != g.Name {
			continue
		}
		if i := slices.Index(versions, g.PreferredVersion.Version); i > 0 {
			versions[0], versions[i] = versions[i], versions[0]
		}
	}
}

// Kinds tells scope and served versions of kinds. Kinds that the cluster does
// not know are in the answer without versions.
func (c *Client) Kinds(_ context.Context, gvks []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	return c.kinds.describe(gvks)
}
