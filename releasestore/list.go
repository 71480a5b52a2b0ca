package releasestore

import (
	"context"
	"fmt"
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

// List reads the revisions of many releases, by namespace and name, newest
// first. It decodes only what the query keeps: the labels tell the rest.
// Records that can't be read are CorruptErrors, joined, beside all others.
func (s *Store) List(ctx context.Context, q Query) ([]*release.Revision, error) {
	candidates, err := s.candidates(ctx, q)
	if apierrors.IsResourceExpired(err) {
		// The pages took longer than the server keeps a snapshot.
		candidates, err = s.candidates(ctx, q)
	}
	if err != nil {
		return nil, fmt.Errorf("list releases in %s: %w", where(q.Namespace), err)
	}
	kept := slices.DeleteFunc(candidates, func(o object) bool { return !q.keeps(o) })
	return s.decodeAll(kept)
}

func where(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}

// candidates are all records, or the newest of each release.
func (s *Store) candidates(ctx context.Context, q Query) ([]object, error) {
	var all []object
	newest := map[release.Key]int{} // index in all
	o := metav1.ListOptions{LabelSelector: labels.Set{labelOwner: ownerHelm}.String(), Limit: pageSize}
	for {
		page, next, err := s.backend.list(ctx, q.Namespace, o)
		if err != nil {
			return nil, err
		}
		for _, o := range records(page) {
			at := s.record(o.location())
			i, known := newest[at.Key]
			switch {
			case q.EveryRevision || !known:
				newest[at.Key] = len(all)
				all = append(all, o)
			case at.Version > s.record(all[i].location()).Version:
				all[i] = o
			}
		}
		if next == "" {
			return all, nil
		}
		o.Continue = next
	}
}

func (q Query) keeps(o object) bool {
	status := release.Status(o.meta.Labels[labelStatus])
	if len(q.Statuses) > 0 && !slices.Contains(q.Statuses, status) {
		return false
	}
	return q.Selector == nil || q.Selector.Matches(labels.Set(o.meta.Labels))
}
