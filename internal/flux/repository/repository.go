// Package repository reads what a repository deploys with Flux: HelmReleases in
// files and folders, or in what its Kustomizations build, with the sources,
// ConfigMaps and Secrets around them. It returns them as a releaseset.Set, and says
// what helm-controller would do about each.
//
// It is given a tree of files, fetches nothing and asks no cluster on its own.
package repository

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sync"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/build"
	"github.com/kubectl-release/kubectl-release/internal/flux/sourceignore"
	"github.com/kubectl-release/kubectl-release/internal/flux/substitution"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// Repository is what was read.
type Repository struct {
	// Warnings are about objects and files that were skipped.
	Warnings []string
	// Unread are objects, and files with Flux objects, that can't be read.
	Unread  []string
	objects []placed
	// built are the Kustomizations by "namespace/name".
	built   map[string]bool
	tree    fs.FS
	reading Reading
	// trees are the artifacts of sources, by "Kind/namespace/name".
	trees map[string]fs.FS
	// home are the GitRepositories, by "Kind/namespace/name", whose Kustomizations build the
	// root itself.
	home map[string]bool
	// ignored reads the .sourceignore files of the tree, once; rules are those of
	// GitRepositories by "Kind/namespace/name".
	ignored func() (*sourceignore.Found, error)
	rules   map[string]*sourceignore.Rules
	// appliers are the Kustomizations, by their names.
	appliers map[string]releaseset.Applier
}

// placed is an object, the Kustomization that applies it (nil for files named by the
// user), and the file or folder it is from.
type placed struct {
	object map[string]any
	owner  *flux.Kustomization
	from   string
}

// declared matches one of Flux's apiVersions, in YAML or JSON.
var declared = regexp.MustCompile(`"?apiVersion"?:\s*["']?(?:helm|source|kustomize)\.toolkit\.fluxcd\.io/`)

// Holds reports whether a file is one for this package: it has a Flux object.
func Holds(data []byte) bool { return declared.Match(data) }

// Reading is what is known about a tree besides its files.
type Reading struct {
	// Sources are the places of sources that users have named, by Kind/namespace/name: charts
	// and trees, folders or archives, as paths in the tree or absolute ones outside of it. A
	// GitRepository at "." is the repository itself.
	Sources map[string]string
	// Open returns the tree at a place in Sources.
	Open func(place string) (fs.FS, error)
	// Checkout is the repository that the tree belongs to.
	Checkout releaseset.Checkout
}

// open returns an empty Repository for a tree.
func open(tree fs.FS, r Reading) *Repository {
	return &Repository{
		tree: tree, reading: r, home: map[string]bool{}, trees: map[string]fs.FS{}, built: map[string]bool{}, rules: map[string]*sourceignore.Rules{}, appliers: map[string]releaseset.Applier{},
		ignored: sync.OnceValues(func() (*sourceignore.Found, error) { return sourceignore.Find(tree) }),
	}
}

// maxFiles is how many files of a folder are read at most.
const maxFiles = 20_000

