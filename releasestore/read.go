package releasestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// decoders bounds how many records are unpacked at a time.
const decoders = 4

// History reads every stored revision of a release, oldest first, with one
// request. A release that is not stored has an empty history. Records that
// can't be read are CorruptErrors, newest first, joined; the history beside
// them holds the others. Any other error comes without a history.
func (s *Store) History(ctx context.Context, key release.Key) (release.History, error) {
	selector, err := labels.ValidatedSelectorFromSet(labels.Set{labelName: key.Name, labelOwner: ownerHelm})
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", key, err)
	}
	objects, _, err := s.backend.list(ctx, key.Namespace, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", key, err)
	}
	revisions, err := s.decodeAll(records(objects))
	return release.NewHistory(revisions), err
}

// Get reads one revision: a NotFoundError when it is not stored, a
// CorruptError when it can't be read.
func (s *Store) Get(ctx context.Context, key release.Key, version int) (*release.Revision, error) {
	at := location{key.Namespace, ObjectName(key.Name, version)}
	o, err := s.backend.get(ctx, at)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &NotFoundError{s.record(at)}
	case err != nil:
		return nil, fmt.Errorf("read record of %s: %w", s.record(at), err)
	}
	return s.decode(o)
}

// records drops objects that bear our labels by chance.
func records(objects []object) []object {
	return slices.DeleteFunc(objects, func(o object) bool {
		_, _, ok := parseName(o.meta.Name)
		return !ok
	})
}

// decodeAll decodes side by side, and joins what is corrupt.
func (s *Store) decodeAll(objects []object) ([]*release.Revision, error) {
	slices.SortFunc(objects, func(a, b object) int {
		return cmp.Or(
			cmp.Compare(a.meta.Namespace, b.meta.Namespace),
			cmp.Compare(a.meta.Labels[labelName], b.meta.Labels[labelName]),
			cmp.Compare(s.record(b.location()).Version, s.record(a.location()).Version),
		)
	})
	revisions := make([]*release.Revision, len(objects))
	corrupt := make([]error, len(objects))
	var group errgroup.Group
	group.SetLimit(decoders)
	for i, o := range objects {
		group.Go(func() error {
			revisions[i], corrupt[i] = s.decode(o)
			return nil
		})
	}
	_ = group.Wait() // no decoder returns an error here: each has its own slot
	revisions = slices.DeleteFunc(revisions, func(r *release.Revision) bool { return r == nil })
	return revisions, errors.Join(corrupt...)
}

// decode reads a record and remembers having seen it. Where the object is
// stored decides about the namespace: restored backups may say another one.
func (s *Store) decode(o object) (*release.Revision, error) {
	s.memory.saw(o)
	at := s.record(o.location())
	r, err := decode(o.record)
	if err != nil {
		return nil, &CorruptError{at, err}
	}
	if r.Name != at.Key.Name || r.Version != at.Version {
		return nil, &CorruptError{at, fmt.Errorf("it holds %q revision %d", r.Name, r.Version)}
	}
	r.Namespace = o.meta.Namespace
	r.Labels = userLabels(o.meta.Labels)
	return r, nil
}

func (s *Store) record(at location) Record {
	name, version, _ := parseName(at.name)
	return Record{
		Key:     release.Key{Namespace: at.namespace, Name: name},
		Version: version,
		Kind:    s.backend.kind(),
		Object:  at.name,
	}
}
