package setrun

import (
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// jobs returns the selected entries of both sides, in the order of their needs.
func (p *Planner) jobs() (out []*job, err error) {
	managed, stayed := map[string]*releaseset.Entry{}, map[string]*releaseset.Entry{}
	if p.Base != nil {
		for i := range p.Base.Set.Entries {
			if e := &p.Base.Set.Entries[i]; e.Manager != nil {
				managed[e.Manager.String()] = e
			}
		}
	}
	for i := range p.Head.Set.Entries {
		if e := &p.Head.Set.Entries[i]; e.Manager != nil {
			stayed[e.Manager.String()] = e
		}
	}
	waves, err := releaseset.Waves(p.Head.Set.Entries)
	if err != nil {
		return nil, err
	}
	before, left := p.matched(stayed)
	for _, e := range slices.Concat(waves...) {
		if !p.Selector.Selects(e) {
			continue
		}
		j := &job{out: planned(&e), head: &e, base: before[e.Key]}
		if e.Manager != nil {
			j.managed = managed[e.Manager.String()]
		}
		if j.base != nil && j.base.Manager != nil {
			j.successor = stayed[j.base.Manager.String()]
		}
		out = append(out, j)
	}
	for _, e := range left {
		if e.Uninstalled || !p.Selector.Selects(*e) {
			continue
		}
		j := &job{out: planned(e), base: e}
		j.out.Left = true
		if e.Manager != nil {
			j.successor = stayed[e.Manager.String()]
		}
		out = append(out, j)
	}
	return out, nil
}

// eachCommit returns a warning about the releases that a change touches only in that it is a commit; none if there
// are none. Each commit would have a hundred rows for them.
func eachCommit(jobs []*job) []string {
	var names []string
	why := ""
	for _, j := range jobs {
		if j.out.Touched || j.out.Verdict != nil || j.head == nil || j.head.Manager == nil {
			continue
		}
		if each := j.head.Manager.EachCommit(); each != "" {
			names, why = append(names, j.out.Key.String()), each
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
	default:
		names[0] += fmt.Sprintf(" and %d more", len(names)-1)
	}
	return []string{fmt.Sprintf("upgraded with each commit, which is a new version of the chart (%s), and otherwise not touched: %s", why, names[0])}
}

// renamed reports whether an object names another kubeconfig for its release than before: whether that is for
// another cluster is not known, unlike where one of the two is the cluster of the object itself.
func renamed(was, is *releaseset.Entry) bool {
	return was.Cluster != "" && is.Cluster != "" && was.Cluster != is.Cluster && is.Manager.Writer().Storage != ""
}

// matched returns the base's entries for those of the head, by the latter's keys, and those that have
// left the set. An entry is the same as before if its release is, whatever its cluster is called now,
// or else if its key is, or if its object only names another kubeconfig, which may be for the same cluster.
func (p *Planner) matched(stayed map[string]*releaseset.Entry) (before map[releaseset.Key]*releaseset.Entry, left []*releaseset.Entry) {
	if p.Base == nil {
		return nil, nil
	}
	before = map[releaseset.Key]*releaseset.Entry{}
	same, named, taken := map[releaseset.Identity]*releaseset.Entry{}, map[releaseset.Key]*releaseset.Entry{}, map[*releaseset.Entry]bool{}
	for i := range p.Base.Set.Entries {
		e := &p.Base.Set.Entries[i]
		same[p.Base.Set.Identity(e.Key)], named[e.Key] = e, e
	}
	match := func(key releaseset.Key, e *releaseset.Entry) {
		if e != nil && before[key] == nil && !taken[e] {
			before[key], taken[e] = e, true
		}
	}
	for _, e := range p.Head.Set.Entries {
		match(e.Key, same[p.Head.Set.Identity(e.Key)])
	}
	for _, e := range p.Head.Set.Entries {
		match(e.Key, named[e.Key])
	}
	for i := range p.Base.Set.Entries {
		was := &p.Base.Set.Entries[i]
		if is := was.Manager; is != nil {
			if e := stayed[is.String()]; e != nil && renamed(was, e) && was.Release() == e.Release() {
				match(e.Key, was)
			}
		}
	}
	for i := range p.Base.Set.Entries {
		if e := &p.Base.Set.Entries[i]; !taken[e] {
			left = append(left, e)
		}
	}
	return before, left
}

// unprunable returns why an entry that has left the set can't be uninstalled, nil if it can: its cluster's name is
// another cluster's now, whose release of that name is not the one to uninstall.
func (p *Planner) unprunable(e *releaseset.Entry) error {
	was := p.Base.Set.Clusters[e.Cluster]
	is, declared := p.Head.Set.Clusters[e.Cluster]
	if !declared || was.Context == is.Context { // a cluster without a context is that of the current one
		return nil
	}
	return fmt.Errorf("it has left the set, and can't be uninstalled: cluster %s had the context %q, and has %q now; declare the former under another name, or uninstall it there", e.Cluster, was.Context, is.Context)
}
