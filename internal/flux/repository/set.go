package repository

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/options"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// Set returns the HelmReleases as entries of a set, each under its release's name.
// One that can't be read is in the set's Unread; one whose chart or values can't be
// found is an entry whose manager says why.
func (r *Repository) Set() *releaseset.Set {
	out := &releaseset.Set{Unread: slices.Clone(r.Unread), Appliers: r.appliers, Absent: r.absent, Clusters: map[string]releaseset.Cluster{}}
	var all []*flux.HelmRelease
	keys := map[string]releaseset.Key{}
	for _, p := range r.objects {
		if group(p.object) != flux.HelmGroup || p.object["kind"] != flux.KindHelmRelease {
			continue
		}
		hr, without, err := r.helmRelease(p)
		if err != nil {
			out.Unread = append(out.Unread, p.from+": "+err.Error())
			r.broken(p.owner, "has a HelmRelease that can't be read")
			continue
		}
		all = append(all, hr)
		e := r.entry(hr, p)
		if m := e.Manager.(*Managed); len(without) > 0 {
			m.without, m.fields = without, append(m.fields, assumed(without))
		}
		keys[hr.String()] = e.Key
		if e.Cluster != "" {
			out.Clusters[e.Cluster] = releaseset.Cluster{}
		}
		out.Entries = append(out.Entries, e)
	}
	out.Warnings = slices.Concat(r.Warnings, r.outdated(), r.unapplied(), r.generated()) // entries add to them
	r.noteOtherwise(out.Entries)
	cycles := decision.Cycles(all)
	for i, hr := range all {
		e := &out.Entries[i]
		managed := e.Manager.(*Managed)
		cycle := cycles[hr.String()]
		for _, dep := range hr.Spec.DependsOn {
			name := dep.In(hr.Metadata.Namespace).String()
			if cycles[name] != nil && (dep.ReadyExpr == "" || slices.Contains(cycle, hr.String())) {
				managed.cycle = cycle
			}
			if key, ok := keys[name]; ok && cycle == nil {
				e.Needs = append(e.Needs, key)
			}
		}
	}
	return out
}

// generators are kinds from whose objects a controller creates HelmReleases or Applications.
var generators = []struct{ group, kind string }{{"fluxcd.controlplane.io", "ResourceSet"}, {"argoproj.io", "ApplicationSet"}}

// EachGenerator visits the objects from which a controller creates HelmReleases or Applications, with the
// file or folder each is from.
func (r *Repository) EachGenerator(visit func(object map[string]any, from string)) {
	for _, g := range generators {
		r.Each(g.group, g.kind, visit)
	}
}

// generated returns warnings about objects from which others are created in the cluster.
func (r *Repository) generated() (out []string) {
	r.EachGenerator(func(object map[string]any, from string) {
		name := strings.TrimPrefix(identity(object), group(object)+"/")
		out = append(out, fmt.Sprintf("%s: %s generates objects that are not known here: releases among them are not planned", from, name))
	})
	return out
}

// helmRelease reads and validates one. What SOPS has encrypted in it is replaced with markers; without are the
// fields that can't have any.
func (r *Repository) helmRelease(p placed) (hr *flux.HelmRelease, without []string, err error) {
	object := p.object
	if sealed(object) {
		object, _ = marked(object).(map[string]any)
		delete(object, "sops")
	}
	if hr, without, err = decoded(object, flux.DecodeHelmRelease); err != nil {
		return nil, nil, err
	}
	hr.Object = object // with its markers: a cluster may know what they stand for
	if err := hr.Validate(); err != nil {
		return nil, nil, fmt.Errorf("HelmRelease %s: %w", hr, err)
	}
	return hr, without, nil
}

func (r *Repository) entry(hr *flux.HelmRelease, p placed) releaseset.Entry {
	from := releaseset.Place{File: p.from}
	m := &Managed{in: r, hr: hr, owner: p.owner, from: from, hidden: p.secrets, fields: unplanned(hr), helmChart: helmChart(hr, r.source)}
	e := releaseset.Entry{
		Key:    releaseset.Key{Cluster: hr.Cluster(), Namespace: hr.ReleaseNamespace(), Name: hr.ReleaseName()},
		Labels: hr.Metadata.Labels, Options: options.Upgrade(hr, nil), From: from, Manager: m,
	}
	e.Chart, m.err = r.chart(hr, p.owner, m)
	if sealed(p.object) {
		m.sealed = []string{"what is encrypted in HelmRelease " + hr.String()}
	}
	m.sealed = union(m.sealed, p.unknown)
	m.origins = r.origins(hr, p)
	e.Values = m.compose(nil)
	return e
}

