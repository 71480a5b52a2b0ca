package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// matrix shows how the changes of a release differ between its clusters.
type matrix struct {
	// name is the release's name, like are other releases with the same matrix.
	name string
	like []string
	// columns are the clusters, reasons say why one may differ from the others.
	columns, reasons []string
	rows             []matrixRow
	// alike is the number of changes that are the same in all clusters.
	alike int
}

// matrixRow is a change in each cluster.
type matrixRow struct {
	what  string
	cells []string
}

// matricesOf compares releases of one name and chart in several clusters; alike are the names of
// those whose changes are the same in all. Releases with equal matrices share one.
func matricesOf(d *releaseset.Document) (out []matrix, alike []string) {
	var order []string
	of := map[string][]*releaseset.Planned{}
	for i := range d.Releases {
		r := &d.Releases[i]
		key := r.Release.Name + " " + path.Base(strings.Fields(r.Chart.String() + " .")[0])
		if of[key] == nil {
			order = append(order, key)
		}
		of[key] = append(of[key], r)
	}
	known := map[string]int{}
	for _, key := range order {
		releases := of[key]
		planned := slices.ContainsFunc(releases, func(r *releaseset.Planned) bool { return r.Plan != nil })
		if len(releases) < 2 || !planned {
			continue
		}
		m := newMatrix(releases)
		if len(m.rows) == 0 {
			alike = append(alike, m.name)
			continue
		}
		signature := strings.ReplaceAll(fmt.Sprint(m.columns, m.reasons, m.rows, m.alike), m.name, "*")
		if i, ok := known[signature]; ok {
			out[i].like = append(out[i].like, m.name)
			continue
		}
		known[signature] = len(out)
		out = append(out, m)
	}
	return out, alike
}

func newMatrix(releases []*releaseset.Planned) matrix {
	releases = slices.Clone(releases)
	slices.SortStableFunc(releases, func(a, b *releaseset.Planned) int {
		return cmp.Or(strings.Compare(columnOf(a), columnOf(b)), strings.Compare(a.Release.Namespace, b.Release.Namespace))
	})
	m := matrix{name: escape.Line(releases[0].Release.Name), columns: columnsOf(releases)}
	var order []string
	known := map[string]bool{}
	all := make([]map[string]string, len(releases))
	for i, r := range releases {
		all[i] = effectsOf(r, func(what string) {
			if !known[what] {
				order, known[what] = append(order, what), true
			}
		})
	}
	for _, what := range order {
		row := matrixRow{what: what}
		for i, r := range releases {
			row.cells = append(row.cells, cellOf(r, all[i][what]))
		}
		if slices.ContainsFunc(row.cells, func(c string) bool { return c != row.cells[0] }) {
			m.rows = append(m.rows, row)
		} else {
			m.alike++
		}
	}
	m.reasons = differing(releases)
	return m
}

// columnsOf returns what tells the releases apart: their clusters, their namespaces, or both.
func columnsOf(releases []*releaseset.Planned) []string {
	namespace := func(r *releaseset.Planned) string { return escape.Line(r.Release.Namespace) }
	var names []string
	for _, name := range []func(*releaseset.Planned) string{
		columnOf, namespace, func(r *releaseset.Planned) string { return namespace(r) + "@" + columnOf(r) },
	} {
		names = nil
		for _, r := range releases {
			names = append(names, name(r))
		}
		if len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names) {
			break
		}
	}
	return names
}

// columnOf returns the cluster, or the namespace if the cluster has no name.
func columnOf(r *releaseset.Planned) string {
	if r.Cluster == "" {
		return escape.Line(r.Release.Namespace)
	}
	return escape.Line(r.Cluster)
}

// effectsOf returns what a plan does, by object and field; it calls see with each in order.
func effectsOf(r *releaseset.Planned, see func(what string)) map[string]string {
	out := map[string]string{}
	if r.Plan == nil {
		return out
	}
	names := newNamer(r.Plan)
	r.Plan.Steps(func(_ plan.StageName, s *plan.Step) {
		name := names.name(s.Object)
		add := func(what, text string) {
			see(what)
			out[what] = text
		}
		switch {
		case s.Op == plan.OpNone, s.Op == plan.OpWait, s.Op == plan.OpRecord, s.HookDeletion():
			return
		case s.Op != plan.OpPatch && s.Op != plan.OpRun, s.Hook != nil && s.Hook.Since == plan.HookNew:
			add(name, verb(s.Op))
		}
		if s.Op == plan.OpCreate || s.Op == plan.OpDelete {
			return
		}
		for _, c := range s.Changes {
			if c.OfLabel() {
				continue
			}
			const limit = 60
			text := pair(c, limit)
			if c.Cause == plan.CauseDrift {
				text += " ≠ " + cause(c)
			}
			add(name+" "+escape.Line(c.Path), text)
		}
	})
	return out
}

// cellOf returns a change in one cluster: "–" if nothing changes there.
func cellOf(r *releaseset.Planned, text string) string {
	switch {
	case text != "":
		return text
	case r.Error != "":
		return "can't be planned"
	case r.Plan == nil && r.Left:
		return leftTheSet
	case r.Plan == nil:
		return "not touched"
	}
	return "–"
}

// differing returns, for each release, the facts in which it differs from the others: they may be
// why its changes differ.
func differing(releases []*releaseset.Planned) []string {
	facts, counts := make([][]string, len(releases)), map[string]int{}
	for i, r := range releases {
		facts[i] = factsOf(r)
		for _, f := range facts[i] {
			counts[f]++
		}
	}
	out := make([]string, len(releases))
	for i := range facts {
		own := slices.DeleteFunc(facts[i], func(f string) bool { return counts[f] == len(releases) })
		out[i] = strings.Join(own, "; ")
	}
	return out
}

// factsOf returns what influences a plan besides the new chart and values.
func factsOf(r *releaseset.Planned) []string {
	if r.Plan == nil {
		return nil
	}
	p := r.Plan
	var out []string
	switch {
	case p.ChartFrom.Version != "":
		out = append(out, "it has chart "+escape.Line(p.ChartFrom.Version))
	case p.FromRevision == 0:
		out = append(out, "it is not installed yet")
	}
	if p.KubeVersion != "" {
		out = append(out, "Kubernetes "+escape.Line(strings.TrimPrefix(p.KubeVersion, "v")))
	}
	for _, c := range p.Values {
		const limit = 60
		out = append(out, "value "+escape.Line(c.Path)+" "+pair(c, limit))
	}
	if n := p.Summary.Drifted; n > 0 {
		out = append(out, Count(n, "object", "objects")+" drifted")
	}
	out = append(out, gravest(p)...)
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op != plan.OpRecord && s.Op != plan.OpWait && strings.Contains(s.APIVersion, "beta") {
			out = append(out, escape.Line(s.Object.Kind+" by "+s.APIVersion))
		}
	})
	return slices.Compact(out)
}
