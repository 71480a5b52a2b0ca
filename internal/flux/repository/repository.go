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
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// Repository is what was read.
type Repository struct {
	*shared
	// Warnings are about objects and files that were skipped.
	Warnings []string
	// Unread are objects, and files with Flux objects, that can't be read.
	Unread  []string
	objects []placed
	// index are the places in objects, by identity.
	index map[string]int
	// earlier is the round before, see settle; nil when there is none, and once all is built.
	earlier *Repository
	// live reads objects of the cluster, nil without one; resolved are the entries with it.
	live     releaseset.Lookup
	resolved resolved
	// defaults reports whether variables that are not known have their defaults; otherwise is what the
	// repository declares the other way, nil if no variable is unknown.
	defaults  bool
	otherwise *Repository
	// built are the Kustomizations by "namespace/name", and failed why they can't be, by their names.
	built  map[string]bool
	failed map[string]error
	// trees are the artifacts of sources, by "Kind/namespace/name".
	trees map[string]fs.FS
	// home are the GitRepositories, by "Kind/namespace/name", whose Kustomizations build the
	// root itself.
	home map[string]flux.Reference
	// absent is what Kustomizations apply and the tree lacks.
	absent []releaseset.Absent
	// rules are those of GitRepositories by "Kind/namespace/name".
	rules map[string]*sourceignore.Rules
	// appliers are the Kustomizations, by their names, see releaseset.Set.
	appliers map[string]releaseset.Applier
}

// shared is what all rounds over a tree have in common.
type shared struct {
	tree    fs.FS
	reading Reading
	// ignored reads the .sourceignore files of the tree, once.
	ignored func() (*sourceignore.Found, error)
	// others are the trees of other sources, by "Kind/namespace/name".
	others map[string]other
	// made are the objects of Kustomizations as they were built last, by "namespace/name".
	made map[string]*made
	// root is the folder where Flux begins, top its Kustomization without a name, and first are its objects,
	// without those of what is omitted.
	root    string
	top     *flux.Kustomization
	first   []map[string]any
	omitted []string
}

// placed is an object, the Kustomization that applies it (nil for files named by the
// user), and the file or folder it is from.
type placed struct {
	object map[string]any
	owner  *flux.Kustomization
	from   string
	// unknown are the objects that variables of it come from and whose content is not known,
	// such as "Secret flux-system/vars".
	unknown []string
	// secrets are the contents of Secrets that variables of it come from.
	secrets [][]byte
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
	// NoCrossNamespaceRefs is helm-controller's flag: charts whose source is in another namespace are
	// forbidden.
	NoCrossNamespaceRefs bool
	// StrictSubstitutions is kustomize-controller's feature gate StrictPostBuildSubstitutions: a variable
	// that is not set is an error.
	StrictSubstitutions bool
	// Offline reports whether no cluster will be asked for variables that are not known.
	Offline bool
}

// open returns an empty Repository for a tree.
func open(tree fs.FS, r Reading) *Repository {
	return (&shared{
		tree: tree, reading: r, others: map[string]other{}, made: map[string]*made{},
		ignored: sync.OnceValues(func() (*sourceignore.Found, error) { return sourceignore.Find(tree) }),
	}).round(nil, nil)
}

// round returns an empty Repository that looks objects up in an earlier one, nil for none.
func (s *shared) round(earlier *Repository, live releaseset.Lookup) *Repository {
	return &Repository{
		shared: s, earlier: earlier, live: live, index: map[string]int{}, built: map[string]bool{}, failed: map[string]error{}, trees: map[string]fs.FS{},
		home: map[string]flux.Reference{}, rules: map[string]*sourceignore.Rules{}, appliers: map[string]releaseset.Applier{},
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
	if r.first, r.omitted, err = build.Objects(found.With(nil).Tree(tree), first); err != nil {
		return nil, err
	}
	r.root, r.top = root, first
	out := r.settle(nil, reading.Offline) // with a cluster, markers get what that has
	if out.hasUnknown() {
		out.otherwise = r.settle(nil, !reading.Offline)
	}
	return out, nil
}

// put adds an object. One of the same identity is replaced: the folder of a cluster is often
// built by a Kustomization that lies in it.
func (r *Repository) put(p placed) {
	id := identity(p.object)
	if i, there := r.index[id]; there {
		r.objects[i] = p
		return
	}
	r.index[id] = len(r.objects)
	r.objects = append(r.objects, p)
}

// add adds the objects of a build, and builds the Kustomizations among them.
func (r *Repository) add(all []placed) {
	for i, p := range all {
		all[i].object = inNamespace(p.object)
		r.put(all[i])
	}
	for _, p := range all {
		if !isKustomization(p.object) || r.objects[r.index[identity(p.object)]].owner != p.owner {
			continue // another one, built since, may have the same with its variables replaced
		}
		k, without, err := decoded(p.object, flux.DecodeKustomization)
		if err == nil {
			err = r.build(k, p, without)
		} else {
			k = onlyNamed(p.object)
			r.broken(p.owner, "has a Kustomization that can't be read")
		}
		if err != nil {
			r.Unread = append(r.Unread, err.Error())
			r.broken(k, "can't be built")
			r.failed[applier(k)] = err
		}
	}
}

func isKustomization(object map[string]any) bool {
	return group(object) == flux.KustomizeGroup && object["kind"] == flux.KindKustomization
}

// build builds a Kustomization, once. without are the fields that were left out of it.
func (r *Repository) build(k *flux.Kustomization, p placed, without []string) error {
	if r.built[k.String()] {
		return nil
	}
	r.built[k.String()] = true
	unknown := deleting(k, without)
	a := releaseset.Applier{Suspended: k.Spec.Suspend, Prunes: k.Spec.Prune, Unknown: unknown, Spec: p.object["spec"]}
	if p.owner != nil {
		a.By = applier(p.owner)
	}
	r.appliers[applier(k)] = a
	if rest := slices.DeleteFunc(without, func(field string) bool { return field == fieldPrune }); len(rest) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("Kustomization %s: %s", k, assumed(rest)))
	}
	for _, field := range k.Unknown {
		r.Warnings = append(r.Warnings, fmt.Sprintf("Kustomization %s: field %s is not known here", k, field))
	}
	if k.Spec.KubeConfig != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("Kustomization %s applies to another cluster (spec.kubeConfig), which is not followed: objects of the same name there and here are taken for the same", k))
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
	objects, err := r.substituted(k, p, tree)
	if err != nil {
		version, unread := r.otherVersion(source)
		if version == "" || unread != nil || isFolder(tree, releaseset.InTree(k.Spec.Path)) {
			return err
		}
		r.lacks(k, version, err)
		return nil
	}
	for i := range objects {
		objects[i].owner, objects[i].from = k, path.Join(r.given(source), releaseset.InTree(k.Spec.Path))
	}
	r.add(objects)
	return nil
}

// find returns the object with that group, kind, namespace and name: while a round goes on, as
// the one before has left it.
func (r *Repository) find(group, kind, namespace, name string) (placed, bool) {
	if r.earlier != nil {
		r = r.earlier
	}
	i, ok := r.index[fmt.Sprintf("%s/%s/%s/%s", group, kind, namespace, name)]
	if !ok {
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
	source, _, err := decoded(p.object, flux.DecodeSource) // what counts of it is text
	return source, err
}