// chart returns where the chart comes from.
func (r *Repository) chart(hr *flux.HelmRelease, owner *flux.Kustomization, m *Managed) (releaseset.Chart, error) {
	ref := hr.ChartSource()
	if given := r.reading.Sources[ref.String()]; given != "" {
		return r.place(given, ""), nil
	}
	if hr.Spec.Chart != nil {
		t := hr.Spec.Chart.Spec
		m.unverified(t.Verify, "spec.chart.spec.verify")
		if hr.Spec.Chart.Kind == flux.KindOCIRepository {
			return m.oci(t.URL, t.Ref, t.LayerSelector), nil
		}
		return r.fromSource(*t.SourceRef, hr.Metadata.Namespace, chartOf{t.Chart, t.Version, t.ValuesFiles, t.IgnoreMissingValuesFiles}, owner, m)
	}
	source, err := m.chartSource(ref)
	switch {
	case err != nil:
		return releaseset.Chart{}, err
	case source == nil:
		return releaseset.Chart{}, fmt.Errorf("%s is not in the repository: give its chart with --source %s=DIR", ref, ref)
	case source.Kind == flux.KindOCIRepository:
		return m.oci(source.Spec.URL, source.Spec.Ref, source.Spec.LayerSelector), nil
	case source.Kind == flux.KindHelmChart && source.Spec.SourceRef != nil:
		s := source.Spec
		return r.fromSource(*s.SourceRef, source.Metadata.Namespace, chartOf{s.Chart, s.Version, s.ValuesFiles, s.IgnoreMissingValuesFiles}, owner, m)
	}
	return releaseset.Chart{}, fmt.Errorf("a chart of %s can't be fetched here: give it with --source %s=DIR", ref, ref)
}

// chartSource returns a source of m's chart. What Secrets contribute to it is hidden as in m itself.
func (m *Managed) chartSource(ref flux.Reference) (*flux.Source, error) {
	if p, ok := m.in.find(flux.SourceGroup, ref.Kind, ref.Namespace, ref.Name); ok {
		m.hidden = slices.Concat(m.hidden, p.secrets)
	}
	source, err := m.in.source(ref)
	if source != nil {
		m.unverified(source.Spec.Verify, "spec.verify of "+nameOf(ref))
	}
	return source, err
}

// unverified notes that signatures are not verified, if a field says that source-controller does.
func (m *Managed) unverified(v *flux.Verification, field string) {
	if v != nil {
		m.fields = append(m.fields, field+": signatures are not verified here")
	}
}

// place returns a chart that a user has named, or one below what was named: a folder or an
// archive in the tree, or something that has to be opened first.
func (r *Repository) place(given, below string) releaseset.Chart {
	name := path.Join(given, below)
	info, err := fs.Stat(r.tree, given)
	if path.IsAbs(given) || below != "" && err == nil && !info.IsDir() {
		return releaseset.Chart{Name: name}
	}
	return releaseset.Chart{Path: name}
}

// chartOf has the fields that HelmChart and its template share.
type chartOf struct {
	name, version string
	valuesFiles   []string
	ignoreMissing bool
}

// fromSource returns a chart from a HelmRepository, a named source or the repository itself.
func (r *Repository) fromSource(ref flux.Reference, namespace string, c chartOf, owner *flux.Kustomization, m *Managed) (releaseset.Chart, error) {
	ref = ref.In(namespace)
	if given := r.given(ref); given != "" {
		m.chartValues = c.values()
		if ref.Kind == flux.KindHelmRepository {
			m.chartValues.InChart = true
			return r.place(given, ""), nil
		}
		for i, name := range m.chartValues.Files {
			m.chartValues.Files[i] = path.Join(given, releaseset.InTree(name))
		}
		return r.place(given, releaseset.InTree(c.name)), nil
	}
	source, err := m.chartSource(ref)
	if err != nil {
		return releaseset.Chart{}, err
	}
	if ref.Kind != flux.KindHelmRepository {
		why, err := r.foreign(ref)
		if err == nil && why == "" {
			err = r.lacksChart(ref, c.name)
		}
		if err == nil && why == "" && !r.has(ref, c.name, owner) {
			why = "is not in this repository"
		}
		if err != nil || why != "" {
			return releaseset.Chart{}, cmp.Or(err, fmt.Errorf("chart %s is of %s, which %s: give it with --source %s=DIR%s", c.name, ref, why, ref, r.remedy(ref)))
		}
		m.git, m.repository = true, ref
		return r.packaged(ref, c, m)
	}
	if source == nil {
		return releaseset.Chart{}, fmt.Errorf("chart %s is of %s, which is not in this repository: give it with --source %s=DIR", c.name, ref, ref)
	}
	m.chartValues = c.values()
	m.chartValues.InChart = true
	version := c.version
	if version == "*" {
		version = ""
	}
	if source.Spec.Type == "oci" {
		return releaseset.Chart{Name: strings.TrimSuffix(source.Spec.URL, "/") + "/" + c.name, Version: version}, nil
	}
	return releaseset.Chart{Name: c.name, Repo: source.Spec.URL, Version: version, AnyBuild: true}, nil
}

// packaged returns a chart in the repository itself, from the files that source-controller keeps.
func (r *Repository) packaged(ref flux.Reference, c chartOf, m *Managed) (releaseset.Chart, error) {
	part, err := r.partOf(ref)
	if err != nil {
		return releaseset.Chart{}, err
	}
	m.chartValues = c.values()
	var kept []string
	for _, name := range m.chartValues.Files {
		name = releaseset.InTree(name)
		switch omitted := part.Omits(name, 0); {
		case !omitted:
			kept = append(kept, name)
		case !c.ignoreMissing:
			return releaseset.Chart{}, fmt.Errorf("%s of spec.chart.spec.valuesFiles is excluded from %s by .sourceignore or spec.ignore", name, ref)
		}
	}
	m.chartValues.Files = kept
	return releaseset.Chart{Path: releaseset.InTree(c.name), Source: part}, nil
}

// values returns the files that replace the chart's own values.
func (c chartOf) values() releaseset.ChartValues {
	if !replacing(c.valuesFiles) {
		return releaseset.ChartValues{}
	}
	return releaseset.ChartValues{Files: slices.Clone(c.valuesFiles), IgnoreMissing: c.ignoreMissing}
}
