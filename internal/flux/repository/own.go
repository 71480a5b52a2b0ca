package repository

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// named reports whether a user has named the GitRepository as this repository.
func (r *Repository) named(ref flux.Reference) bool {
	return ref.Kind == flux.KindGitRepository && r.reading.Sources[ref.String()] == "."
}

// noteHome records which GitRepositories are this repository, whatever their URLs, by the
// objects of the folder where Flux begins: a Kustomization among them that builds the folder
// itself has this repository as its source. It returns the objects with such Kustomizations
// first, since they may change the others.
func (r *Repository) noteHome(objects []map[string]any, root string) []map[string]any {
	var builders, others []map[string]any
	for _, o := range objects {
		k := builderOf(root, o)
		if k == nil {
			others = append(others, o)
			continue
		}
		builders = append(builders, o)
		source := k.Spec.SourceRef.In(k.Metadata.Namespace)
		r.home[source.String()] = source
	}
	return append(builders, others...)
}

// builderOf returns the object as a Kustomization if it builds the root, else nil.
func builderOf(root string, object map[string]any) *flux.Kustomization {
	if !isKustomization(object) {
		return nil
	}
	k, _, err := decoded(object, flux.DecodeKustomization)
	if err != nil || releaseset.InTree(k.Spec.Path) != releaseset.InTree(root) {
		return nil
	}
	return k
}

// foreign returns why a source is not this repository, "" if it is or may be: a
// GitRepository whose URL is that of a remote, or one for which that can't be determined.
func (r *Repository) foreign(ref flux.Reference) (string, error) {
	switch {
	case r.named(ref):
		return "", nil
	case ref.Kind != flux.KindGitRepository:
		return "is not this repository", nil
	}
	source, err := r.source(ref)
	_, home := r.home[ref.String()]
	if err != nil || source == nil || home || r.reading.Checkout.Compare(source.Spec.URL) != releaseset.Other {
		return "", err
	}
	return r.reading.Checkout.Unlike(source.Spec.URL), nil
}

// remedy returns what to do about a GitRepository that is this repository after all.
func (r *Repository) remedy(ref flux.Reference) string {
	if ref.Kind != flux.KindGitRepository || r.reading.Sources[ref.String()] != "" {
		return ""
	}
	return fmt.Sprintf("; to treat it as this repository, pass --source %s=. at the root", ref)
}

// has reports whether this repository may be a GitRepository that is not foreign: a
// Kustomization is built from it, or this repository has a chart, a folder or an archive, at that path.
func (r *Repository) has(ref flux.Reference, chart string, owner *flux.Kustomization) bool {
	if r.named(ref) || owner != nil && owner.Spec.SourceRef.In(owner.Metadata.Namespace).String() == ref.String() {
		return true
	}
	name := releaseset.InTree(chart)
	return releaseset.IsChart(r.tree, name) || exists(r.tree, name) && !isFolder(r.tree, name)
}

// exists reports whether a tree has a file or folder; "" is the root.
func exists(tree fs.FS, name string) bool {
	_, err := fs.Stat(tree, cmp.Or(name, "."))
	return err == nil
}

// isFolder reports whether a tree has a folder; "" is the root.
func isFolder(tree fs.FS, name string) bool {
	info, err := fs.Stat(tree, cmp.Or(name, "."))
	return err == nil && info.IsDir()
}

// differs returns warnings about a GitRepository that is this repository: why its files may
// differ from those of the checkout.
func (r *Repository) differs(s *flux.Source) (out []string) {
	ref, checkout := s.Reference(), r.reading.Checkout
	if is := checkout.Compare(s.Spec.URL); !r.named(ref) && (is == releaseset.Namesake || is == releaseset.Other) {
		out = append(out, fmt.Sprintf("%s is assumed to be this repository, or the one it is a fork or mirror of: it is %s, and the checkout's remotes are %s; if it is not, give its files with --source %s=DIR",
			ref, releaseset.Location(s.Spec.URL), strings.Join(checkout.Places(), ", "), ref))
	}
	if checkout.Branch != "" && !follows(s.Spec.Ref, checkout.Branch) {
		out = append(out, fmt.Sprintf("%s follows %s, not branch %s: the change is applied once it is there", ref, followed(s.Spec.Ref), checkout.Branch))
	}
	if s := s.Spec; len(s.Include)+len(s.SparseCheckout) > 0 || s.RecurseSubmodules {
		out = append(out, fmt.Sprintf("%s: include, sparseCheckout and recurseSubmodules are not followed: its files are assumed to be those of the checkout", ref))
	}
	return out
}

// otherVersion returns which version a source follows, "branch tenant", if that version of this repository may
// have what the checkout lacks. It is "" if the checkout should have it.
func (r *Repository) otherVersion(ref flux.Reference) (string, error) {
	if r.reading.Sources[ref.String()] != "" {
		return "", nil
	}
	source, err := r.source(ref)
	if err != nil || source == nil {
		return "", err
	}
	version := followed(source.Spec.Ref)
	if branch := r.reading.Checkout.Branch; branch != "" && version == "branch "+branch {
		return "", nil
	}
	for _, home := range r.home {
		here, err := r.source(home)
		if err != nil || home == ref || here != nil && version == followed(here.Spec.Ref) {
			return "", err
		}
	}
	return version, nil
}

// lacks records that the checkout lacks the folder of a Kustomization, which version of its source may
// have; err is why it can't be built.
func (r *Repository) lacks(k *flux.Kustomization, version string, err error) {
	source, folder := k.Spec.SourceRef.In(k.Metadata.Namespace), releaseset.InTree(k.Spec.Path)
	why := fmt.Sprintf("is of %s, which follows %s, and the checkout has no folder %s", source, version, folder)
	r.absent = append(r.absent, releaseset.Absent{
		Applier: applier(k), Name: folder,
		Warning: fmt.Sprintf("%s %s: it is not built; give its files with --source %s=DIR", applier(k), why, source),
		Error:   fmt.Sprintf("%v; %s follows %s: if only that has the folder, give its files with --source %s=DIR", err, source, version, source),
	})
	r.broken(k, why)
}

// lacksChart returns a *releaseset.ElsewhereError if the checkout lacks a chart, a folder or an archive, which the
// version that its source follows may have.
func (r *Repository) lacksChart(source flux.Reference, name string) error {
	if exists(r.tree, releaseset.InTree(name)) {
		return nil
	}
	version, err := r.otherVersion(source)
	if err != nil || version == "" {
		return err
	}
	return &releaseset.ElsewhereError{What: fmt.Sprintf("chart %s is of %s, which follows %s, and the checkout does not have it: give its files with --source %s=DIR", name, source, version, source)}
}

// defaultBranch is the branch of a GitRepository without spec.ref.
const defaultBranch = "master"

// heads begins the full names of branches.
const heads = "refs/heads/"

func follows(ref *flux.SourceVersion, branch string) bool {
	return followed(ref) == "branch "+branch
}

// followed returns which version of a repository is used: if several fields are set, the
// first in source-controller's order counts.
func followed(ref *flux.SourceVersion) string {
	if ref == nil {
		ref = &flux.SourceVersion{}
	}
	branch, isBranch := strings.CutPrefix(ref.Name, heads)
	switch {
	case ref.Commit != "":
		return "commit " + ref.Commit
	case ref.Name != "" && !isBranch:
		return ref.Name
	case ref.Name != "":
		return "branch " + branch
	case ref.SemVer != "":
		return "the newest tag of " + ref.SemVer
	case ref.Tag != "":
		return "tag " + ref.Tag
	}
	return "branch " + cmp.Or(ref.Branch, defaultBranch)
}
