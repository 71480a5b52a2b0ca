// Package chartload reads charts from folders and archives, with their
// subcharts, as Helm 4.3.1 does (https://github.com/helm/helm/tree/v4.3.1/pkg/chart/v2/loader):
// apiVersion v1 and v2, .helmignore, requirements.yaml, charts/ as folders and archives.
//
// It does not fetch charts, does not decide which dependencies are on (package
// values) and does not trust what it reads: whatever a chart holds, the outcome
// is a chart or an error that names the file, within bounded time and memory.
package chartload

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
)

// Options change what Load reads.
type Options struct {
	// OutsideLinks follows links that lead out of a chart's folder, or to hidden
	// files in it; otherwise they are errors.
	OutsideLinks bool
	// Omits reports whether a file of a chart's folder is omitted in addition to those that
	// .helmignore excludes; nil omits none. name is its slash-separated path in the folder,
	// and a link's mode is its own.
	Omits func(name string, mode fs.FileMode) bool
}

// Load reads a chart from a folder or a .tgz file. The warnings name oddities that
// do not prevent loading, in a stable order. A missing path is fs.ErrNotExist, and a
// link that leads where it must not is an *inputfile.OutsideError.
func Load(path string, o Options) (*chart.Chart, []chart.Warning, error) {
	info, err := look(path, o)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return folder(path, o)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load chart: %w", err)
	}
	defer f.Close()
	return Archive(f, path)
}

// look returns information about the file or folder at a path.
func look(path string, o Options) (fs.FileInfo, error) {
	if !o.OutsideLinks {
		if err := inputfile.CheckLink(path); err != nil {
			return nil, fmt.Errorf("load chart: %w", err)
		}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("load chart %s: %w", path, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("load chart: %w", err)
	}
	return info, nil
}

// Archive reads a chart from a gzipped tar stream, with the warnings of Load. Errors call it name:
// the stream is broken or not an archive, it is larger than limits.go allows, or its files are not
// a chart. r is not closed.
func Archive(r io.Reader, name string) (*chart.Chart, []chart.Warning, error) {
	l := newLoader()
	c, err := l.archive(r, filepath.Base(name), 0)
	if errors.Is(err, errNoGzip) {
		err = fmt.Errorf("%w%s", err, hint(name))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("load chart %s: %w", name, err)
	}
	return c, l.warnings, nil
}

// Alone is Load without the subcharts: charts/ may be missing or broken, and the chart returned has
// no dependencies. Warnings and errors are those of Load about the chart itself.
func Alone(path string, o Options) (*chart.Chart, []chart.Warning, error) {
	files, err := Files(path, o)
	if err != nil {
		return nil, nil, err
	}
	own := slices.DeleteFunc(files, func(f *chart.File) bool { return strings.HasPrefix(f.Name, "charts/") })
	l := newLoader()
	c, err := l.assemble(own, filepath.Base(path), 0)
	if err != nil {
		return nil, nil, fmt.Errorf("load chart %s: %w", path, err)
	}
	return c, l.warnings, nil
}

// Files reads the files of a chart as Load does, but does not build a chart from them: it helps to
// find out what is wrong with a chart that Load rejects. Names are relative to the chart's folder,
// with slashes; a folder's .helmignore is respected. Errors: a file can't be read, leads out of the
// folder (*inputfile.OutsideError), or exceeds the limits.
func Files(path string, o Options) ([]*chart.File, error) {
	info, err := look(path, o)
	if err != nil {
		return nil, err
	}
	l := newLoader()
	l.options = o
	var files []*chart.File
	if info.IsDir() {
		files, err = l.walk(path)
	} else {
		files, err = archiveFiles(path)
	}
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", path, err)
	}
	return files, nil
}

func archiveFiles(path string) ([]*chart.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ArchiveFiles(f, path)
}

// ArchiveFiles is Files for a gzipped tar stream, with the errors of Archive except those for files
// that are not a chart.
func ArchiveFiles(r io.Reader, name string) ([]*chart.File, error) {
	l := newLoader()
	return l.unpack(r, filepath.Base(name))
}

func hint(name string) string {
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
		return "; it looks like a values file, but a chart is expected"
	}
	return ""
}

func folder(path string, o Options) (*chart.Chart, []chart.Warning, error) {
	l := newLoader()
	l.options = o
	files, err := l.walk(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load chart %s: %w", path, err)
	}
	c, err := l.assemble(files, filepath.Base(path), 0)
	if err != nil {
		return nil, nil, fmt.Errorf("load chart %s: %w", path, err)
	}
	return c, l.warnings, nil
}

// loader is the state of one Load, shared by a chart and its subcharts.
type loader struct {
	options  Options
	budget   *budget
	warnings []chart.Warning
	// parsings are the values files found so far, by their paths in the chart tree.
	parsings map[string]*parsing
}

func newLoader() loader {
	return loader{budget: newBudget(), parsings: map[string]*parsing{}}
}

func (l *loader) warn(where, format string, args ...any) {
	l.warnings = append(l.warnings, chart.Warning{Where: where, What: fmt.Sprintf(format, args...)})
}

// IsChart reports whether a path is a folder with a Chart.yaml or an archive. It reads neither.
func IsChart(path string) bool {
	_, err := os.Stat(filepath.Join(path, "Chart.yaml"))
	return err == nil || filepath.Ext(path) == ".tgz"
}
