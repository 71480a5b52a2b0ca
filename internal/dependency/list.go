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

// Status is a dependency as it is in Chart.yaml, with its status in charts/:
// see resolve.Status.
type Status struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository"`
	Status     string `json:"status"`
}

// List returns what a chart depends on and whether charts/ has it, with warnings
// about anything else in charts/. path is a folder or an archive.
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
	lock, _ := resolve.LockIn(loaded) // a lock that can't be read guarantees nothing
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

// inCharts returns what is in charts/, sorted by name.
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
