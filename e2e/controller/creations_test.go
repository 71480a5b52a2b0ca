//go:build cluster

package controller_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

var jobs = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}

// creations counts the Jobs created in the rig's namespace, as a watch reports them: two of one name
// are two, even if the client that created one was cut off before it heard of that.
type creations struct {
	r     *rig
	marks int

	mu   sync.Mutex
	uids map[types.UID]bool
	made map[string]int
}

// hooks watches the Jobs that are created from now on.
func (r *rig) hooks() *creations {
	r.Helper()
	c := &creations{r: r, uids: map[types.UID]bool{}, made: map[string]int{}}
	all := r.client.Resource(jobs).Namespace(r.namespace)
	list, err := all.List(r.Context(), metav1.ListOptions{})
	if err != nil {
		r.Fatal(err)
	}
	w, err := watchtools.NewRetryWatcherWithContext(r.Context(), list.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: all.Watch})
	if err != nil {
		r.Fatal(err)
	}
	go func() {
		for e := range w.ResultChan() {
			if o, ok := e.Object.(*unstructured.Unstructured); ok && e.Type == watch.Added {
				c.note(o)
			}
		}
	}()
	r.Cleanup(w.Stop)
	return c
}

func (c *creations) note(o *unstructured.Unstructured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.uids[o.GetUID()] {
		c.uids[o.GetUID()] = true
		c.made[o.GetName()]++
	}
}

// count returns how often Jobs were created, by name. Everything created before the call is counted:
// count creates a Job of its own, which runs nothing, and waits until the watch reports it.
func (c *creations) count() map[string]int {
	c.r.Helper()
	c.marks++
	mark := fmt.Sprintf("mark-%d", c.marks)
	all := c.r.client.Resource(jobs).Namespace(c.r.namespace)
	_, err := all.Create(c.r.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": mark},
		"spec": map[string]any{"suspend": true, "template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never", "containers": []any{map[string]any{"name": "mark", "image": "mark"}},
		}}},
	}}, metav1.CreateOptions{})
	if err != nil {
		c.r.Fatal(err)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		c.mu.Lock()
		out := maps.Clone(c.made)
		c.mu.Unlock()
		if out[mark] == 0 {
			continue
		}
		background := metav1.DeletePropagationBackground
		if err := all.Delete(c.r.Context(), mark, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
			c.r.Fatal(err)
		}
		maps.DeleteFunc(out, func(name string, _ int) bool { return strings.HasPrefix(name, "mark-") })
		return out
	}
	c.r.Fatal("the watch of Jobs does not tell what was made")
	return nil
}
