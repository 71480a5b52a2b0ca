package repository

import (
	"reflect"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// apiVersion is that of HelmReleases.
const apiVersion = flux.HelmGroup + "/v2"

// Storage is where the records are: in the HelmRelease's namespace, and not its
// target's.
func (m *Managed) Storage() release.Key {
	return release.Key{Namespace: m.hr.StorageNamespace(), Name: m.hr.ReleaseName()}
}

// Live decides by the HelmRelease in the cluster: its status, with the spec of the
// repository. Where that differs from the live one the generation is the next.
// Dependencies are taken as they are in the cluster; a readyExpr is not evaluated.
func (m *Managed) Live(lookup releaseset.Lookup, records []*release.Revision, is *chart.Metadata, rewritten bool) (releaseset.Verdict, error) {
	object, err := lookup(apiVersion, flux.KindHelmRelease, m.hr.Metadata.Namespace, m.hr.Metadata.Name)
	if err != nil {
		return releaseset.Verdict{}, err
	}
	in := decision.Input{Records: records, Chart: decision.Chart{Name: is.Name, Version: is.Version, Rewritten: rewritten}}
	if len(m.unknown) == 0 {
		in.ValuesDigest = m.values
	}
	next := *m.hr
	next.Metadata.Generation = 1
	var before *Managed
	was := is
	if object != nil {
		live, err := flux.DecodeHelmRelease(object)
		if err != nil {
			return releaseset.Verdict{}, err
		}
		before = &Managed{hr: live, git: m.git}
		m.over(&next, live)
		in.Chart.Version = m.known(is.Version, live.Status.LastAttemptedRevision)
		was = &chart.Metadata{Name: is.Name, Version: live.Status.LastAttemptedRevision}
	}
	in.HelmRelease = &next
	notes := m.notes
	if in.Dependencies, err = dependencies(lookup, &next); err != nil {
		return releaseset.Verdict{}, err
	}
	for _, dep := range in.Dependencies {
		if dep.Expression {
			m.notes = append(m.notes, "readyExpr of dependency "+dep.Name+" is not evaluated here")
		}
	}
	v := m.verdict(in, before, was)
	m.notes = notes
	return v, nil
}

// over puts the HelmRelease over the live one.
func (m *Managed) over(next, live *flux.HelmRelease) {
	next.Metadata.Generation, next.Metadata.Annotations, next.Status = live.Metadata.Generation, live.Metadata.Annotations, live.Status
	if !reflect.DeepEqual(next.Spec.Defaulted(), live.Spec.Defaulted()) {
		next.Metadata.Generation++
	}
}

// known is the chart's version as helm-controller sees it: where its metadata is not
// known, that of the last attempt, if it is the same version.
func (m *Managed) known(own, attempted string) string {
	core, _, _ := strings.Cut(attempted, "+")
	if mine, _, _ := strings.Cut(own, "+"); m.estimated() && mine == core {
		return attempted
	}
	return own
}

// dependencies are the HelmReleases of spec.dependsOn as they are in the cluster.
func dependencies(lookup releaseset.Lookup, hr *flux.HelmRelease) ([]decision.Dependency, error) {
	var out []decision.Dependency
	for _, dep := range hr.Spec.DependsOn {
		namespace := dep.Namespace
		if namespace == "" {
			namespace = hr.Metadata.Namespace
		}
		d := decision.Dependency{Name: namespace + "/" + dep.Name, Expression: dep.ReadyExpr != "", Ready: true}
		object, err := lookup(apiVersion, flux.KindHelmRelease, namespace, dep.Name)
		if err != nil {
			return nil, err
		}
		if object != nil {
			if d.HelmRelease, err = flux.DecodeHelmRelease(object); err != nil {
				return nil, err
			}
		}
		out = append(out, d)
	}
	return out, nil
}
