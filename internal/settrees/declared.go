package settrees

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// setFiles are the usual names of the files that declare a set.
var setFiles = []string{"releases.yaml", "helmfile.yaml", "helmfile.yaml.gotmpl"}

// declaring returns an error if none of what was named declares a release, in neither version, or if a
// folder without any has the file of a set in it: that nothing is touched would be a false all-clear. A
// change may well remove the last release; then the base declares it.
func (t *Trees) declaring(files []string, input []byte) error {
	named := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return name == inputfile.StandardInput })
	var nothing error
	declared := 0
	for i := range t.Head.Declares {
		if t.Head.Declares[i] || t.Base != nil && i < len(t.Base.Declares) && t.Base.Declares[i] {
			declared++
			continue
		}
		if i == len(named) {
			nothing = cmp.Or(nothing, inputDeclaresNothing(input))
			continue
		}
		hasSet, err := t.declaresNothing(named[i], t.Files[i])
		if hasSet {
			return err
		}
		nothing = cmp.Or(nothing, err)
	}
	if declared > 0 {
		return nil
	}
	return nothing
}

// declaresNothing returns the error of a file or folder that declares no release, and reports whether a
// folder has the file of a set in it. named is how it was named, name its path in the tree.
func (t *Trees) declaresNothing(named, name string) (hasSet bool, err error) {
	if info, err := fs.Stat(t.Head.Tree, name); err == nil && !info.IsDir() {
		return false, argv.Usage("%s declares no releases", named)
	}
	for _, file := range setFiles {
		if _, err := fs.Stat(t.Head.Tree, path.Join(name, file)); err == nil {
			return true, argv.Usage("the folder %s declares no HelmRelease or Application; name the file in it that declares the releases: %s", named, filepath.Join(named, file))
		}
	}
	if t.hasSets(name) {
		return true, argv.Usage("the folder %s declares no HelmRelease or Application; name the files in it that declare releases: %s", named, filepath.Join(named, "*.yaml"))
	}
	return false, argv.Usage("the folder %s declares no HelmRelease or Application", named)
}

// hasSets reports whether a folder has files of sets under other names, as helmfile.d has.
func (t *Trees) hasSets(name string) bool {
	files, err := fs.Glob(t.Head.Tree, path.Join(name, "*.yaml"))
	return err == nil && slices.ContainsFunc(files, func(file string) bool {
		data, err := releaseset.ReadFile(t.Head.Tree, file)
		return err == nil && releaseset.Declares(data)
	})
}

func inputDeclaresNothing(input []byte) error {
	if releaseset.Own(input) {
		return argv.Usage("standard input is a releases.yaml, which is read from a file only: the paths in it are relative to it")
	}
	return argv.Usage("standard input declares no HelmRelease or Application")
}
