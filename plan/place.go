package plan

import "github.com/kubectl-release/kubectl-release/internal/manifest"

// Place is a line of a file that people have written: of values, of a chart, of a set of
// releases.
type Place struct {
	// File is a path with slashes: relative to the repository's root where it lies in a
	// repository, else as it was named.
	File string `json:"file"`
	// Line counts from 1; 0 is the file as a whole.
	Line int `json:"line,omitempty"`
}

// Places look up the lines of files that parts of a plan come from.
type Places struct {
	Release Place
	// Value returns the place of one of the user's values, by its path as in Change.Path.
	Value func(path string) Place
	// Object returns the place of an object that the template source renders.
	Object func(source string, id manifest.ID) Place
}

// mostPlaced limits for how many values the place is looked up: each look-up reads files.
const mostPlaced = 100

// Locate fills in the places of the plan's release, values and steps.
func (p *Plan) Locate(at Places) {
	p.Place = at.Release
	for i := range p.Values[:min(len(p.Values), mostPlaced)] {
		if p.Values[i].Cause == CauseValues {
			p.Values[i].Place = at.Value(p.Values[i].Path)
		}
	}
	p.Steps(func(_ StageName, s *Step) {
		// A deleted object's template belongs to the last revision's chart.
		if s.Source != "" && (s.Op != OpDelete || s.HookDeletion()) {
			s.Place = at.Object(s.Source, s.Object)
		}
	})
}

// Entry is the document of a plan that is one of a set's: its place is that of the entry,
// and its cluster is called as the set calls it.
func (p Document) Entry(cluster string, at Place) *Document {
	p.Place, p.EntryName = at, p.Release.String()
	if cluster != "" {
		p.Cluster.Context = cluster
		p.EntryName += "@" + cluster
	}
	return &p
}
