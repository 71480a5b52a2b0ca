// Package setrun plans the releases of a set in parallel, and applies saved sets in
// waves. It connects releaseset, chartload, values and the engine, and compares two trees
// of files to find which releases a change touches.
//
// It decides nothing about a release (package plan does), prints nothing, and receives
// clusters and a way to fetch charts from its callers.
package setrun

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/releaseset/helmfile"
)

// Side is one version of the files that declare a set.
type Side struct {
	Tree releaseset.Tree
	Set  *releaseset.Set
	// Declares says for each of the files that the side was opened with, in their order, whether it
	// declares releases, as an empty file and a folder without any HelmRelease or Application do not. The
	// input comes last.
	Declares []bool
	// Broken is why nothing can be said about what the files declared earlier (see Reading.Earlier), nil if
	// they could be read.
	Broken error
	// charts holds the charts of the tree, and those that are fetched.
	charts *charts
	files  *inputfile.Tree
}

// Reading says how the files of a set are read.
type Reading struct {
	// Environment selects the environment whose releases are read; "" is the format's default.
	Environment string
	// Variables are the environment variables that files may read.
	Variables map[string]string
	// Flux reports whether the files are folders that Flux's Kustomizations start at.
	Flux bool
	// Input is a text with Flux or Argo CD objects, in addition to the files.
	Input []byte
	// Sources maps Flux sources, as Kind/namespace/name, to the folder or archive with their
	// chart or tree: paths in the tree, or absolute ones outside it.
	Sources map[string]string
	// Earlier reports whether this is what the set was before: it may lack the environment or cluster.
	Earlier bool
	// Checkout is the repository that the tree is a version of.
	Checkout releaseset.Checkout
	// NoCrossNamespaceRefs and StrictSubstitutions say how Flux's controllers are run, see
	// repository.Reading.
	NoCrossNamespaceRefs, StrictSubstitutions bool
	// Offline reports whether no cluster is asked for what the tree does not have.
	Offline bool
}

// Open opens a tree and reads the set declared by files, slash-separated paths from the tree's
// root. A tree that has none of the files holds an empty set, and so does an earlier one that can't be read.
// Errors name file and line.
func Open(dir string, files []string, r Reading, fetch Fetch) (*Side, error) {
	tree, err := inputfile.OpenTree(dir)
	if err != nil {
		return nil, err
	}
	s := &Side{Tree: tree, Set: &releaseset.Set{}, files: tree}
	s.charts = newCharts(dir, s.Tree, slices.Collect(maps.Values(r.Sources)), fetch)
	err = s.declare(files, r)
	switch {
	case err == nil:
	case r.Earlier:
		s.Set, s.Declares, s.Broken = &releaseset.Set{}, nil, err
	default:
		s.Close()
		return nil, err
	}
	return s, nil
}

// declare reads what files declare.
func (s *Side) declare(files []string, r Reading) error {
	objects, others := objectFiles(s.Tree, files, r)
	for _, name := range others {
		set, err := read(s.Tree, name, r)
		undeclared := (*releaseset.UndeclaredError)(nil)
		if errors.Is(err, fs.ErrNotExist) && !there(s.Tree, name) || r.Earlier && errors.As(err, &undeclared) {
			continue
		}
		if err == nil {
			err = s.Set.Join(set)
		}
		if err != nil {
			return err
		}
	}
	declaring, err := s.readObjects(objects, r)
	if err != nil {
		return err
	}
	unread := len(s.Set.Unread) > 0 // there may be releases in what can't be read
	for _, name := range files {
		s.Declares = append(s.Declares, unread || slices.ContainsFunc(declaring, within(name)) || slices.Contains(others, name) && !blank(s.Tree, name))
	}
	if r.Input != nil {
		s.Declares = append(s.Declares, unread || slices.Contains(declaring, input))
	}
	return nil
}

// Clusters returns the clusters of both versions of a set, by name: those of s, and those that
// only base has, nil without one, whose releases have left the set.
func (s *Side) Clusters(base *Side) map[string]releaseset.Cluster {
	out := map[string]releaseset.Cluster{}
	if base != nil {
		maps.Copy(out, base.Set.Clusters)
	}
	maps.Copy(out, s.Set.Clusters)
	return out
}

// JudgeAbsent decides what it means that the tree lacks something. What base has lacked before is not due to
// the change, and is a warning. Anything else the change has taken away, brought in from elsewhere or named by
// mistake: it can't be read. Without a base, nil or one that declares nothing, all are warnings.
func (s *Side) JudgeAbsent(base *Side) {
	for _, a := range s.Set.Absent {
		lacked := func(b releaseset.Absent) bool { return b.Applier == a.Applier && b.Name == a.Name }
		if base.declares() && !slices.ContainsFunc(base.Set.Absent, lacked) {
			s.Set.Unread = append(s.Set.Unread, a.Error)
		} else {
			s.Set.Warnings = append(s.Set.Warnings, a.Warning)
		}
	}
}

// declares reports whether s, nil for none, declares anything: an empty base is nothing to compare with.
func (s *Side) declares() bool { return s != nil && slices.Contains(s.Declares, true) }

// Close closes the tree, and removes what was unpacked.
func (s *Side) Close() {
	_ = s.files.Close()
	s.charts.outside.close()
}

func there(tree releaseset.Tree, name string) bool {
	_, err := fs.Stat(tree, name)
	return err == nil
}

// read reads a file with the reader of its format.
func read(tree releaseset.Tree, name string, r Reading) (*releaseset.Set, error) {
	info, err := fs.Stat(tree, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name the file in it that declares the releases", name)
	}
	data, err := releaseset.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	if !releaseset.Own(data) {
		return helmfile.Read(tree, name, helmfile.Options{Environment: r.Environment, Variables: r.Variables})
	}
	set, err := releaseset.Read(tree, name)
	if err == nil && r.Environment != "" {
		err = set.InCluster(r.Environment)
	}
	return set, err
}

// Within returns the slash-separated path of file relative to root. Errors:
// *releaseset.OutsideError.
func Within(root, file string) (string, error) {
	abs, err := filepath.Abs(file)
	if err == nil {
		if dir, resolved := filepath.EvalSymlinks(filepath.Dir(abs)); resolved == nil {
			abs = filepath.Join(dir, filepath.Base(abs))
		}
	}
	name, relErr := filepath.Rel(root, abs)
	if err == nil {
		err = relErr
	}
	if err != nil {
		return "", err
	}
	if name = path.Clean(filepath.ToSlash(name)); !fs.ValidPath(name) {
		return "", &releaseset.OutsideError{Path: file}
	}
	return name, nil
}
