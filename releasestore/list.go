package releasestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Query selects the revisions that List returns.
type Query struct {
	// Namespace is where to look; "" means everywhere.
	Namespace string
	// EveryRevision asks for all revisions; otherwise only the newest of each release counts.
	EveryRevision bool
	// Statuses keeps only revisions that have one of them; none keeps all.
	Statuses []release.Status
	// Selector keeps only revisions whose labels match, those of the store
	// included; nil keeps all.
	Selector labels.Selector
}

// attempts is how often List starts again because releases changed while it was reading.
const attempts = 3

// List reads the outlines of revisions, sorted by namespace, name and revision. It finds them
// by the metadata of all records, and reads the content of no other record. Records that can't be
// read, or for which the budget of memory and time is too small (TooMuch), are returned as joined
// CorruptErrors, together with all the outlines that could be read.
func (s *Store) List(ctx context.Context, q Query) ([]*release.Revision, error) {
	var all []candidate
	var a *allowance
	err := errMoved
	for attempt := 1; attempt <= attempts && (errors.Is(err, errMoved) || apierrors.IsResourceExpired(err)); attempt++ {
		// The list expires if its pages take longer than the server keeps a snapshot.
		a = newAllowance()
		all, err = s.candidates(ctx, q, a, attempt == attempts)
	}
	if err != nil {
		return nil, fmt.Errorf("list releases in %s: %w", where(q.Namespace), err)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(a.meta.Namespace, b.meta.Namespace),
			cmp.Compare(a.meta.Labels[labelName], b.meta.Labels[labelName]),
			cmp.Compare(s.record(a.location()).Version, s.record(b.location()).Version),
		)
	})
	var revisions []*release.Revision
	var corrupt []error
	for _, c := range all {
		if c.found, err = s.further(ctx, c, a); err != nil {
			return nil, fmt.Errorf("list releases in %s: %w", where(q.Namespace), err)
		}
		if c.err != nil {
			corrupt = append(corrupt, c.err)
			continue
		}
		revisions = append(revisions, c.revision)
	}
	return revisions, errors.Join(corrupt...)
}

// further searches the rest of a record for its outline, after all other outlines have been read.
func (s *Store) further(ctx context.Context, c candidate, a *allowance) (found, error) {
	if !errors.Is(c.err, errTooLong) {
		return c.found, nil
	}
	if a.scanned <= maxBeginning { // no more than what was searched already
		return found{err: &CorruptError{s.record(c.location()), errScanned}}, nil
	}
	o, err := s.backend.get(ctx, c.location())
	switch {
	case retry.Missing(err):
		return found{err: &CorruptError{s.record(c.location()), err}}, nil
	case err != nil:
		return found{}, err
	}
	return s.outline(o, MaxUnpacked, a), nil
}

// candidate is a record's metadata and outline.
type candidate struct {
	object
	found
}

func where(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}

func (q Query) keeps(o object) bool {
	status := release.Status(o.meta.Labels[labelStatus])
	if len(q.Statuses) > 0 && !slices.Contains(q.Statuses, status) {
		return false
	}
	return q.Selector == nil || q.Selector.Matches(labels.Set(o.meta.Labels))
}
