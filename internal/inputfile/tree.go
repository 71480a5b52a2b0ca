package inputfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Tree is the files below a folder that came with others, as in a Git checkout. No link leads
// out of it, or to something that is hidden in it. What is Git's own is neither listed nor read,
// whoever names it: .git/config may hold the token of a job.
type Tree struct {
	fs.ReadLinkFS // Lstat and ReadLink, which open no file

	root *os.Root
	top  string // the folder's path without links
}

// OpenTree opens the tree below a folder. Errors are those of the file system.
func OpenTree(dir string) (*Tree, error) {
	top, err := filepath.EvalSymlinks(dir)
	if err == nil {
		top, err = filepath.Abs(top)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	return &Tree{ReadLinkFS: root.FS().(fs.ReadLinkFS), root: root, top: top}, nil
}

// Close closes the tree; files that are open stay open.
func (t *Tree) Close() error { return t.root.Close() }

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	if err := t.check("open", name); err != nil {
		return nil, err
	}
	return t.ReadLinkFS.Open(name)
}

// Stat implements fs.StatFS.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	if err := t.check("stat", name); err != nil {
		return nil, err
	}
	return fs.Stat(t.ReadLinkFS, name)
}

// ReadFile implements fs.ReadFileFS.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	if err := t.check("open", name); err != nil {
		return nil, err
	}
	return fs.ReadFile(t.ReadLinkFS, name)
}

// ReadDir implements fs.ReadDirFS.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := t.check("open", name); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(t.ReadLinkFS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return OfGit(e.Name()) }), err
}

var errOfGit = errors.New("it is Git's own, which is not read: it may hold credentials")

// check refuses what is Git's own, and links that lead to something hidden. What leads out of the
// tree passes: os.Root refuses that.
func (t *Tree) check(op, name string) error {
	path := filepath.FromSlash(name)
	if OfGit(path) {
		return &fs.PathError{Op: op, Path: name, Err: errOfGit}
	}
	real, err := filepath.EvalSymlinks(filepath.Join(t.top, path))
	if err != nil {
		return nil // os.Root says what is wrong
	}
	target, err := filepath.Rel(t.top, real)
	if err != nil || !filepath.IsLocal(path) || !filepath.IsLocal(target) {
		return err
	}
	// A file in a hidden folder may be named, and be a link to another one there.
	if added, err := filepath.Rel(path, target); err != nil || hidden(added) {
		return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("it is a link to %s, which is hidden", filepath.ToSlash(target))}
	}
	return nil
}

// ofGit matches what file systems take for .git: many ignore its case, Windows ignores dots and blanks at its
// end and a stream's name after it, and may know it by a short name (Git's path.c, is_ntfs_dotgit).
var ofGit = regexp.MustCompile(`(?is)^(\.git|git~[0-9])[. ]*(:.*)?$`)

// OfGit reports whether a path has a part that a file system may take for .git. Invisible characters do not
// count, since macOS ignores them (Git's utf8.c, is_hfs_dotgit).
func OfGit(path string) bool {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, filepath.ToSlash(path))
	return slices.ContainsFunc(strings.Split(visible, "/"), ofGit.MatchString)
}

var _ interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.StatFS
	fs.ReadLinkFS
} = (*Tree)(nil)
