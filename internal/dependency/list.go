package dependency

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// Status is a dependency as Chart.yaml has it, and what charts/ has of it: see
// resolve.Status.
type Status struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository"`
	Status     string `json:"status"`
}

// List says what a chart depends on and what of it is there, and which charts are
// there without being dependencies. path is a folder or an archive.
func List(path string, o chartload.Options) ([]Status, []chart.Warning, error) {
	loaded, warnings, err := chartload.Alone(path, o)
	if err != nil {
		return nil, nil, err
	}
	files, err := chartload.Files(path, o)
	if err != nil {
		return nil, nil, err
	}
	have := inCharts(files)
	lock, _ := resolve.LockIn(loaded) // one that can't be read promises nothing
	list, declared := []Status{}, map[string]bool{}
	for _, d := range loaded.Metadata.Dependencies {
		declared[d.Name] = true
		list = append(list, Status{Name: d.Name, Version: d.Version, Repository: d.Repository, Status: resolve.Status(d, have, lock)})
	}
	for _, h := range have {
		what := ""
		switch {
		case h.Name == "":
			what = "it is not a chart"
		case !declared[h.Name]:
			what = "it is not in Chart.yaml"
		default:
			continue
		}
		warnings = append(warnings, chart.Warning{Where: chartsFolder + "/" + h.File, What: what})
	}
	return list, warnings, nil
}

// inCharts is what is in charts/, in the order of the names.
func inCharts(files []*chart.File) []resolve.InCharts {
	found := map[string]resolve.InCharts{}
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Name, chartsFolder+"/")
		name, below, inFolder := strings.Cut(rest, "/")
		if !ok || name == "" || name[0] == '.' || name[0] == '_' || path.Ext(f.Name) == ".prov" {
			continue
		}
		h := found[name]
		h.File = name
		switch {
		case inFolder && below == "Chart.yaml":
			var m chart.Metadata
			if yaml.Unmarshal(f.Data, &m) == nil {
				h.Name, h.Version = m.Name, m.Version
			}
		case !inFolder:
			h.Archive, h.Digest = path.Ext(name) == ".tgz", source.Digest(f.Data)
			if loaded, _, err := chartload.Archive(bytes.NewReader(f.Data), name); h.Archive && err == nil {
				h.Name, h.Version = loaded.Name(), loaded.Metadata.Version
			}
		}
		found[name] = h
	}
	out := make([]resolve.InCharts, 0, len(found))
	for _, h := range found {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b resolve.InCharts) int { return strings.Compare(a.File, b.File) })
	return out
}
