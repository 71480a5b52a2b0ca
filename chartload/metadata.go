package chartload

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Metadata reads a gzipped tar stream only as far as its first Chart.yaml, which Helm packs before
// everything else. Errors are those of Archive that concern that file and what comes before it.
func Metadata(r io.Reader, name string) (*chart.Metadata, error) {
	l, c, where := newLoader(), &chart.Chart{}, filepath.Base(name)
	f, err := l.find(r, "Chart.yaml", where)
	if err == nil {
		err = l.metadata(c, []*chart.File{f}, where)
	}
	if err == nil {
		err = c.Metadata.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", name, err)
	}
	return c.Metadata, nil
}

// find returns the first file of a name in an archive.
func (l *loader) find(r io.Reader, name, where string) (*chart.File, error) {
	tr, err := entries(r)
	if err != nil {
		return nil, err
	}
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s is missing", name)
		}
		if err != nil {
			return nil, fmt.Errorf("read archive: %w", err)
		}
		if f, err := l.entry(tr, header, where); err != nil || f != nil && f.Name == name {
			return f, err
		}
	}
}
