package setrun

import (
	"github.com/kubectl-release/kubectl-release/internal/argo"
	"github.com/kubectl-release/kubectl-release/internal/flux/repository"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// objectFiles parts files with objects of Flux's or Argo CD's, and folders, from those of
// other formats. What is not there is of no format.
func objectFiles(tree releaseset.Tree, files []string, r Reading) (objects, others []string) {
	for _, name := range files {
		data, err := releaseset.ReadFile(tree, name)
		switch {
		case !there(tree, name):
		case r.Flux, err != nil, repository.Holds(data), argo.Holds(data):
			objects = append(objects, name)
		default:
			others = append(others, name)
		}
	}
	return objects, others
}

// readObjects reads what files, folders, Kustomizations or the input declare for Flux and
// Argo CD.
func (s *Side) readObjects(names []string, r Reading) error {
	if r.Flux {
		for _, name := range names {
			found, err := repository.Root(s.Tree, name, r.Sources)
			if err != nil {
				return err
			}
			if err := s.join(found); err != nil {
				return err
			}
		}
		return nil
	}
	if len(names) == 0 && r.Input == nil {
		return nil
	}
	found, err := repository.Files(s.Tree, names, r.Sources)
	if err == nil {
		err = found.Add(r.Input, "-")
	}
	if err != nil {
		return err
	}
	return s.join(found)
}

func (s *Side) join(found *repository.Repository) error {
	var applications []argo.Placed
	found.Each(argo.Group, argo.Kind, func(object map[string]any, from string) {
		applications = append(applications, argo.Placed{Object: object, From: from})
	})
	return s.Set.Join(found.Set(), argo.Set(s.Tree, applications))
}
