package releasestore

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// In returns a store that keeps the records of one namespace's releases in another namespace, as
// with a HelmRelease's spec.storageNamespace: keys and revisions have the release's namespace, the
// stored objects are in storage.
func (s *Store) In(storage, releases string) *Store {
	if storage == releases {
		return s
	}
	return open(relocated{s.backend.backend, storage, releases}, s.clock)
}

// relocated is a backend that keeps the records of one namespace in another one.
type relocated struct {
	backend
	storage, releases string
}

// there returns where the record of a location is stored.
func (b relocated) there(at location) location {
	if at.namespace == b.releases {
		at.namespace = b.storage
	}
	return at
}

// store returns the object as it is stored; back is the reverse.
func (b relocated) store(o object) object {
	o.meta.Namespace = b.there(o.location()).namespace
	return o
}

func (b relocated) back(o object, err error) (object, error) {
	if o.meta.Namespace == b.storage {
		o.meta.Namespace = b.releases
	}
	return o, err
}

func (b relocated) get(ctx context.Context, at location) (object, error) {
	return b.back(b.backend.get(ctx, b.there(at)))
}

func (b relocated) list(ctx context.Context, namespace string, o listOptions) ([]object, string, error) {
	if namespace == b.releases {
		namespace = b.storage
	}
	found, next, err := b.backend.list(ctx, namespace, o)
	for i := range found {
		found[i], _ = b.back(found[i], nil)
	}
	return found, next, err
}

func (b relocated) create(ctx context.Context, o object) (object, error) {
	return b.back(b.backend.create(ctx, b.store(o)))
}

func (b relocated) update(ctx context.Context, o object) (object, error) {
	return b.back(b.backend.update(ctx, b.store(o)))
}

func (b relocated) delete(ctx context.Context, at location, o metav1.DeleteOptions) error {
	return b.backend.delete(ctx, b.there(at), o)
}
