package repository

import (
	"strings"
	"sync"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// resolved is what a repository declares with variables from the cluster.
type resolved struct {
	once sync.Once
	in   *Repository
	// entries are by their managers' names.
	entries map[string]releaseset.Entry
}

// resolve returns an entry of m with the variables that the repository does not know read from the
// cluster, as far as they can be; err is why Flux can't apply m with them, and secrets are what it
// may quote.
func (r *Repository) resolve(e releaseset.Entry, m *Managed, lookup releaseset.Lookup) (out releaseset.Entry, secrets [][]byte, err error) {
	if !r.hasUnknown() {
		return e, nil, nil
	}
	r.resolved.once.Do(func() {
		r.resolved.in, r.resolved.entries = r.settle(remembering(lookup), false), map[string]releaseset.Entry{}
		for _, e := range r.resolved.in.Set().Entries {
			r.resolved.entries[e.Manager.String()] = e
		}
	})
	in := r.resolved.in
	for k, depth := m.owner, 0; k != nil && depth < maxDepth; k, depth = r.ownerOf(k), depth+1 {
		if err := in.failed[applier(k)]; err != nil {
			for _, p := range in.objects {
				secrets = append(secrets, p.secrets...)
			}
			return e, secrets, err
		}
	}
	if next, found := r.resolved.entries[m.String()]; found && next.Release() == e.Release() {
		next.Key = e.Key // its cluster may have had another name
		return next, nil, nil
	}
	return e, nil, nil // its name is not known
}

// remembering returns a lookup that asks for each object once.
func remembering(lookup releaseset.Lookup) releaseset.Lookup {
	type answer struct {
		object map[string]any
		err    error
	}
	answers := map[string]answer{}
	return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		key := strings.Join([]string{apiVersion, kind, namespace, name}, " ")
		a, known := answers[key]
		if !known {
			a.object, a.err = lookup(apiVersion, kind, namespace, name)
			answers[key] = a
		}
		return a.object, a.err
	}
}
