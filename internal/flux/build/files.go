package build

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// files presents a tree as kustomize wants it: paths begin with /, the tree's root,
// and nothing leads out of it. It is read-only.
type files struct {
	tree fs.FS
	// replaced are kustomizations, by path, that replace files of the tree.
	replaced map[string][]byte
	// checked are the folders whose kustomizations have been checked.
	checked map[string]checked
	spent   *spent
}

// checked is what the kustomization of a folder is left without, and whether nothing is left of it.
type checked struct {
	omitted []string
	empty   bool
}

var errReadOnly = errors.New("the tree can't be written")

// within returns the path in the tree.
func within(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/")
	if name == "" {
		return "."
	}
	return name
}

// has returns an error unless the tree has what a kustomization in dir names. No name is no error.
func (f files) has(dir, name string) error {
	at := path.Join(dir, filepath.ToSlash(name))
	switch {
	case remote(name):
		return fmt.Errorf("%s of the kustomization in %s is remote, which is not fetched, and other objects depend on it", name, dir)
	case name != "" && (filepath.IsAbs(name) || path.IsAbs(name) || strings.HasPrefix(at, "..") || !f.Exists(at)):
		return fmt.Errorf("%s of the kustomization in %s is not in the repository", name, dir)
	}
	return nil
}

func (f files) ReadFile(name string) ([]byte, error) {
	data, replaced := f.replaced[within(name)]
	if !replaced {
		var err error
		if data, err = fs.ReadFile(f.tree, within(name)); err != nil {
			return nil, err
		}
	}
	return data, f.spent.file(within(name), data)
}

func (f files) Exists(name string) bool {
	if _, ok := f.replaced[within(name)]; ok {
		return true
	}
	_, err := fs.Stat(f.tree, within(name))
	return err == nil
}

func (f files) IsDir(name string) bool {
	info, err := fs.Stat(f.tree, within(name))
	return err == nil && info.IsDir()
}

func (f files) ReadDir(name string) ([]string, error) {
	entries, err := fs.ReadDir(f.tree, within(name))
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out, err
}

// CleanedAbs returns the folder and the file of a path.
func (f files) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	whole := "/" + strings.TrimPrefix(within(name), ".")
	switch {
	case f.IsDir(name):
		return filesys.ConfirmedDir(path.Clean(whole)), "", nil
	case f.Exists(name):
		return filesys.ConfirmedDir(path.Dir(whole)), path.Base(whole), nil
	}
	return "", "", fmt.Errorf("%s does not exist in the repository", name)
}

func (f files) Glob(pattern string) ([]string, error) {
	found, err := fs.Glob(f.tree, within(pattern))
	for i := range found {
		found[i] = "/" + found[i]
	}
	return found, err
}

func (f files) Walk(name string, walk filepath.WalkFunc) error {
	return fs.WalkDir(f.tree, within(name), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return walk("/"+p, nil, err)
		}
		info, err := d.Info()
		return walk("/"+p, info, err)
	})
}

func (f files) Create(string) (filesys.File, error) { return nil, errReadOnly }
func (f files) Open(string) (filesys.File, error)   { return nil, errReadOnly }
func (f files) Mkdir(string) error                  { return errReadOnly }
func (f files) MkdirAll(string) error               { return errReadOnly }
func (f files) RemoveAll(string) error              { return errReadOnly }
func (f files) WriteFile(string, []byte) error      { return errReadOnly }
