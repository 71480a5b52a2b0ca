package releaseset

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ResolveNeed returns the entry that a need refers to: [[cluster/]namespace/]name. What
// is omitted is that of the entry itself; a name alone that is not in the entry's
// namespace may be in another namespace of its cluster, if only in one. Errors are
// sentences about the need.
func ResolveNeed(entries []Entry, of Key, need string) (Key, error) {
	said := parseKey(need)
	wanted := Key{cmp.Or(said.Cluster, of.Cluster), cmp.Or(said.Namespace, of.Namespace), said.Name}
	var elsewhere []Key
	for _, e := range entries {
		if e.Key == wanted {
			return wanted, nil
		}
		if said.Namespace == "" && e.Name == wanted.Name && e.Cluster == wanted.Cluster {
			elsewhere = append(elsewhere, e.Key)
		}
	}
	switch len(elsewhere) {
	case 0:
		return Key{}, fmt.Errorf("%s needs %s, which is not in the set", of, need)
	case 1:
		return elsewhere[0], nil
	}
	return Key{}, fmt.Errorf("%s needs %s, which is in several namespaces: write %s or %s", of, need, elsewhere[0], elsewhere[1])
}

// Needs returns the needs of all entries, by their keys.
func (s *Set) Needs() map[Key][]Key {
	out := map[Key][]Key{}
	for _, e := range s.Entries {
		out[e.Key] = e.Needs
	}
	return out
}

// EachNeed calls visit once for each entry that an entry needs, directly or through others. It goes
// on to what that one needs if visit returns true.
func EachNeed(needs map[Key][]Key, of Key, visit func(Key) bool) {
	seen := map[Key]bool{of: true}
	var walk func(Key)
	walk = func(k Key) {
		for _, need := range needs[k] {
			if !seen[need] {
				seen[need] = true
				if visit(need) {
					walk(need)
				}
			}
		}
	}
	walk(of)
}

// check finds what no set may have: two entries with one key or for one release, and needs in a cycle.
func (s *Set) check() error {
	var errs []error
	seen := map[Identity]Entry{}
	for _, e := range s.Entries {
		id := s.Identity(e.Key)
		switch first, twice := seen[id]; {
		case !twice:
			seen[id] = e
		case first.Key == e.Key:
			errs = append(errs, &FieldError{e.From, fmt.Sprintf("release %s is declared a second time; the first is at %s", e.Key, first.From)})
		default:
			errs = append(errs, &FieldError{e.From, fmt.Sprintf("release %s is the same as %s at %s: both clusters have the context %s", e.Key, first.Key, first.From, id.context)})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := Waves(s.Entries)
	return err
}

// Join adds other sets to s. Errors: entries with the same key or for the same release, needs in a cycle,
// clusters of one name that differ, appliers of one name.
func (s *Set) Join(others ...*Set) error {
	for _, other := range others {
		s.Entries = append(s.Entries, other.Entries...)
		s.Warnings = append(s.Warnings, other.Warnings...)
		s.Unread = append(s.Unread, other.Unread...)
		s.Absent = append(s.Absent, other.Absent...)
		if s.Unplanned == nil {
			s.Unplanned = map[string]Unplanned{}
		}
		maps.Copy(s.Unplanned, other.Unplanned)
		if err := s.addAppliers(other.Appliers); err != nil {
			return err
		}
		for name, c := range other.Clusters {
			if s.Clusters == nil {
				s.Clusters = map[string]Cluster{}
			}
			if have, ok := s.Clusters[name]; ok && !have.same(c) {
				return fmt.Errorf("cluster %s is declared twice, with different content", name)
			}
			s.Clusters[name] = c
		}
	}
	return s.check()
}

// addAppliers adds the appliers of another set. "" stands for all folders where Flux begins; the others of
// one name are those of several clusters.
func (s *Set) addAppliers(others map[string]Applier) error {
	if s.Appliers == nil {
		s.Appliers = map[string]Applier{}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		a := others[name]
		have, twice := s.Appliers[name]
		if twice && name != "" {
			return fmt.Errorf("%s is declared in several folders, as those of several clusters are: run it once for each", name)
		}
		a.Remote = slices.Concat(have.Remote, a.Remote)
		s.Appliers[name] = a
	}
	return nil
}

func (c Cluster) same(other Cluster) bool {
	return c.Context == other.Context && c.KubeVersion == other.KubeVersion && slices.Equal(c.APIVersions, other.APIVersions)
}

// CycleError says that entries need each other in a cycle.
type CycleError struct{ Keys []Key }

// Error returns "a needs b needs a": names alone when all are in one namespace.
func (e *CycleError) Error() string {
	names := make([]string, len(e.Keys))
	alone := true
	for i, k := range e.Keys {
		names[i] = k.Name
		alone = alone && k.Cluster == e.Keys[0].Cluster && k.Namespace == e.Keys[0].Namespace
	}
	if !alone {
		for i, k := range e.Keys {
			names[i] = k.String()
		}
	}
	return strings.Join(names, " needs ")
}

// Waves returns the entries in the order of their needs: those of a wave need only what
// is in earlier ones. Within a wave the order is that of the entries. Needs that are
// not among the entries count as met. Errors: *CycleError.
func Waves(entries []Entry) ([][]Entry, error) {
	w := waves{entries: map[Key]*Entry{}, depth: map[Key]int{}}
	for i := range entries {
		w.entries[entries[i].Key] = &entries[i]
	}
	var out [][]Entry
	for _, e := range entries {
		depth, err := w.of(e.Key, nil)
		if err != nil {
			return nil, err
		}
		for len(out) <= depth {
			out = append(out, nil)
		}
		out[depth] = append(out[depth], e)
	}
	return out, nil
}

type waves struct {
	entries map[Key]*Entry
	// depth is the depth of the entries that are known: 0 needs nothing.
	depth map[Key]int
}

// of returns the depth of an entry; path are the entries that have led to it.
func (w *waves) of(k Key, path []Key) (int, error) {
	if depth, known := w.depth[k]; known {
		return depth, nil
	}
	if i := slices.Index(path, k); i >= 0 {
		return 0, &CycleError{Keys: append(slices.Clone(path[i:]), k)}
	}
	depth := 0
	for _, need := range w.entries[k].Needs {
		if w.entries[need] == nil {
			continue
		}
		d, err := w.of(need, append(path, k))
		if err != nil {
			return 0, err
		}
		depth = max(depth, d+1)
	}
	w.depth[k] = depth
	return depth, nil
}
