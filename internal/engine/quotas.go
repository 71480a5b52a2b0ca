package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// quotas lists the ResourceQuotas of namespaces. It skips a namespace whose quotas may not be
// listed: there, only the dry run of each object shows whether it fits.
func (e *Engine) quotas(ctx context.Context, namespaces []string) []*unstructured.Unstructured {
	found := []*unstructured.Unstructured{}
	for _, quotas := range e.listed(ctx, kinds.ResourceQuota.Kind, namespaces) {
		found = append(found, quotas...)
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found
}

// claims lists the names of PersistentVolumeClaims by namespace.
func (e *Engine) claims(ctx context.Context, namespaces []string) map[string][]string {
	found := map[string][]string{}
	for namespace, claims := range e.listed(ctx, kinds.PersistentVolumeClaim.Kind, namespaces) {
		names := make([]string, len(claims))
		for i, claim := range claims {
			names[i] = claim.GetName()
		}
		slices.Sort(names)
		found[namespace] = names
	}
	return found
}

// listed lists the objects of a kind in the core group in several namespaces in parallel. It skips
// namespaces in which they can't be listed.
func (e *Engine) listed(ctx context.Context, kind string, namespaces []string) map[string][]*unstructured.Unstructured {
	found := map[string][]*unstructured.Unstructured{}
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, namespace := range namespaces {
		asked.Go(func() {
			list, err := e.Cluster.Lookup(ctx, "v1", kind, namespace, "")
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[namespace] = nil
			_ = list.EachListItem(func(item runtime.Object) error { // the callback never fails
				if o, ok := item.(*unstructured.Unstructured); ok {
					found[namespace] = append(found[namespace], o)
				}
				return nil
			})
		})
	}
	asked.Wait()
	return found
}
