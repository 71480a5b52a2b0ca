package releasestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// History reads every stored revision of a release, oldest first, with one
// request. A release that is not stored has an empty history. Records that
// can't be read are returned as joined CorruptErrors, newest first, together with
// a history of the others. Any other error comes without a history.
//
// parts chooses, by their outlines, the revisions of which more is needed; those
// that it does not name stay outlines. With nil, every revision is read whole. All
// that is read together shares one memory budget: a record that exceeds it is a
// CorruptError whose TooMuch returns true.
func (s *Store) History(ctx context.Context, key release.Key, parts Parts) (release.History, error) {
	return s.HistoryThinned(ctx, key, parts, nil)
}

// Parts chooses how much is read of which revisions, given the outlines of all.
type Parts func(outlines release.History) map[int]release.Part

// HistoryThinned is History, but once the budget does not suffice, thin is called with each revision of which more
// than the outline was read, newest first, and may cut down manifest, values and hooks of those that were not
// read whole. Only what it leaves of them counts.
func (s *Store) HistoryThinned(ctx context.Context, key release.Key, parts Parts, thin func(*release.Revision)) (release.History, error) {
	selector, err := labels.ValidatedSelectorFromSet(labels.Set{labelName: key.Name, labelOwner: ownerHelm})
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", key, err)
	}
	objects, _, err := s.backend.list(ctx, key.Namespace, listOptions{ListOptions: metav1.ListOptions{LabelSelector: selector.String()}})
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", key, err)
	}
	objects = records(objects)
	slices.SortFunc(objects, func(a, b object) int {
		return cmp.Compare(s.record(b.location()).Version, s.record(a.location()).Version)
	})
	return s.history(objects, parts, thin)
}

// history decodes objects, which are sorted with the newest first.
func (s *Store) history(objects []object, parts Parts, thin func(*release.Revision)) (release.History, error) {
	a := newAllowance()
	outlines := s.outlines(objects, a)
	var known []*release.Revision
	for _, f := range outlines {
		if f.err == nil {
			known = append(known, f.revision)
		}
	}
	var wanted map[int]release.Part
	if parts != nil {
		wanted = parts(release.NewHistory(known))
	}
	var revisions []*release.Revision
	var corrupt []error
	reading := reading{allowance: a, thin: thin}
	for i, f := range outlines {
		if f.err == nil {
			if part, named := wanted[f.revision.Version]; named || parts == nil {
				outline := f
				f = reading.more(func() found { return s.more(objects[i], outline, part, a) })
			}
		}
		if f.err != nil {
			corrupt = append(corrupt, f.err)
			continue
		}
		revisions = append(revisions, f.revision)
	}
	return release.NewHistory(revisions), errors.Join(corrupt...)
}

// more reads more of a record than its outline. If only the times of hooks are wanted and can't be
// read, the outline is good enough.
func (s *Store) more(o object, outline found, part release.Part, a *allowance) found {
	r, err := s.decode(o, part, MaxUnpacked, a)
	if err != nil && part == release.HookRuns {
		return outline
	}
	return found{r, err}
}

// Get reads one revision. It fails with a NotFoundError when it is not stored,
// and with a CorruptError when it can't be read.
func (s *Store) Get(ctx context.Context, key release.Key, version int) (*release.Revision, error) {
	at := location{key.Namespace, ObjectName(key.Name, version)}
	o, err := s.backend.get(ctx, at)
	switch {
	case retry.Missing(err):
		return nil, &NotFoundError{s.record(at)}
	case err != nil:
		return nil, fmt.Errorf("read record of %s: %w", s.record(at), err)
	}
	return s.decode(o, release.Whole, MaxUnpacked, newAllowance())
}

// records removes objects that have the labels of records but not their names.
func records(objects []object) []object {
	return slices.DeleteFunc(objects, func(o object) bool {
		_, _, ok := parseName(o.meta.Name)
		return !ok
	})
}

// found is a record, or the error of reading it.
type found struct {
	revision *release.Revision
	err      error
}

// outlines reads the outline of each record. Records with the outline in an unusual place come
// last, so they don't use up the budget of the others.
func (s *Store) outlines(objects []object, a *allowance) []found {
	out := make([]found, len(objects))
	for i, o := range objects {
		out[i] = s.outline(o, maxBeginning, a)
	}
	for i, o := range objects {
		if errors.Is(out[i].err, errTooLong) {
			out[i] = s.outline(o, MaxUnpacked, a)
		}
	}
	return out
}

func (s *Store) outline(o object, most int64, a *allowance) found {
	r, err := s.decode(o, release.Outline, most, a)
	return found{r, err}
}

// decode reads a part of a record and remembers its version. The revision's namespace is the
// object's: the record of a restored backup may contain another one. An outline may lack name and
// version.
func (s *Store) decode(o object, part release.Part, most int64, a *allowance) (*release.Revision, error) {
	s.memory.saw(o)
	at := s.record(o.location())
	if err := checkVersion(at.Version); err != nil {
		return nil, &CorruptError{at, err}
	}
	if o.unread != nil {
		return nil, &CorruptError{at, o.unread}
	}
	r, err := decode(o.record, part, most, a)
	if err != nil {
		return nil, &CorruptError{at, err}
	}
	if part == release.Outline || part == release.HookRuns {
		r.Name, r.Version = cmp.Or(r.Name, at.Key.Name), cmp.Or(r.Version, at.Version)
	}
	if r.Name != at.Key.Name || r.Version != at.Version {
		return nil, &CorruptError{at, fmt.Errorf("it contains %q revision %d", r.Name, r.Version)}
	}
	r.Namespace = o.meta.Namespace
	r.Labels, r.Modified = userLabels(o.meta.Labels), modified(o.meta.Labels)
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
