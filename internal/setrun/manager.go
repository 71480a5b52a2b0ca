package setrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// verdict records what the controller of an entry will do about it, and reports whether
// there is something to plan. An entry without a controller is always planned.
func (p *Planner) verdict(ctx context.Context, j *job) (bool, error) {
	if j.head == nil || j.head.Manager == nil {
		return true, nil
	}
	asked, err := p.engine(ctx, j)
	if err != nil {
		return false, err
	}
	m := j.head.Manager
	if err := m.Err(); err != nil && p.lacked(j, err) {
		j.note(err.Error())
		j.out.Verdict.Action = unsure
		return false, nil
	} else if err != nil {
		return false, err
	}
	is, err := p.Head.charts.load(ctx, j.head.Chart, m.Secrets()...)
	if err != nil {
		return false, err
	}
	head, err := versioned(m, is)
	if err != nil {
		return false, err
	}
	var base releaseset.Manager
	was, broken := p.before(ctx, j)
	if unmendable(broken) {
		return false, &BaseError{p.BaseName, broken}
	}
	if was != nil {
		base = j.managed.Manager
	}
	rewritten := j.managed != nil && p.rewritten(j)
	v := &releaseset.Verdict{Action: unsure, Notes: []string{j.elsewhere}}
	switch {
	case asked == nil && broken != nil:
		*v = p.unsettled(m, m.Next(nil, head, head, false))
	case asked == nil:
		*v = m.Next(base, head, cmp.Or(was, head), rewritten)
	case j.elsewhere == "":
		if v, err = p.live(ctx, j, head, rewritten); err != nil {
			return false, err
		}
	}
	uncreated := p.suspended(m.Applier(), v, false)
	if err := p.handover(ctx, j, v, uncreated); err != nil {
		return false, err
	}
	if j.out.Verdict != nil {
		v.Notes = append(v.Notes, j.out.Verdict.Notes...)
	}
	j.out.Verdict = v
	j.head = acting(j.head, v.Options)
	return v.Plans, nil
}

// lacked reports whether the error of an entry is that its chart is in another version of the repository, and is
// not due to the change: its chart has been there before, or there is nothing to compare with (see JudgeAbsent).
func (p *Planner) lacked(j *job, err error) bool {
	if !elsewhere(err) || !p.Base.declares() {
		return elsewhere(err)
	}
	return j.managed != nil && elsewhere(j.managed.Manager.Err())
}

// elsewhere reports whether the error of an entry is a *releaseset.ElsewhereError.
func elsewhere(err error) bool {
	_, is := errors.AsType[*releaseset.ElsewhereError](err)
	return is
}

// acting returns an entry with the options of an action; nil keeps its own.
func acting(e *releaseset.Entry, o *releaseset.Options) *releaseset.Entry {
	if o == nil {
		return e
	}
	acted := *e
	acted.Options = *o
	return &acted
}

// engine returns the engine that plans an entry, or nil if no cluster is asked. It acts as the
// entry's controller: as the service account that the controller impersonates, and with the
// release records where it keeps them. The entry's values are completed with what the controller reads.
func (p *Planner) engine(ctx context.Context, j *job) (*engine.Engine, error) {
	if j.asked != nil {
		return j.asked, nil
	}
	e := cmp.Or(j.head, j.base)
	if e.Manager != nil && e.Manager.Writer().Storage == "" {
		return nil, nil // there are no releases to plan; objects are compared with the base's
	}
	name, cluster := p.asked(e)
	asked, err := p.Clusters.Engine(name, cluster, "")
	if err != nil || asked == nil || e.Manager == nil {
		j.asked = asked
		return asked, err
	}
	completed := e.Manager.InCluster(*e, lookup(ctx, asked))
	if j.managed != nil && len(j.managed.Manager.Unknown()) > 0 {
		managed := j.managed.Manager.InCluster(*j.managed, lookup(ctx, asked))
		j.managed = &managed
	}
	if j.own = asked; e == j.head {
		j.head = &completed
	} else {
		j.base = &completed
	}
	w := completed.Manager.Writer()
	if j.elsewhere = w.Elsewhere; j.elsewhere != "" {
		j.asked = asked
		return asked, nil
	}
	as := func(user string) (*engine.Engine, error) { return p.Clusters.Engine(name, cluster, user) }
	if w.Kubeconfig != nil {
		as = func(user string) (*engine.Engine, error) { return p.Clusters.Foreign(ctx, w.Kubeconfig, user) }
		foreign, err := as("")
		if err != nil {
			j.asked, j.elsewhere = asked, fmt.Sprintf("the cluster of spec.kubeConfig can't be asked: %v", err)
			return asked, nil
		}
		asked = foreign
	}
	j.reader = true
	if name := w.ServiceAccount; name.Name != "" {
		impersonate := plan.Permission{Verb: "impersonate", Resource: "serviceaccounts", Namespace: name.Namespace, Name: name.Name}
		if asked.Cluster.Access(ctx, []plan.Permission{impersonate}).Denied[impersonate] {
			j.note(fmt.Sprintf("planned with your own permissions: you may not impersonate ServiceAccount %s, which helm-controller does", name))
		} else if asked, err = as("system:serviceaccount:" + name.Namespace + ":" + name.Name); err != nil {
			return nil, err
		} else {
			j.reader = false
		}
	}
	j.bare, j.asked = asked, asked.StoringIn(w.Storage, e.Namespace)
	j.asked.Locker = nil // the controller does not take our lock
	return j.asked, nil
}

