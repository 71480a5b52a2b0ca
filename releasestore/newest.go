package releasestore

import (
	"context"
	"errors"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

const (
	// pageSize is how many records one request lists. Each may have 1 MiB.
	pageSize = 50
	// metadataPageSize is how many records one request lists when it asks for metadata only.
	// Annotations may have 256 KiB (k8s.io/apimachinery/pkg/api/validation/objectmeta.go,
	// TotalAnnotationSizeLimitB).
	metadataPageSize = 250
	// few is how many superseded records are at most read one by one. A superseded record is the
	// newest of a release only after an interrupted run, but a list would return all superseded
	// ones of the namespace.
	few = 20
)

// errMoved says that a record's status has changed since its metadata was read.
var errMoved = errors.New("releases changed while they were being listed")

// candidates returns the records that the query keeps. The text of a record
// is freed with its page. errMoved asks for another attempt; with acceptChanges, records that have
// changed in the meantime are read as they are now.
func (s *Store) candidates(ctx context.Context, q Query, a *allowance, acceptChanges bool) ([]candidate, error) {
	wanted, err := s.wanted(ctx, q)
	if err != nil {
		return nil, err
	}
	all := make([]candidate, 0, len(wanted))
	listed := shared(wanted)
	err = s.pages(ctx, q, listed, func(o object) {
		if _, found := wanted[o.location()]; found {
			delete(wanted, o.location())
			all = append(all, candidate{found: s.outline(o, maxBeginning, a), object: object{meta: o.meta}})
		}
	})
	if err != nil {
		return nil, err
	}
	for _, at := range slices.SortedFunc(maps.Keys(wanted), location.compare) {
		if slices.Contains(listed, wanted[at].meta.Labels[labelStatus]) && !acceptChanges {
			return nil, errMoved
		}
		o, err := s.backend.get(ctx, at)
		switch {
		case retry.Missing(err): // deleted meanwhile
		case err != nil:
			return nil, err
		default:
			all = append(all, candidate{found: s.outline(o, maxBeginning, a), object: object{meta: o.meta}})
		}
	}
	return all, nil
}

// wanted returns the metadata of the records that the query keeps.
func (s *Store) wanted(ctx context.Context, q Query) (map[location]object, error) {
	wanted, newest := map[location]object{}, map[release.Key]object{}
	keep := func(o object) {
		if q.keeps(o) {
			wanted[o.location()] = o
		}
	}
	o := listOptions{ListOptions: metav1.ListOptions{LabelSelector: ofHelm().String(), Limit: metadataPageSize}, metadataOnly: true}
	err := s.list(ctx, q.Namespace, o, func(o object) {
		if q.EveryRevision {
			keep(o)
			return
		}
		at := s.record(o.location())
		if known, ok := newest[at.Key]; !ok || at.Version > s.record(known.location()).Version {
			newest[at.Key] = o
		}
	})
	for _, o := range newest {
		keep(o)
	}
	return wanted, err
}

// shared returns the statuses whose records are read by lists.
func shared(records map[location]object) []string {
	count := map[string]int{}
	for _, o := range records {
		count[o.meta.Labels[labelStatus]]++
	}
	if count[string(release.StatusSuperseded)] <= few {
		delete(count, string(release.StatusSuperseded))
	}
	return slices.Sorted(maps.Keys(count))
}

// pages calls each with every record, text included, that has one of the statuses and that the
// query may keep.
func (s *Store) pages(ctx context.Context, q Query, statuses []string, each func(object)) error {
	if len(statuses) == 0 {
		return nil
	}
	selector := ofHelm()
	// A status that is not a valid label value can only be in a database.
	if in, err := labels.NewRequirement(labelStatus, selection.In, statuses); err == nil {
		selector = selector.Add(*in)
	}
	if q.Selector != nil {
		if more, selectable := q.Selector.Requirements(); selectable {
			selector = selector.Add(more...)
		}
	}
	return s.list(ctx, q.Namespace, listOptions{ListOptions: metav1.ListOptions{LabelSelector: selector.String(), Limit: pageSize}}, each)
}

// list calls each with every record, page by page.
func (s *Store) list(ctx context.Context, namespace string, o listOptions, each func(object)) error {
	for {
		page, next, err := s.backend.list(ctx, namespace, o)
		if err != nil {
			return err
		}
		for _, o := range records(page) {
			each(o)
		}
		if next == "" {
			return nil
		}
		o.Continue = next
	}
}

func ofHelm() labels.Selector { return labels.SelectorFromSet(labels.Set{labelOwner: ownerHelm}) }
