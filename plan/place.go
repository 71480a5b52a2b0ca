package plan

import "github.com/kubectl-release/kubectl-release/internal/manifest"

// Place is a line of a file that people write: a values file, a chart's file, a set of releases.
type Place struct {
	// File is a path with slashes: relative to the root of the repository that the file is in, or
	// as the user wrote it if it is in none.
	File string `json:"file"`
	// Line counts from 1; 0 means the whole file.
	Line int `json:"line,omitempty"`
}

// Places looks up the lines of files that parts of a plan come from.
type Places struct {
	Release Place
	// Value returns the place of one of the user's values, by its path as in Change.Path.
	Value func(path string) Place
	// Object returns the place of an object that the template source renders.
	Object func(source string, id manifest.ID) Place
}

// mostPlaced limits the number of values whose places are looked up: each look-up reads files.
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

// Entry returns a copy of the document as an entry of a set of releases: with the entry's place,
// and with the set's name for the cluster, if it has one.
func (p Document) Entry(cluster string, at Place) *Document {
	p.Place, p.EntryName = at, p.Release.String()
	if cluster != "" {
		p.Cluster.Context = cluster
		p.EntryName += "@" + cluster
	}
	return &p
}