// live returns the verdict based on the cluster's state. Live objects are compared only if it
// depends on them.
func (p *Planner) live(ctx context.Context, j *job, is *chart.Metadata, rewritten bool) (*releaseset.Verdict, error) {
	m, found := j.head.Manager, releaseset.Live{Lookup: lookup(ctx, j.own), Commit: p.Commit, Change: p.Base != nil}
	if j.managed != nil {
		found.Base = j.managed.Manager
	}
	found.Records, found.Unreadable = j.asked.Records(ctx, j.head.Release())
	if found.Unreadable != nil && !apierrors.IsForbidden(found.Unreadable) {
		return nil, found.Unreadable
	}
	v, err := m.Live(found, is, rewritten)
	if err == nil && v.Leaves != nil {
		v.Notes = append(v.Notes, p.leaving(ctx, j, &v))
	}
	if err != nil || !v.Compares {
		return &v, err
	}
	overlook, err := m.Overlook()
	if err != nil {
		return nil, err
	}
	o := options(j.head.Options, p.Defaults)
	o.FieldManager = m.Writer().FieldManager
	corrected, err := j.asking(j.asked, func(e *engine.Engine) (*plan.Plan, error) {
		return e.PlanDrift(ctx, j.head.Release(), o, plan.DriftScope{Overlook: overlook})
	})
	if err != nil {
		return nil, err
	}
	found.Drift = &corrected.Document
	if v, err = m.Live(found, is, rewritten); v.Plans {
		j.drift = corrected
	}
	return &v, err
}

// lookup returns a function that reads objects of a cluster with the user's own permissions; a
// missing object is nil.
func lookup(ctx context.Context, asked *engine.Engine) releaseset.Lookup {
	return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		object, err := asked.Cluster.Lookup(ctx, apiVersion, kind, namespace, name)
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, err
		}
		return object.Object, nil
	}
}

// rewritten reports whether the files of a chart in the tree have changed, or those that
// replace its values.
func (p *Planner) rewritten(j *job) bool {
	if j.head.Chart.Path == "" || j.managed.Chart.Path == "" {
		return false
	}
	is, err := p.Head.charts.sum(j.head.Chart)
	was, baseErr := p.Base.charts.sum(j.managed.Chart)
	return err != nil || baseErr != nil || is != was || p.Head.valuesSum(j.head.Manager) != p.Base.valuesSum(j.managed.Manager)
}

// valuesSum returns checksums of the files that replace a chart's values, or their names if
// they are in the chart.
func (s *Side) valuesSum(m releaseset.Manager) string {
	own := m.ChartValues()
	var sums []string
	for _, name := range own.Files {
		if own.InChart {
			sums = append(sums, name)
		} else {
			sums = append(sums, s.fileSum(name))
		}
	}
	return strings.Join(sums, " ")
}

// chartOf replaces the head's chart with the base's if the controller keeps the old one.
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

// versioned returns the metadata of a chart with the version that its controller gives it.
func versioned(m releaseset.Manager, of loaded) (*chart.Metadata, error) {
	version, err := m.Version(of.chart.Metadata, of.pin)
	if version == "" || err != nil {
		return of.chart.Metadata, err
	}
	out := *of.chart.Metadata
	out.Version = version
	return &out, nil
}

// version sets the chart's version to the one that the controller gives it.
func (j *job) version(d *engine.Deployment) {
	v := j.out.Verdict
	if v == nil || v.Version == "" || v.OldChart || v.Version == d.Source.Chart.Metadata.Version {
		return
	}
	c, metadata := *d.Source.Chart, *d.Source.Chart.Metadata
	metadata.Version, c.Metadata = v.Version, &metadata
	d.Source.Chart = &c
}

// note adds a sentence to the verdict.
func (j *job) note(text string) {
	if j.out.Verdict == nil {
		j.out.Verdict = &releaseset.Verdict{}
	}
	j.out.Verdict.Notes = append(j.out.Verdict.Notes, text)
}

// unknown returns a prefix for the error of a release some of whose values are not known,
// or "".
func (j *job) unknown() string {
	if len(j.missing()) == 0 {
		return ""
	}
	return "can't be planned without " + strings.Join(j.missing(), ", ") + ": "
}

// missing returns the objects that values come from but whose content is not known.
func (j *job) missing() []string {
	if j.head == nil || j.head.Manager == nil {
		return nil
	}
	return j.head.Manager.Unknown()
}

// estimated reports whether an object of the plan contains values that are not known.
func (j *job) estimated(body map[string]any) bool {
	return len(j.missing()) > 0 && j.head.Manager.Estimated(body)
}
