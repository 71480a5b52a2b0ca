package setrun

import (
	"regexp"

	"github.com/kubectl-release/kubectl-release/internal/argo"
	"github.com/kubectl-release/kubectl-release/internal/flux/repository"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// objectFiles separates folders, files with Flux or Argo CD objects, and files with other objects
// next to them, from files of other formats. Files that do not exist are in neither list.
func objectFiles(tree releaseset.Tree, files []string, r Reading) (objects, others []string) {
	var beside []string
	for _, name := range files {
		data, err := releaseset.ReadFile(tree, name)
		switch {
		case !there(tree, name):
		case r.Flux, err != nil, repository.Holds(data), argo.Holds(data):
			objects = append(objects, name)
		case kindOf.Match(data) && !releaseset.Own(data):
			beside = append(beside, name)
		default:
			others = append(others, name)
		}
	}
	if len(objects) > 0 || r.Input != nil {
		return append(objects, beside...), others
	}
	return nil, append(others, beside...)
}

// kindOf matches files with Kubernetes objects, in YAML or JSON.
var kindOf = regexp.MustCompile(`(?m)^\{?(?:\s*"apiVersion"|apiVersion):`)

// readObjects reads what files, folders, Kustomizations or the input declare for Flux and
// Argo CD, and joins it to the set.
func (s *Side) readObjects(names []string, r Reading) error {
	known := repository.Reading{Sources: r.Sources, Open: s.charts.outside.open, Checkout: r.Checkout}
	if r.Flux {
		for _, name := range names {
			found, err := repository.Root(s.Tree, name, known)
			if err != nil {
				return err
			}
			if err := s.join(found, r.Checkout); err != nil {
				return err
			}
		}
		return nil
	}
	if len(names) == 0 && r.Input == nil {
		return nil
	}
	found, err := repository.Files(s.Tree, names, known)
	if err == nil {
		err = found.Add(r.Input, "-")
	}
	if err != nil {
		return err
	}
	return s.join(found, r.Checkout)
}

func (s *Side) join(found *repository.Repository, of releaseset.Checkout) error {
	var applications []argo.Placed
	found.Each(argo.Group, argo.Kind, func(object map[string]any, from string) {
		applications = append(applications, argo.Placed{Object: object, From: from})
	})
	return s.Set.Join(found.Set(), argo.Set(s.Tree, of, applications))
}
