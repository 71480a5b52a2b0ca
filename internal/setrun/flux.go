package setrun

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/argo"
	"github.com/kubectl-release/kubectl-release/internal/flux"
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
		case r.Flux, err != nil:
			objects = append(objects, name)
		case releaseset.Own(data), releaseset.Declares(data) && !kindOf.Match(data): // objects in it are in the values of its releases
			others = append(others, name)
		case repository.Holds(data), argo.Holds(data):
			objects = append(objects, name)
		case kindOf.Match(data):
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

// input is the name of the input in messages.
const input = "-"

// readObjects reads what files, folders, Kustomizations or the input declare for Flux and
// Argo CD, and joins it to the set. It returns the files and folders that declare releases.
func (s *Side) readObjects(names []string, r Reading) (declaring []string, err error) {
	known := repository.Reading{
		Sources: r.Sources, Open: s.charts.outside.open, Checkout: r.Checkout,
		NoCrossNamespaceRefs: r.NoCrossNamespaceRefs, StrictSubstitutions: r.StrictSubstitutions, Offline: r.Offline,
	}
	if r.Flux {
		for _, name := range names {
			found, err := repository.Root(s.Tree, name, known)
			if err == nil {
				err = s.join(found, r.Checkout)
			}
			if err != nil {
				return nil, err
			}
			builds := found.Partial() // if so, there may be releases in what is elsewhere
			found.Each(flux.KustomizeGroup, flux.KindKustomization, func(map[string]any, string) { builds = true })
			if builds || len(declaringIn(found)) > 0 {
				declaring = append(declaring, name)
			}
		}
		return declaring, nil
	}
	if len(names) == 0 && r.Input == nil {
		return nil, nil
	}
	found, err := repository.Files(s.Tree, names, known)
	if err == nil {
		err = found.Add(r.Input, input)
	}
	if err != nil {
		return nil, err
	}
	return declaringIn(found), s.join(found, r.Checkout)
}

// declaringIn returns the files with objects that declare releases, or from which such objects are
// generated.
func declaringIn(found *repository.Repository) (from []string) {
	note := func(_ map[string]any, file string) { from = append(from, file) }
	found.Each(flux.HelmGroup, flux.KindHelmRelease, note)
	found.Each(argo.Group, argo.Kind, note)
	found.EachGenerator(note)
	return from
}

// within reports whether a file is the one called name, or in the folder of that name.
func within(name string) func(file string) bool {
	return func(file string) bool { return name == "." || file == name || strings.HasPrefix(file, name+"/") }
}

// blank reports whether a file has no content.
func blank(tree releaseset.Tree, name string) bool {
	data, err := releaseset.ReadFile(tree, name)
	return err != nil || len(bytes.TrimSpace(data)) == 0
}

func (s *Side) join(found *repository.Repository, of releaseset.Checkout) error {
	var applications []argo.Placed
	found.Each(argo.Group, argo.Kind, func(object map[string]any, from string) {
		applications = append(applications, argo.Placed{Object: object, From: from})
	})
	return s.Set.Join(found.Set(), argo.Set(s.Tree, of, applications))
}
