package setrun

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
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
	asked, err := p.Clusters.Engine(j.head.Cluster, p.Head.Set.Clusters[j.head.Cluster])
	if err != nil {
		return false, err
	}
	var v releaseset.Verdict
	if asked == nil {
		v = m.Next(base, is.chart.Metadata, was, rewritten)
	} else if v, err = live(ctx, asked, m, is.chart.Metadata, rewritten); err != nil {
		return false, err
	}
	j.out.Verdict = &v
	return v.Plans, nil
}

// live is the verdict by what is in the cluster. The engine looks for records in the
// release's own namespace.
func live(ctx context.Context, asked *engine.Engine, m releaseset.Manager, is *chart.Metadata, rewritten bool) (releaseset.Verdict, error) {
	records, err := asked.Records(ctx, m.Storage())
	if err != nil {
		return releaseset.Verdict{}, err
	}
	lookup := func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		object, err := asked.Cluster.Lookup(ctx, apiVersion, kind, namespace, name)
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, err
		}
		return object.Object, nil
	}
	return m.Live(lookup, records, is, rewritten)
}

// rewritten says whether the files of a chart in the tree differ, or those that replace
// its values.
func (p *Planner) rewritten(j *job) bool {
	if j.head.Chart.Path == "" || j.managed.Chart.Path == "" {
		return false
	}
	is, err := p.Head.charts.sum(j.head.Chart.Path)
	was, baseErr := p.Base.charts.sum(j.managed.Chart.Path)
	return err != nil || baseErr != nil || is != was || p.Head.valuesSum(j.head.Manager) != p.Base.valuesSum(j.managed.Manager)
}

// valuesSum stands for the files that replace a chart's values.
func (s *Side) valuesSum(m releaseset.Manager) string {
	files, _ := m.ChartValues()
	var sums []string
	for _, name := range files {
		sums = append(sums, s.fileSum(name))
	}
	return strings.Join(sums, " ")
}

// chartOf puts the chart of the base in the place of the head's where the controller
// keeps it.
func (p *Planner) chartOf(ctx context.Context, j *job, d *engine.Deployment) error {
	if j.out.Verdict == nil || !j.out.Verdict.OldChart || j.managed == nil {
		return nil
	}
	before, err := p.Base.deployment(ctx, j.managed, p.Defaults)
	if err != nil {
		return &BaseError{p.BaseName, err}
	}
	d.Source.Chart = before.Source.Chart
	return nil
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
