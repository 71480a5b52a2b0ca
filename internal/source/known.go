package source

import (
	"fmt"
	"os"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// ChartNames returns the names of a repository's charts, in the index's order. It reads
// them from the file next to the cached index that Helm's completion reads too, since an
// index may have 30 MB. Errors: there is no such file; repo update writes it.
func (s *Sources) ChartNames(repository string) ([]string, error) {
	text, err := os.ReadFile(s.Paths.charts(repository))
	if err != nil {
		return nil, fmt.Errorf("read the names of the charts of %s: %w", repository, err)
	}
	return strings.Fields(string(text)), nil
}

// ChartVersions returns the versions of a chart in the cached index of a repository, newest
// first; none if the index does not have the chart. Errors: *NoIndexError; the chart's entries
// can't be decoded.
func (s *Sources) ChartVersions(repository, name string) ([]resolve.Entry, error) {
	index, err := s.readIndex(repository, resolve.Only(name))
	if err != nil {
		return nil, err
	}
	entries, _, err := index.Versions(name)
	return entries, err
}
