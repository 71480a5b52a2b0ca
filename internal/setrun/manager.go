package setrun

import (
	"context"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// verdict notes what the controller of an entry does about it, and says whether
// there is something to plan. An entry without one is always planned.
func (p *Planner) verdict(ctx context.Context, j *job) (bool, error) {
	if j.head == nil || j.head.Manager == nil {
		return true, nil
	}
	m := j.head.Manager
	if err := m.Err(); err != nil {
		return false, err
	}
	is, err := p.Head.charts.load(ctx, j.head.Chart)
	if err != nil {
		return false, err
	}
	var base releaseset.Manager
	was, rewritten := is.chart.Metadata, false
	if j.managed != nil && j.managed.Manager.Err() == nil {
		before, err := p.Base.charts.load(ctx, j.managed.Chart)
		if err != nil {
			return false, &BaseError{p.BaseName, err}
		}
		base, was, rewritten = j.managed.Manager, before.chart.Metadata, p.rewritten(j)
	}
	v := m.Next(base, is.chart.Metadata, was, rewritten)
	j.out.Verdict = &v
	return v.Plans, nil
}

// rewritten says whether the files of a chart in the tree differ.
func (p *Planner) rewritten(j *job) bool {
	if j.head.Chart.Path == "" || j.managed.Chart.Path == "" {
		return false
	}
	is, err := p.Head.charts.sum(j.head.Chart.Path)
	was, baseErr := p.Base.charts.sum(j.managed.Chart.Path)
	return err != nil || baseErr != nil || is != was
}

// left notes what becomes of an entry that has left the set, and says whether it is
// uninstalled.
func (j *job) left() bool {
	v := j.base.Manager.Removed()
	if j.successor {
		v = releaseset.Verdict{Action: "uninstall", Plans: true, Notes: []string{j.base.Manager.String() + " moves to another release: this one is uninstalled with all its objects"}}
	}
	j.out.Verdict = &v
	return v.Plans
}

// unknown begins the error of a release that can't be planned while some of its values
// are not known.
func (j *job) unknown() string {
	if j.head == nil || j.head.Manager == nil || len(j.head.Manager.Unknown()) == 0 {
		return ""
	}
	return "can't be planned without " + strings.Join(j.head.Manager.Unknown(), ", ") + ": "
}

// withValues is the chart with other values of its own: those of files, in order.
func (s *Side) withValues(c *chart.Chart, m releaseset.Manager) (*chart.Chart, error) {
	files, ignoreMissing := m.ChartValues()
	if len(files) == 0 {
		return c, nil
	}
	e := &releaseset.Entry{}
	for _, name := range files {
		e.Values = append(e.Values, releaseset.Value{File: name, Optional: ignoreMissing})
	}
	sources, read := s.values(e)
	merged, _, err := sources.Merge(read)
	if err != nil {
		return nil, err
	}
	out := *c
	out.Values = merged
	return &out, nil
}
