package releasestore

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// memoryBackend keeps records in memory. It behaves like an API server, with resource versions and
// preconditions.
type memoryBackend struct {
	mu      sync.Mutex
	objects map[location]object
	writes  int
}

func newMemoryBackend() *memoryBackend {
	return &memoryBackend{objects: map[location]object{}}
}

func (*memoryBackend) kind() string { return "record" }

func (*memoryBackend) maxSize() int { return MaxSize }

func (m *memoryBackend) get(_ context.Context, at location) (object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, found := m.objects[at]
	if !found {
		return object{}, apierrors.NewNotFound(memoryResource(), at.name)
	}
	return o.clone(), nil
}

func (m *memoryBackend) list(_ context.Context, namespace string, o listOptions) ([]object, string, error) {
	selector, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []object
	for at, stored := range m.objects {
		if (namespace == "" || namespace == at.namespace) && selector.Matches(labels.Set(stored.meta.Labels)) {
			stored = stored.clone()
			if o.metadataOnly {
				stored.record = ""
			}
			out = append(out, stored)
		}
	}
	slices.SortFunc(out, func(a, b object) int { return a.location().compare(b.location()) })
	return out, "", nil
}

func (m *memoryBackend) create(_ context.Context, o object) (object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.objects[o.location()]; taken {
		return object{}, apierrors.NewAlreadyExists(memoryResource(), o.meta.Name)
	}
	o.meta.UID = types.UID("memory-" + strconv.Itoa(m.writes+1))
	return m.put(o), nil
}

func (m *memoryBackend) update(_ context.Context, o object) (object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, found := m.objects[o.location()]
	if !found {
		return object{}, apierrors.NewNotFound(memoryResource(), o.meta.Name)
	}
	if o.meta.ResourceVersion != stored.meta.ResourceVersion {
		return object{}, apierrors.NewConflict(memoryResource(), o.meta.Name, nil)
	}
	o.meta.UID = stored.meta.UID
	return m.put(o), nil
}

func (m *memoryBackend) delete(_ context.Context, at location, o metav1.DeleteOptions) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, found := m.objects[at]
	if !found {
		return apierrors.NewNotFound(memoryResource(), at.name)
	}
	if p := o.Preconditions; p != nil && p.ResourceVersion != nil && *p.ResourceVersion != stored.meta.ResourceVersion {
		return apierrors.NewConflict(memoryResource(), at.name, nil)
	}
	delete(m.objects, at)
	return nil
}

// put stores a copy under a new resource version. The caller holds the mutex.
func (m *memoryBackend) put(o object) object {
	m.writes++
	o = o.clone()
	o.meta.ResourceVersion = strconv.Itoa(m.writes)
	m.objects[o.location()] = o
	return o.clone()
}

func (o object) clone() object {
	o.meta.Labels = maps.Clone(o.meta.Labels)
	return o
}

func memoryResource() schema.GroupResource { return schema.GroupResource{Resource: "records"} }
