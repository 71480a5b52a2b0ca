package releasestore

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Create stores a new revision. It fails with an ExistsError when the number is
// taken and with a TooLargeError when the record does not fit. Calling it again
// after a lost response is safe: a record with exactly the same content is ours.
func (s *Store) Create(ctx context.Context, r *release.Revision) error {
	record, err := s.encode(r)
	if err != nil {
		return err
	}
	o := newObject(r, record, s.clock.Now())
	created, err := s.backend.create(ctx, o)
	switch {
	case apierrors.IsAlreadyExists(err):
		return s.recogniseCreated(ctx, o)
	case err != nil:
		return fmt.Errorf("store record of %s: %w", s.record(o.location()), err)
	}
	s.memory.saw(created)
	return nil
}

// recogniseCreated accepts an existing record if its content is what was sent.
func (s *Store) recogniseCreated(ctx context.Context, sent object) error {
	current, err := s.backend.get(ctx, sent.location())
	if err != nil {
		return fmt.Errorf("store record of %s: %w", s.record(sent.location()), err)
	}
	if current.record != sent.record {
		return &ExistsError{s.record(sent.location())}
	}
	s.memory.saw(current)
	return nil
}

// Update overwrites a stored revision. It fails with a ConflictError when
// another process has written it since this store last read or wrote it, with a
// NotFoundError when it is gone and with a TooLargeError when it does not fit.
// Calling it again after a lost response, with the same revision or a later state
// of it, is safe.
func (s *Store) Update(ctx context.Context, r *release.Revision) error {
	record, err := s.encode(r)
	if err != nil {
		return err
	}
	at := location{r.Namespace, ObjectName(r.Name, r.Version)}
	if _, seen := s.memory.meta(at); !seen {
		if err := s.look(ctx, at); err != nil {
			return err
		}
	}
	return s.compareAndSwap(ctx, at, func(meta metav1.ObjectMeta) error {
		o := nextObject(meta, r, record, s.clock.Now())
		s.memory.sent(o)
		updated, err := s.backend.update(ctx, o)
		if err == nil {
			s.memory.saw(updated)
		}
		return err
	})
}

// Delete removes one revision's record. A missing one is not an error. It fails
// with a ConflictError when this store has read or written the record and
// another process has written it since.
func (s *Store) Delete(ctx context.Context, key release.Key, version int) error {
	at := location{key.Namespace, ObjectName(key.Name, version)}
	remove := func(meta metav1.ObjectMeta) error {
		var o metav1.DeleteOptions
		if meta.ResourceVersion != "" {
			o.Preconditions = &metav1.Preconditions{ResourceVersion: &meta.ResourceVersion}
		}
		err := s.backend.delete(ctx, at, o)
		if err == nil || retry.Missing(err) {
			s.memory.forget(at)
			return nil
		}
		return err
	}
	err := s.compareAndSwap(ctx, at, remove)
	if _, gone := errors.AsType[*NotFoundError](err); gone {
		return nil
	}
	return err
}

// compareAndSwap writes against the version last seen. On a conflict it writes again if the content
// is known nonetheless: then a response was lost, or others have changed only the metadata.
func (s *Store) compareAndSwap(ctx context.Context, at location, write func(metav1.ObjectMeta) error) error {
	const attempts = 3
	for range attempts {
		meta, _ := s.memory.meta(at)
		err := write(meta)
		switch {
		case err == nil:
			return nil
		case retry.Missing(err):
			s.memory.forget(at)
			return &NotFoundError{s.record(at)}
		case !apierrors.IsConflict(err):
			return fmt.Errorf("write record of %s: %w", s.record(at), err)
		}
		if err := s.lookAgain(ctx, at); err != nil {
			return err
		}
	}
	return &ConflictError{s.record(at)}
}

// lookAgain reads the current version of a record. It returns a ConflictError if the content is not
// known.
func (s *Store) lookAgain(ctx context.Context, at location) error {
	current, err := s.fetch(ctx, at)
	if err != nil {
		return err
	}
	if !s.memory.known(current) {
		return &ConflictError{s.record(at)}
	}
	s.memory.saw(current)
	return nil
}

func (s *Store) look(ctx context.Context, at location) error {
	current, err := s.fetch(ctx, at)
	if err != nil {
		return err
	}
	s.memory.saw(current)
	return nil
}

func (s *Store) fetch(ctx context.Context, at location) (object, error) {
	current, err := s.backend.get(ctx, at)
	switch {
	case retry.Missing(err):
		return object{}, &NotFoundError{s.record(at)}
	case err != nil:
		return object{}, fmt.Errorf("read record of %s: %w", s.record(at), err)
	}
	return current, nil
}

func (s *Store) encode(r *release.Revision) (string, error) {
	if err := checkLabels(r); err != nil {
		return "", err
	}
	if err := checkVersion(r.Version); err != nil {
		return "", fmt.Errorf("store record of %s: %w", r, err)
	}
	record, err := encode(r)
	if err != nil {
		return "", err
	}
	if limit := s.MaxSize(); limit > 0 && len(record) > limit {
		at := location{r.Namespace, ObjectName(r.Name, r.Version)}
		return "", &TooLargeError{Record: s.record(at), Size: len(record), Max: limit}
	}
	return record, nil
}
