package releaseset

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Tree is the files of a repository. It must lead neither out of its root nor, through links, to
// what is hidden, and have nothing of Git's own: an inputfile.Tree is such a tree.
type Tree = fs.FS

// OutsideError says that a path leads out of the tree.
type OutsideError struct{ Path string }

func (e *OutsideError) Error() string { return e.Path + " is outside of the repository" }

// Join returns the path of name, which is relative to the folder dir, from the tree's
// root. Errors: *OutsideError.
func Join(dir, name string) (string, error) {
	joined := path.Join(dir, name)
	if path.IsAbs(name) || !fs.ValidPath(joined) {
		return "", &OutsideError{Path: name}
	}
	return joined, nil
}

// InTree returns name as a path from the tree's root that can't lead out of it; "" is the root.
func InTree(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// IsChart reports whether a folder of a tree, "" for the root, is a chart.
func IsChart(tree Tree, dir string) bool { return exists(tree, path.Join(dir, "Chart.yaml")) }

// ReadFile reads a file of a tree; if it is a link that leads out of the tree, that is
// an *OutsideError.
func ReadFile(tree Tree, name string) ([]byte, error) {
	data, err := fs.ReadFile(tree, name)
	return data, outside(name, err)
}

// exists reports whether a path exists.
func exists(tree Tree, name string) bool {
	_, err := fs.Stat(tree, name)
	return err == nil
}

// outside recognises an escape by its text: os.Root has no error value for it. Of other errors it
// leaves out os.Root's operation, such as "openat", which says nothing to users.
func outside(name string, err error) error {
	var failed *fs.PathError
	switch {
	case !errors.As(err, &failed):
		return err
	case strings.Contains(failed.Err.Error(), "escapes from parent"):
		return &OutsideError{Path: name}
	}
	return fmt.Errorf("%s: %w", failed.Path, failed.Err)
}

// Stat returns information about a file or folder of a tree; errors are those of ReadFile.
func Stat(tree Tree, name string) (fs.FileInfo, error) {
	info, err := fs.Stat(tree, name)
	return info, outside(name, err)
}

// FieldError is a mistake in a set's file.
type FieldError struct {
	Place
	What string
}

func (e *FieldError) Error() string { return e.String() + ": " + e.What }

// at returns a FieldError at a line.
func at(file string, line int, format string, args ...any) error {
	return &FieldError{Place{file, line}, fmt.Sprintf(format, args...)}
}
