// Package chartload reads charts from folders and archives, with their
// subcharts, as Helm 4.3.1 does: apiVersion v1 and v2, .helmignore,
// requirements.yaml, charts/ as folders and archives.
//
// It does not fetch charts, does not decide which dependencies are on (package
// values) and does not trust what it reads: whatever a chart holds, the outcome
// is a chart or an error that names the file, within bounded time and memory.
package chartload

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Load reads a chart from a folder or a .tgz file. The warnings tell what is
// odd about it and stops nobody; they are in a stable order.
func Load(path string) (*chart.Chart, []chart.Warning, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load chart: %w", err)
	}
	if info.IsDir() {
		return folder(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load chart: %w", err)
	}
	defer f.Close()
	return Archive(f, path)
}

// Archive reads a chart from a gzipped tar stream. name stands for it in errors.
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

// Files reads the files of a chart, as Load does, without making a chart of
// them: for finding out what is wrong with one that Load refuses.
func Files(path string) ([]*chart.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	l := newLoader()
	if info.IsDir() {
		return l.walk(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	defer f.Close()
	return l.unpack(f, filepath.Base(path))
}

func hint(name string) string {
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
		return "; it looks like a values file where a chart is expected"
	}
	return ""
}

func folder(path string) (*chart.Chart, []chart.Warning, error) {
	l := newLoader()
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

// loader carries what one Load shares among a chart and its subcharts.
type loader struct {
	budget   *budget
	warnings []chart.Warning
	// parsings are the values files that were met, by their paths in the tree.
	parsings map[string]*parsing
}

func newLoader() loader {
	return loader{budget: newBudget(), parsings: map[string]*parsing{}}
}

func (l *loader) warn(where, format string, args ...any) {
	l.warnings = append(l.warnings, chart.Warning{Where: where, What: fmt.Sprintf(format, args...)})
}
