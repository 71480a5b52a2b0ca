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
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
)

// walk returns the files of a folder in lexical order, without those that .helmignore excludes,
// Git's own, and temporary files of interrupted runs. Links within the folder are followed; links
// out of it only with Options.OutsideLinks, as Helm follows them.
func (l *loader) walk(dir string) ([]*chart.File, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	w := walker{loader: l, top: real}
	if w.rules, err = w.ignored(); err != nil {
		return nil, err
	}
	if err := w.dir(real, "", nil); err != nil {
		return nil, err
	}
	return w.files, nil
}

type walker struct {
	loader *loader
	top    string // the folder's path without links
	rules  ignoreRules
	files  []*chart.File
}

// ignored reads the rules of .helmignore.
func (w *walker) ignored() (ignoreRules, error) {
	real := filepath.Join(w.top, ".helmignore")
	info, err := os.Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return parseIgnore(nil)
	}
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if real, err = w.follow(real, ".helmignore", nil); err != nil {
			return nil, err
		}
	}
	f, err := w.open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := inputfile.ReadAll(f, ".helmignore", maxIgnoreBytes)
	if err != nil {
		return nil, err
	}
	return parseIgnore(data)
}

// follow returns where a link leads. above are the real paths of the folders that contain it.
func (w *walker) follow(link, name string, above []string) (string, error) {
	real, err := filepath.EvalSymlinks(link)
	if err != nil {
		return "", fmt.Errorf("follow link %s: %w", name, err)
	}
	if w.loader.options.OutsideLinks || slices.Contains(above, real) {
		return real, nil // dir reports the latter as an error
	}
	real, err = inputfile.Target(w.top, link)
	if outside, is := errors.AsType[*inputfile.OutsideError](err); is {
		outside.Link = name
	}
	return real, err
}

// open opens a real path. It fails if a part of it has become a link in the meantime.
func (w *walker) open(real string) (*os.File, error) {
	if w.loader.options.OutsideLinks {
		return os.Open(real)
	}
	return inputfile.OpenInside(w.top, real)
}

// dir reads a folder. real is its real path, name its name in the chart, and above are the real
// paths of the folders that contain it.
func (w *walker) dir(real, name string, above []string) error {
	if slices.Contains(above, real) {
		return fmt.Errorf("%s is a link to a folder that contains it", name)
	}
	above = append(slices.Clip(above), real)
	entries, err := w.list(real)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == ".git" || strings.HasPrefix(e.Name(), outputfile.Prefix) {
			continue // may hold credentials, or is a temporary file of an interrupted run: no part of a chart
		}
		if err := w.entry(filepath.Join(real, e.Name()), path.Join(name, e.Name()), above); err != nil {
			return err
		}
	}
	return nil
}

// list is os.ReadDir by way of open.
func (w *walker) list(real string) ([]fs.DirEntry, error) {
	f, err := w.open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (w *walker) entry(real, name string, above []string) error {
	info, err := os.Lstat(real)
	if err != nil {
		return err
	}
	if omits := w.loader.options.Omits; omits != nil && omits(name, info.Mode()) {
		return nil
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if link {
		if info, err = os.Stat(real); err != nil {
			return fmt.Errorf("follow link %s: %w", name, err)
		}
	}
	if w.rules.match(name, info.IsDir()) {
		return nil
	}
	if link {
		if real, err = w.follow(real, name, above); err != nil {
			return err
		}
	}
	switch {
	case info.IsDir():
		if err := w.loader.budget.entry(name, 0); err != nil {
			return err
		}
		return w.dir(real, name, above)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a device or another special file, which a chart can't contain", name)
	}
	return w.file(real, name, info)
}

func (w *walker) file(real, name string, info fs.FileInfo) error {
	if err := w.loader.budget.entry(name, info.Size()); err != nil {
		return err
	}
	f, err := w.open(real)
	if err != nil {
		return err
	}
	defer f.Close()
	data := make([]byte, info.Size()+1)
	n, err := io.ReadFull(f, data)
	switch { // a file that shrinks while it is read is accepted
	case err == nil:
		return fmt.Errorf("read %s: it has more than the %d bytes that it is said to have; does something write to it?", name, info.Size())
	case !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		return fmt.Errorf("read %s: %w", name, err)
	}
	w.files = append(w.files, &chart.File{Name: name, Data: withoutBOM(data[:n]), ModTime: info.ModTime()})
	return nil
}
