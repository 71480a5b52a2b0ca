package chartload

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// walk returns the files of a folder in lexical order, less those that
// .helmignore leaves out. Symbolic links are followed wherever they lead, as
// Helm follows them: a folder is as trusted as whoever names it.
func (l *loader) walk(dir string) ([]*chart.File, error) {
	w := walker{loader: l}
	data, err := os.ReadFile(filepath.Join(dir, ".helmignore"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if w.rules, err = parseIgnore(data); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if err := w.dir(real, "", nil); err != nil {
		return nil, err
	}
	return w.files, nil
}

type walker struct {
	loader *loader
	rules  ignoreRules
	files  []*chart.File
}

// dir reads a folder. real is where it really is, name what the chart calls it
// and above the real places of the folders it is in.
func (w *walker) dir(real, name string, above []string) error {
	if slices.Contains(above, real) {
		return fmt.Errorf("%s is a link to a folder that it is in itself", name)
	}
	above = append(slices.Clip(above), real)
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.entry(filepath.Join(real, e.Name()), path.Join(name, e.Name()), above); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(real, name string, above []string) error {
	info, err := os.Lstat(real)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if real, err = filepath.EvalSymlinks(real); err != nil {
			return fmt.Errorf("follow link %s: %w", name, err)
		}
		if info, err = os.Lstat(real); err != nil {
			return err
		}
	}
	if w.rules.match(name, info.IsDir()) {
		return nil
	}
	switch {
	case info.IsDir():
		if err := w.loader.budget.entry(name, 0); err != nil {
			return err
		}
		return w.dir(real, name, above)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a device or another special file, which a chart can't hold", name)
	}
	return w.file(real, name, info)
}

func (w *walker) file(real, name string, info fs.FileInfo) error {
	if err := w.loader.budget.entry(name, info.Size()); err != nil {
		return err
	}
	f, err := os.Open(real)
	if err != nil {
		return err
	}
	defer f.Close()
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	// A file that shrinks meanwhile is taken as it is.
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", name, err)
	}
	w.files = append(w.files, &chart.File{Name: name, Data: withoutBOM(data[:n]), ModTime: info.ModTime()})
	return nil
}
