package setrun

import (
	"github.com/kubectl-release/kubectl-release/internal/flux/repository"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// fluxFiles parts files with objects of Flux's, and folders, from those of other
// formats. What is not there is of no format.
func fluxFiles(tree releaseset.Tree, files []string, r Reading) (objects, others []string) {
	for _, name := range files {
		data, err := releaseset.ReadFile(tree, name)
		switch {
		case !there(tree, name):
		case r.Flux, err != nil, repository.Holds(data):
			objects = append(objects, name)
		default:
			others = append(others, name)
		}
	}
	return objects, others
}

// readFlux reads what files, folders or Kustomizations declare for Flux.
func (s *Side) readFlux(names []string, r Reading) error {
	if len(names) == 0 {
		return nil
	}
	if !r.Flux {
		found, err := repository.Files(s.Tree, names, r.Sources)
		if err != nil {
			return err
		}
		return s.Set.Join(found.Set())
	}
	for _, name := range names {
		found, err := repository.Root(s.Tree, name, r.Sources)
		if err != nil {
			return err
		}
		if err := s.Set.Join(found.Set()); err != nil {
			return err
		}
	}
	return nil
}
