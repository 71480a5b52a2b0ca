package dependency

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// packed returns the archive in charts/ that holds the same chart, or nil. Its bytes may differ
// from ours: Helm packs folders differently, and unpacks the archives in them.
func (f *folder) packed(c *chart.Chart) []byte {
	for _, a := range f.archives {
		if a.chart == nil || a.chart.Name != c.Name() || a.chart.Version != c.Metadata.Version {
			continue
		}
		if there, _, err := chartload.Archive(bytes.NewReader(a.data), a.file); err == nil && sameChart(there, c) {
			return a.data
		}
	}
	return nil
}

// sameChart reports whether two charts render the same and hold the same files.
func sameChart(a, b *chart.Chart) bool {
	if !sameJSON(a.Metadata, b.Metadata) || !sameJSON(a.Values, b.Values) || !bytes.Equal(a.Schema, b.Schema) {
		return false
	}
	if !sameFiles(a.Templates, b.Templates) || !sameFiles(a.Files, b.Files) {
		return false
	}
	byName := func(x, y *chart.Chart) int { return strings.Compare(x.Name(), y.Name()) }
	subA, subB := slices.Clone(a.Dependencies()), slices.Clone(b.Dependencies())
	slices.SortStableFunc(subA, byName)
	slices.SortStableFunc(subB, byName)
	return slices.EqualFunc(subA, subB, sameChart)
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func sameFiles(a, b []*chart.File) bool {
	content := func(files []*chart.File) map[string][]byte {
		out := map[string][]byte{}
		for _, f := range files {
			out[f.Name] = f.Data
		}
		return out
	}
	return sameJSON(content(a), content(b))
}
