package apply

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Relations reads what readiness.Check needs to know besides an object: a claim's StorageClass. It reads each once,
// however many claims have it, and whatever happens to them: what matters of it can't be changed (Kubernetes,
// pkg/apis/storage/validation/validation.go, ValidateStorageClassUpdate). It is safe for concurrent use.
type Relations struct {
	cluster Cluster
	now     func() time.Time
	again   time.Duration

	mu      sync.Mutex // also while a class is read, which others then need not read
	classes map[string]*unstructured.Unstructured
	failed  map[string]time.Time // when reading a class has failed
}

// NewRelations returns the relations of objects in a cluster. A class that could not be read is read again after the
// time again at the earliest, since each attempt may take a minute; 0 means never. now is the clock.
func NewRelations(c Cluster, now func() time.Time, again time.Duration) *Relations {
	return &Relations{cluster: c, now: now, again: again, classes: map[string]*unstructured.Unstructured{}, failed: map[string]time.Time{}}
}

// Of returns the objects related to one. What can't be read is left out: after a few attempts, and after one that
// has had no answer in time.
func (r *Relations) Of(ctx context.Context, object *unstructured.Unstructured) []*unstructured.Unstructured {
	name := readiness.StorageClass(object)
	if name == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if class := r.classes[name]; class != nil {
		return []*unstructured.Unstructured{class}
	}
	if at, failed := r.failed[name]; failed && (r.again == 0 || r.now().Sub(at) < r.again) {
		return nil
	}
	ref := Ref{ID: manifest.ID{Group: kinds.StorageClass.Group, Kind: kinds.StorageClass.Kind, Name: name}, Version: "v1"}
	passes := func(err error, stalled int) bool { return retry.Passes(err) && stalled == 0 }
	var class *unstructured.Unstructured
	err := retry.Read(ctx, retry.Pause, passes, func(ctx context.Context) error {
		return retry.Attempt(ctx, func(ctx context.Context) (err error) {
			class, err = r.cluster.Get(ctx, ref)
			return err
		})
	})
	if err != nil {
		r.failed[name] = r.now()
		return nil
	}
	r.classes[name] = class
	return []*unstructured.Unstructured{class}
}
