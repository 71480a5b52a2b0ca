package releasestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Query says which revisions List returns.
type Query struct {
	// Namespace is where to look, "" everywhere.
	Namespace string
	// EveryRevision asks for all revisions instead of the newest of each release.
	EveryRevision bool
	// Statuses keeps only revisions in one of these; none keeps all. A release
	// counts by its newest revision.
	Statuses []release.Status
	// Selector keeps only revisions whose labels match, those of the store
	// included; nil keeps all.
	Selector labels.Selector
}

// pageSize is how many records one request of List asks for. Each may be 1 MiB.
const pageSize = 50

// List reads the outlines of many releases' revisions, by namespace and name,
// newest first. It decodes only what the query keeps: the labels tell the rest.
// Records that can't be read are CorruptErrors, joined, beside all others; so are
// those for which the budget of memory and time is too small (TooMuch).
func (s *Store) List(ctx context.Context, q Query) ([]*release.Revision, error) {
	a := newAllowance()
	all, err := s.candidates(ctx, q, a)
	if apierrors.IsResourceExpired(err) {
		// The pages took longer than the server keeps a snapshot.
		a = newAllowance()
		all, err = s.candidates(ctx, q, a)
	}
	if err != nil {
		return nil, fmt.Errorf("list releases in %s: %w", where(q.Namespace), err)
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return !q.keeps(c.object) })
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(a.meta.Namespace, b.meta.Namespace),
			cmp.Compare(a.meta.Labels[labelName], b.meta.Labels[labelName]),
			cmp.Compare(s.record(b.location()).Version, s.record(a.location()).Version),
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

// further looks again for an outline that is not at the beginning of its record,
// when all others have been read.
func (s *Store) further(ctx context.Context, c candidate, a *allowance) (found, error) {
	if !errors.Is(c.err, errTooLong) || a.scanned <= maxBeginning {
		return c.found, nil
	}
	o, err := s.backend.get(ctx, c.location())
	switch {
	case apierrors.IsNotFound(err):
		return found{err: &CorruptError{s.record(c.location()), err}}, nil
	case err != nil:
		return found{}, err
	}
	return s.outline(o, MaxUnpacked, a), nil
}

// candidate is a record that was listed, without its text, and its outline where
// the query keeps it.
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

// candidates are all records, or the newest of each release. No text of a record
// outlives its page.
func (s *Store) candidates(ctx context.Context, q Query, a *allowance) ([]candidate, error) {
	var all []candidate
	newest := map[release.Key]int{} // index in all
	o := metav1.ListOptions{LabelSelector: labels.Set{labelOwner: ownerHelm}.String(), Limit: pageSize}
	for {
		page, next, err := s.backend.list(ctx, q.Namespace, o)
		if err != nil {
			return nil, err
		}
		changed := map[int]bool{}
		for _, o := range records(page) {
			at := s.record(o.location())
			i, known := newest[at.Key]
			switch {
			case q.EveryRevision || !known:
				i = len(all)
				newest[at.Key] = i
				all = append(all, candidate{object: o})
			case at.Version > s.record(all[i].location()).Version:
				all[i] = candidate{object: o}
			default:
				continue
			}
			changed[i] = true
		}
		for _, i := range slices.Sorted(maps.Keys(changed)) {
			s.outlined(&all[i], q, a)
		}
		if next == "" {
			return all, nil
		}
		o.Continue = next
	}
}

// outlined reads the outline of a candidate and lets go of its text.
func (s *Store) outlined(c *candidate, q Query, a *allowance) {
	if q.keeps(c.object) {
		c.found = s.outline(c.object, maxBeginning, a)
	}
	c.record = ""
}

func (q Query) keeps(o object) bool {
	status := release.Status(o.meta.Labels[labelStatus])
	if len(q.Statuses) > 0 && !slices.Contains(q.Statuses, status) {
		return false
	}
	return q.Selector == nil || q.Selector.Matches(labels.Set(o.meta.Labels))
}
