package repository

import (
	"fmt"
	"io/fs"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/sourceignore"
)

// artifact returns the tree from which Kustomizations of a source are built: the files of the
// repository itself, or those that a user has named, without what source-controller excludes.
// why says why it is not known here, "" if it is.
func (r *Repository) artifact(ref flux.Reference) (tree fs.FS, why string, err error) {
	if known := r.trees[ref.String()]; known != nil {
		return known, "", nil
	}
	if given := r.given(ref); given != "" {
		tree, err = r.filtered(ref, given)
	} else if why, err = r.foreign(ref); why == "" && err == nil {
		var part *sourceignore.Rules
		if part, err = r.partOf(ref); err == nil {
			tree = part.Tree(r.tree)
		}
	}
	if why == "" && err == nil {
		r.trees[ref.String()] = tree
	}
	return tree, why, err
}

// given returns where a user says that a source's files or chart are, "" if nobody does, or if
// it is the repository itself.
func (r *Repository) given(ref flux.Reference) string {
	if r.named(ref) {
		return ""
	}
	return r.reading.Sources[ref.String()]
}

// other is the tree of another source, with the rules of its .sourceignore files.
type other struct {
	tree  fs.FS
	found *sourceignore.Found
}

func (r *Repository) filtered(ref flux.Reference, given string) (fs.FS, error) {
	is, known := r.others[ref.String()]
	if !known {
		var err error
		if is.tree, err = r.reading.Open(given); err == nil {
			is.found, err = sourceignore.Find(is.tree)
		}
		if err != nil {
			return nil, fmt.Errorf("the files of %s: %w", ref, err)
		}
		r.others[ref.String()] = is
	}
	source, err := r.source(ref)
	if err != nil || source == nil {
		return is.found.With(nil).Tree(is.tree), err
	}
	return is.found.With(source.Spec.Ignore).Tree(is.tree), nil
}

// partOf returns the rules for which files of the tree are in the artifact of a GitRepository
// that is the repository itself: its spec.ignore counts if the repository has the object.
func (r *Repository) partOf(ref flux.Reference) (*sourceignore.Rules, error) {
	if known := r.rules[ref.String()]; known != nil {
		return known, nil
	}
	found, err := r.ignored()
	if err != nil {
		return nil, err
	}
	source, err := r.source(ref)
	if err != nil {
		return nil, err
	}
	var ignore *string
	if source != nil {
		ignore = source.Spec.Ignore
		r.Warnings = append(r.Warnings, r.differs(source)...)
	}
	made := found.With(ignore)
	r.rules[ref.String()] = made
	return made, nil
}
