package repository

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/build"
	"github.com/kubectl-release/kubectl-release/internal/flux/substitution"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// maxRounds is how often Kustomizations are built at most.
const maxRounds = 20

// settle builds the Kustomizations in rounds until one changes nothing any more, as Flux does by
// applying them again and again: where the variables of a Kustomization and its source come from
// may be built by another one, in any order. live reads variables in the cluster; nil asks none.
// Variables that are not known have their defaults, or a marker in their place.
func (s *shared) settle(live releaseset.Lookup, defaults bool) *Repository {
	r := s.start(nil, live, defaults)
	for range maxRounds {
		next := s.start(r, live, defaults)
		settled := slices.EqualFunc(r.objects, next.objects, func(a, b placed) bool { return reflect.DeepEqual(a.object, b.object) })
		if r = next; settled {
			return r
		}
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("Kustomizations that give each other variables still change after %d rounds: what they build by then is planned", maxRounds))
	return r
}

// start is one round: it begins with the objects of the folder where Flux begins.
func (s *shared) start(earlier *Repository, live releaseset.Lookup, defaults bool) *Repository {
	r := s.round(earlier, live)
	r.defaults = defaults
	r.omits(s.top, s.omitted)
	var all []placed
	for _, o := range r.noteHome(s.first, s.root) {
		all = append(all, placed{object: o, from: s.root})
	}
	r.add(all)
	r.earlier = nil
	return r
}

// omits records what a Kustomization is built without.
func (r *Repository) omits(k *flux.Kustomization, what []string) {
	for _, name := range what {
		is := fmt.Sprintf("%s: %s is remote, which is not fetched", build.Called(k), name)
		r.absent = append(r.absent, releaseset.Absent{
			Applier: applier(k), Name: name,
			Warning: is + ": what it adds is not known here, and releases among it are not planned",
			Error:   is + ": the change brings in what is not known here, and releases among it can't be planned",
		})
	}
	if len(what) > 0 {
		a := r.appliers[applier(k)]
		a.Remote = what
		r.appliers[applier(k)] = a
	}
}

// Partial reports whether the folder where Flux begins is built without something remote.
func (r *Repository) Partial() bool { return len(r.omitted) > 0 }

// made is what a Kustomization was built to.
type made struct {
	// of is what the build depended on: the Kustomization, and its source's spec.ignore.
	of    string
	built []map[string]any
	// omitted is what is remote and not fetched.
	omitted []string
	// by is what replaced the variables in objects.
	by      replacement
	objects []placed
}

// replacement are variables, the objects whose content they depend on and is not known, and the
// contents of Secrets that they come from.
type replacement struct {
	vars    substitution.Variables
	unknown []string
	secrets [][]byte
}

// substituted builds a Kustomization and replaces its variables, unless the round before did the
// same. p is the Kustomization's object.
func (r *Repository) substituted(k *flux.Kustomization, p placed, tree fs.FS) ([]placed, error) {
	source, err := r.source(k.Spec.SourceRef.In(k.Metadata.Namespace))
	if err != nil {
		return nil, err
	}
	var ignore *string
	if source != nil {
		ignore = source.Spec.Ignore
	}
	of, err := json.Marshal([]any{k.Object, ignore})
	if err != nil {
		return nil, err
	}
	m := r.made[k.String()]
	if m == nil || m.of != string(of) {
		m = &made{of: string(of)}
		if m.built, m.omitted, err = build.Objects(tree, k); err != nil {
			return nil, err
		}
		r.made[k.String()] = m
	}
	r.omits(k, m.omitted)
	found := variables{in: r, namespace: k.Metadata.Namespace}
	vars, err := substitution.Of(k, found.lookup)
	if err != nil {
		return nil, fmt.Errorf("Kustomization %s: %w", k, err)
	}
	vars.Strict, vars.Defaults = r.reading.StrictSubstitutions, r.defaults
	by := replacement{vars, union(slices.Clip(p.unknown), found.unknown), joined(p.secrets, found.secrets)}
	if m.objects == nil || !reflect.DeepEqual(m.by, by) {
		if m.objects, err = by.in(m.built, k); err != nil {
			return nil, fmt.Errorf("Kustomization %s, %w", k, err)
		}
		m.by = by
	}
	return slices.Clone(m.objects), nil
}

// in replaces the variables in the objects that a Kustomization is built to.
func (r replacement) in(objects []map[string]any, k *flux.Kustomization) (out []placed, err error) {
	for _, o := range objects {
		object, unknown, err := r.vars.Object(o)
		switch {
		case err != nil && len(r.secrets) > 0:
			return nil, fmt.Errorf("%s: variable substitution failed (the error is not shown, because it may quote a Secret)", identity(o))
		case err != nil:
			return nil, fmt.Errorf("%s: %w", identity(o), err)
		}
		p := placed{object: build.Mark(object, k), secrets: r.secrets}
		if unknown {
			for _, ref := range r.vars.Unknown {
				p.unknown = union(p.unknown, []string{nameOf(ref)})
			}
		}
		if len(r.unknown) > 0 && holds(object) {
			p.unknown = union(p.unknown, r.unknown)
		}
		out = append(out, p)
	}
	return out, nil
}

// nameOf returns "Secret apps/database" for a reference.
func nameOf(ref flux.Reference) string { return ref.Kind + " " + ref.Namespace + "/" + ref.Name }
