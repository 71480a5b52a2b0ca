package chartload

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// subcharts loads what is in charts/, one group of files for each name below it, in the order of
// the names. (Helm's order is random: pkg/chart/v2/loader/load.go, LoadFiles, ranges over a map.)
func (l *loader) subcharts(c *chart.Chart, groups map[string][]*chart.File, where string, depth int) error {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		sub, err := l.subchart(name, groups[name], path.Join(where, "charts", name), depth+1)
		if err != nil {
			return fmt.Errorf("subchart charts/%s: %w", name, err)
		}
		c.AddDependency(sub)
	}
	return nil
}

func (l *loader) subchart(name string, files []*chart.File, where string, depth int) (*chart.Chart, error) {
	if path.Ext(name) == ".tgz" {
		if files[0].Name != "charts/"+name {
			return nil, fmt.Errorf("it is a folder, but it is named like an archive")
		}
		return l.archive(bytes.NewReader(files[0].Data), where, depth)
	}
	var own []*chart.File
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f.Name, "charts/"+name+"/"); ok {
			own = append(own, &chart.File{Name: rest, Data: f.Data, ModTime: f.ModTime})
		}
	}
	if own == nil {
		return nil, fmt.Errorf("charts/ may contain only charts, and names that begin with _ or a dot")
	}
	return l.assemble(own, where, depth)
}