// Files reads objects from files, and from all YAML below folders except for
// charts. A named file that is not YAML is an error; one below a folder is in
// Unread when it names one of Flux's groups, else in Warnings.
func Files(tree fs.FS, names []string, reading Reading) (*Repository, error) {
	r := open(tree, reading)
	for _, name := range names {
		info, err := fs.Stat(tree, name)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			err = r.folder(name)
		default:
			err = r.file(name)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Root builds the folder root as kustomize-controller would, then the
// Kustomizations that it contains, and so on. One that can't be built is in Unread
// or Warnings, and the others are built. It is an error if root itself can't be built.
func Root(tree fs.FS, root string, reading Reading) (*Repository, error) {
	r := open(tree, reading)
	first := &flux.Kustomization{Spec: flux.KustomizationSpec{Path: root}}
	found, err := r.ignored()
	if err != nil {
		return nil, err
	}
	// Which GitRepository this is, with its spec.ignore, is known only once the folder is built.
	objects, err := build.Objects(found.With(nil).Tree(tree), first)
	if err != nil {
		return nil, err
	}
	r.noteHome(objects, root)
	r.add(objects, nil, root)
	return r, nil
}

// add adds the objects of a build, and builds the Kustomizations among them. An
// object that was there already is replaced: the folder of a cluster is often built
// by a Kustomization that lies in it.
func (r *Repository) add(objects []map[string]any, owner *flux.Kustomization, from string) {
	for _, o := range objects {
		i := slices.IndexFunc(r.objects, func(p placed) bool { return identity(p.object) == identity(o) })
		if i >= 0 {
			r.objects[i] = placed{o, owner, from}
		} else {
			r.objects = append(r.objects, placed{o, owner, from})
		}
	}
	for _, o := range objects {
		if group(o) != flux.KustomizeGroup || o["kind"] != flux.KindKustomization {
			continue
		}
		k, err := flux.DecodeKustomization(o)
		if err == nil {
			err = r.build(k)
		}
		if err != nil {
			r.Unread = append(r.Unread, err.Error())
			r.broken(k, "can't be built")
		}
	}
}

// build builds a Kustomization, once.
func (r *Repository) build(k *flux.Kustomization) error {
	if r.built[k.String()] {
		return nil
	}
	r.built[k.String()] = true
	r.appliers[applier(k)] = releaseset.Applier{Suspended: k.Spec.Suspend, Prunes: k.Spec.Prune}
	for _, field := range k.Unknown {
		r.Warnings = append(r.Warnings, fmt.Sprintf("Kustomization %s: field %s is not known here", k, field))
	}
	source := k.Spec.SourceRef.In(k.Metadata.Namespace)
	tree, why, err := r.artifact(source)
	if err != nil {
		return fmt.Errorf("build Kustomization %s: %w", k, err)
	}
	if why != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("Kustomization %s is of %s, which %s: it is not built; give its files with --source %s=DIR%s", k, source, why, source, r.remedy(source)))
		r.broken(k, "is of "+source.String()+", which "+why)
		return nil
	}
	objects, err := build.Objects(tree, k)
	if err != nil {
		return err
	}
	vars, err := substitution.Of(k, r.variables(k.Metadata.Namespace))
	if err != nil {
		return fmt.Errorf("Kustomization %s: %w", k, err)
	}
	for i, o := range objects {
		if objects[i], err = vars.Object(o); err != nil {
			return fmt.Errorf("Kustomization %s, %s: %w", k, identity(o), err)
		}
	}
	r.add(objects, k, path.Join(r.given(source), inTree(k.Spec.Path)))
	return nil
}

// variables returns a lookup of what is substituted. An object that the repository
// does not have may be in the cluster.
func (r *Repository) variables(namespace string) substitution.Lookup {
	return func(kind, name string) (map[string]string, bool, bool) {
		texts, how := r.data(kind, namespace, name)
		for _, text := range texts {
			if encrypted(text) {
				return nil, true, false
			}
		}
		return texts, how == there, how == there
	}
}

// find returns the object with that group, kind, namespace and name.
func (r *Repository) find(group, kind, namespace, name string) (placed, bool) {
	want := fmt.Sprintf("%s/%s/%s/%s", group, kind, namespace, name)
	i := slices.IndexFunc(r.objects, func(p placed) bool { return identity(p.object) == want })
	if i < 0 {
		return placed{}, false
	}
	return r.objects[i], true
}

// source returns a source of the repository, nil when it has none of that name.
func (r *Repository) source(ref flux.Reference) (*flux.Source, error) {
	p, ok := r.find(flux.SourceGroup, ref.Kind, ref.Namespace, ref.Name)
	if !ok {
		return nil, nil
	}
	return flux.DecodeSource(p.object)
}
