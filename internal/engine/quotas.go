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

// quotas lists the ResourceQuotas of namespaces, side by side. What may not be
// listed is left out: then each dry run alone says whether its object fits.
func (e *Engine) quotas(ctx context.Context, namespaces []string) []*unstructured.Unstructured {
	found := []*unstructured.Unstructured{}
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, namespace := range namespaces {
		asked.Go(func() {
			list, err := e.Cluster.Lookup(ctx, "v1", kinds.ResourceQuota.Kind, namespace, "")
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			_ = list.EachListItem(func(item runtime.Object) error { // it never fails here
				if quota, ok := item.(*unstructured.Unstructured); ok {
					found = append(found, quota)
				}
				return nil
			})
		})
	}
	asked.Wait()
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found
}
