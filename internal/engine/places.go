package engine

import (
	"errors"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// TemplateError is an error of one of the chart's templates, with the line at fault.
type TemplateError struct {
	Err error
	// Place is the line of the template or, if that is in an archive, of the dependency in Chart.yaml.
	Place plan.Place
}

func (e *TemplateError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the place.
func (e *TemplateError) Unwrap() error { return e.Err }

// placed wraps a template's error in a *TemplateError.
func (s Source) placed(err error) error {
	var at *templating.Error
	if !errors.As(err, &at) {
		return err
	}
	place, text := s.ofTemplate(at.File)
	if text != "" && s.Folder != "" {
		place.Line = at.Line
	}
	return &TemplateError{Err: err, Place: place}
}

// locate sets the places in a plan: values are placed in the files that set them, objects in their
// templates, and the release in Chart.yaml.
func (s Source) locate(p *plan.Plan) {
	if p != nil {
		read := map[string]func(manifest.ID) plan.Place{}
		p.Locate(plan.Places{
			Release: s.inChart("Chart.yaml", 1), Object: func(source string, id manifest.ID) plan.Place {
				if read[source] == nil {
					read[source] = s.ofObjects(source)
				}
				return read[source](id)
			},
			Value: func(path string) plan.Place { return s.ofValue(jsontree.SplitPath(path)) },
		})
	}
}

// ofValue returns the line that sets a value or, for a removed value, that of the table that
// contained it.
func (s Source) ofValue(path []string) plan.Place {
	for ; len(path) > 0 && s.Origins != nil; path = path[:len(path)-1] {
		if at := s.Origins([][]string{path})[0]; at.Name != "" {
			if at.Line == 0 {
				break
			}
			return plan.Place{File: s.path(at.Name), Line: at.Line}
		}
	}
	return plan.Place{}
}

// ofObjects returns a function for the lines where objects begin in the template source.
func (s Source) ofObjects(source string) func(manifest.ID) plan.Place {
	place, text := s.ofTemplate(source)
	lines := manifest.ReadTemplateLines(text)
	return func(id manifest.ID) plan.Place {
		if text != "" && s.Folder != "" {
			place.Line = lines.Line(id)
		}
		return place
	}
}

// ofTemplate returns the file of the template source, which begins with the chart's name, and its text.
// A template in an archive in charts/ is placed at the dependency in Chart.yaml, without a text.
func (s Source) ofTemplate(source string) (place plan.Place, text string) {
	_, name, _ := strings.Cut(source, "/")
	if own, ok := s.file(name); ok {
		return s.inChart(name, 0), own
	}
	subchart, _, _ := strings.Cut(strings.TrimPrefix(name, "charts/"), "/")
	declared, _ := s.file("Chart.yaml")
	return s.inChart("Chart.yaml", max(values.Line([]byte(declared), []string{"dependencies", subchart}), 1)), ""
}

// place returns the line that a warning points to, and whether the warning is about values or about
// the chart.
func (s Source) place(w chart.Warning) (plan.ProblemKind, plan.Place) {
	name, inside := strings.CutPrefix(w.File, s.Chart.Name()+"/")
	_, ofChart := s.file(name)
	switch {
	case inside && ofChart:
		return plan.ProblemChart, s.inChart(name, max(w.Line, 1))
	case w.File != "":
		return plan.ProblemValues, plan.Place{File: s.path(w.File), Line: w.Line}
	case strings.HasPrefix(w.Where, "--set"):
		return plan.ProblemValues, plan.Place{}
	}
	return plan.ProblemChart, plan.Place{}
}

// inChart returns the place of a line in one of the chart's files. Without a folder, it is that of
// Source.File.
func (s Source) inChart(name string, line int) plan.Place {
	switch {
	case s.Folder != "":
		return plan.Place{File: s.path(strings.TrimSuffix(s.Folder, "/") + "/" + name), Line: line}
	case s.File != "":
		return plan.Place{File: s.path(s.File), Line: 1}
	}
	return plan.Place{}
}

func (s Source) path(name string) string {
	if s.Path == nil {
		return name
	}
	return s.Path(name)
}

// file returns one of the chart's files as it was read.
func (s Source) file(name string) (text string, ok bool) {
	for _, f := range s.Chart.Raw {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}
