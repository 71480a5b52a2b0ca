package repository

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/expression"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// apiVersion is the apiVersion of HelmReleases.
const apiVersion = flux.HelmGroup + "/v2"

// Writer returns helm-controller as the writer. Unless spec says otherwise, its records are in
// the HelmRelease's namespace and not in the target's.
func (m *Managed) Writer() releaseset.Writer {
	out := releaseset.Writer{Storage: m.hr.StorageNamespace(), FieldManager: flux.FieldManager, Labels: m.hr.Origin()}
	if name := m.hr.Spec.ServiceAccountName; name != "" {
		out.ServiceAccount = types.NamespacedName{Namespace: m.hr.Metadata.Namespace, Name: name}
	}
	if m.hr.Spec.KubeConfig != nil && m.kubeconfig == nil {
		out.Elsewhere = "spec.kubeConfig names another cluster, and is not followed" + m.unreached + ": what happens there is not known"
	}
	if k := m.remote(); k != nil {
		out.Elsewhere = applier(k) + " applies to another cluster (spec.kubeConfig), which is not followed: what happens there is not known"
	}
	out.Kubeconfig = m.kubeconfig
	return out
}

// Live decides with the HelmRelease in the cluster: its status, and the spec from the
// repository. If that differs from the live spec, the generation is the next one.
// Dependencies are taken as they are in the cluster.
func (m *Managed) Live(has releaseset.Live, is *chart.Metadata, rewritten bool) (releaseset.Verdict, error) {
	object, err := has.Lookup(apiVersion, flux.KindHelmRelease, m.hr.Metadata.Namespace, m.hr.Metadata.Name)
	if err != nil {
		return releaseset.Verdict{}, err
	}
	in := decision.Input{
		Records: has.Records, Chart: decision.Chart{Name: is.Name, Version: is.Version, Rewritten: rewritten},
		ValuesDigest: m.values, Drift: found(has.Drift), Obstacles: m.obstacles(),
	}
	in.Obstacles.Records = has.Unreadable
	next := *m.hr
	next.Metadata.Generation = 1
	there := ""
	var before *Managed
	var proof []string
	var base *Managed
	was := is
	if object != nil {
		live, err := flux.DecodeHelmRelease(object)
		if err != nil {
			return releaseset.Verdict{}, err
		}
		before, there = m.now(live, has.Lookup), live.Metadata.Unapplied()
		next = *m.filled(live)
		m.over(&next, live)
		packaged := *m
		packaged.helmChart = helmChart(&next, m.in.source)
		m = &packaged // as the live HelmRelease has what is not known
		in.Chart.Version = m.known(is, live.Status.LastAttemptedRevision)
		was = &chart.Metadata{Name: is.Name, Version: live.Status.LastAttemptedRevision}
		if leavesCluster(live, &next) {
			forget(&next)
		}
		in.ValuesDigest, proof = m.proven(&next, live, has.Lookup)
		if m.replaces(has.Base) && in.ValuesDigest == live.Status.LastAttemptedConfigDigest {
			in.ValuesDigest, base, proof = "", has.Base.(*Managed), nil
		}
	} else if len(m.unknown) > 0 {
		in.ValuesDigest = ""
	}
	if v := m.held(&next, before, there); v != nil {
		return *v, nil
	}
	in.HelmRelease = &next
	looked, exact := m.source(has, before, is, &in)
	proof = append(proof, looked...)
	if in.Dependencies, err = dependencies(has.Lookup, &next, object); err != nil {
		return releaseset.Verdict{}, err
	}
	if rewritten && m.metadata() == byDigest && in.Chart.Version != is.Version {
		exact = false // it has the digest of the artifact that the change replaces
	}
	seen := version{in.Chart.Version, exact}
	if !exact {
		in.Chart.Version = m.renewed(in.Chart.Version, before, rewritten || m.git && has.Change)
	}
	v := m.verdict(in, before, was, seen)
	if v.Leaves != nil && before != nil && renamesCluster(before.hr, &next) {
		m.unsettled(&v)
	}
	if base != nil {
		m.compared(&v, base)
	}
	v.Notes = append(v.Notes, proof...)
	if has.Drift != nil {
		v.Notes = append(v.Notes, m.drifted(has.Drift)...)
	}
	return v, nil
}

// now returns the live HelmRelease. A HelmChart that can't be read in the cluster is taken to be the one that is planned.
func (m *Managed) now(live *flux.HelmRelease, lookup releaseset.Lookup) *Managed {
	out := &Managed{hr: live, helmChart: helmChart(live, func(ref flux.Reference) (*flux.Source, error) { return liveSource(lookup, ref) })}
	if live.Spec.ChartRef != nil && out.helmChart == nil {
		out.helmChart = m.helmChart
	}
	return out
}

// obstacles returns what ends each pass over the HelmRelease as it is in the repository.
func (m *Managed) obstacles() (o decision.Obstacles) {
	o.Expression = expression.Check(m.hr.Spec.HealthCheckExprs)
	if m.in.reading.NoCrossNamespaceRefs {
		o.Denied = m.hr.CrossNamespace()
	}
	return o
}

// dependencies returns the HelmReleases of spec.dependsOn as they are in the cluster.
func dependencies(lookup releaseset.Lookup, hr *flux.HelmRelease, live map[string]any) ([]decision.Dependency, error) {
	self := maps.Clone(hr.Object)
	if live != nil {
		self["status"] = live["status"]
	}
	var out []decision.Dependency
	for _, dep := range hr.Spec.DependsOn {
		ref := dep.In(hr.Metadata.Namespace)
		d := decision.Dependency{Name: ref.String(), Expression: dep.ReadyExpr != ""}
		object, err := lookup(apiVersion, flux.KindHelmRelease, ref.Namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		if object != nil {
			if d.HelmRelease, err = flux.DecodeHelmRelease(object); err != nil {
				return nil, err
			}
			if d.Expression {
				expression.EvaluateReady(&d, dep.ReadyExpr, self)
			}
		}
		out = append(out, d)
	}
	return out, nil
}
