package repository

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/build"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/flux/options"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// Managed is the HelmRelease behind an entry. It implements releaseset.Manager.
type Managed struct {
	in    *Repository
	hr    *flux.HelmRelease
	owner *flux.Kustomization
	from  releaseset.Place
	// sealed are parts of the HelmRelease itself that are not known; hidden are the contents of
	// Secrets that variables of it, and of its chart's source, come from.
	sealed []string
	hidden [][]byte
	// origins are what comes from elsewhere, or is encrypted, see origin.
	origins []origin
	// helmChart is the spec of the HelmChart that packages the chart, see helmChart.
	helmChart *flux.SourceSpec
	// git reports whether the chart is in the repository itself, a GitRepository.
	git bool
	// repository is that GitRepository.
	repository flux.Reference
	// chartValues replace the chart's own values.
	chartValues releaseset.ChartValues
	// cycle is the dependency cycle that the HelmRelease waits for, in it or not, nil for none.
	cycle []string
	// otherwise is what is declared if variables that are not known count the other way, "" if that makes
	// no difference.
	otherwise string
	// kubeconfig is that of the cluster that spec.kubeConfig names, nil while it is not known;
	// unreached says why.
	kubeconfig []byte
	unreached  string
	// without are the fields that are left out, since they are not known.
	without []string
	// fields are notes about fields that are not planned.
	fields []string
	composed
	err error
}

// composed are the values of a HelmRelease.
type composed struct {
	// values is their digest, unknown are the objects whose content is not known.
	values  string
	unknown []string
	secrets [][]byte
	notes   []string
}

// String returns the kind, namespace and name, such as "HelmRelease apps/web".
func (m *Managed) String() string { return flux.KindHelmRelease + " " + m.hr.String() }

// Err returns why the entry can't be planned, nil if it can.
func (m *Managed) Err() error { return m.err }

// Unknown returns the objects whose content is not known, such as "Secret apps/database".
func (m *Managed) Unknown() []string { return m.unknown }

// Secrets returns the contents of the Secrets that values come from.
func (m *Managed) Secrets() [][]byte { return m.secrets }

// ChartValues returns the files that replace the chart's own values.
func (m *Managed) ChartValues() releaseset.ChartValues { return m.chartValues }

// Sum returns a text that changes with everything in the HelmRelease on which its release depends.
func (m *Managed) Sum() string { return m.declared() + m.otherwise + asText(m.origins) }

// declared is Sum for variables that are not known either way, see Repository.otherwise.
func (m *Managed) declared() string {
	suspended, has := m.owner != nil && m.owner.Spec.Suspend, m.hr.Metadata
	return asText([]any{m.hr.Object["spec"], has.Name, has.Namespace, m.Applier(), suspended, has.Unapplied(), has.OnlyCreated(), m.versioning()})
}

// Applier returns the Kustomization that applies the HelmRelease, "" if none is known to.
func (m *Managed) Applier() string {
	if m.owner == nil {
		return ""
	}
	return applier(m.owner)
}

// Rewrite post-renders a manifest.
func (m *Managed) Rewrite(text string) (string, error) { return build.PostRender(m.hr, text) }

// Next returns what helm-controller would do if base is what it has deployed; base
// is nil for a new release. is and was are the charts, rewritten reports whether
// their files differ.
func (m *Managed) Next(base releaseset.Manager, is, was *chart.Metadata, rewritten bool) releaseset.Verdict {
	before, _ := base.(*Managed)
	v := m.next(before, is, was, rewritten)
	if before == nil {
		return v
	}
	return before.uncertain(m, v, m.next(nil, is, was, rewritten))
}

// next is Next for a base that is deployed, nil for none.
func (m *Managed) next(before *Managed, is, was *chart.Metadata, rewritten bool) releaseset.Verdict {
	in := decision.Input{ValuesDigest: m.values, Chart: decision.Chart{Name: is.Name, Version: is.Version, Rewritten: rewritten}}
	in.Obstacles = m.obstacles()
	next := *m.hr
	next.Metadata.Generation = 1
	if before != nil {
		next.Metadata.Generation = 2
		next.Status = before.deployed(before.deploying(was, m))
		if leavesCluster(before.hr, &next) {
			forget(&next)
		} else if before.hr.ReleaseName() == next.ReleaseName() && before.hr.StorageNamespace() == next.StorageNamespace() {
			in.Records = []*release.Revision{record(next.Status.History[0])}
		}
	}
	in.HelmRelease = &next
	if v := m.held(&next, before, ""); v != nil {
		return *v
	}
	seen := version{is.Version, m.pinned(is)}
	if !seen.exact { // what is deployed is another commit
		in.Chart.Version = m.renewed(is.Version, before, rewritten || m.git)
	}
	if before != nil && m.values == before.values && !slices.Equal(m.origins, before.origins) {
		in.ValuesDigest = ""
	}
	v := m.verdict(in, before, was, seen)
	if before != nil {
		m.compared(&v, before)
	}
	if before != nil && v.Options != nil && v.Options.ReuseValues && v.Action == string(decision.Upgrade) {
		v.Notes = append(v.Notes, "spec.upgrade.preserveValues keeps the values that were released before: the plan uses those of the base, and what the base no longer has is not known")
	}
	if before != nil && renamesCluster(before.hr, &next) {
		m.unsettled(&v)
	}
	for _, dep := range m.hr.Spec.DependsOn {
		if dep.ReadyExpr != "" {
			v.Notes = append(v.Notes, fmt.Sprintf("readyExpr of dependency %s is not evaluated without a cluster: it is assumed to hold", dep.Name))
		}
	}
	return v
}

// verdict puts a decision into words. seen is the version that the chart's templates see.
func (m *Managed) verdict(in decision.Input, before *Managed, was *chart.Metadata, seen version) releaseset.Verdict {
	if m.cycle != nil && !slices.Contains(m.cycle, m.hr.String()) {
		return m.idle(decision.Wait, "it depends on a dependency cycle: "+strings.Join(m.cycle, " → ")+"; all of them wait forever")
	}
	if m.cycle != nil {
		return m.idle(decision.Wait, "a dependency cycle: "+strings.Join(m.cycle, " → ")+"; all of them wait forever")
	}
	if m.owner != nil && m.owner.Spec.Suspend {
		return m.idle(decision.Nothing, fmt.Sprintf("Kustomization %s is suspended: nothing happens", m.owner))
	}
	var baseline *flux.HelmRelease
	if before != nil {
		baseline = before.hr
	}
	if before != nil && m.frozen() {
		in.Chart.Version = was.Version
	}
	d := decision.Next(in)
	out := releaseset.Verdict{Action: string(d.Action), Then: actions(d.Then), Plans: plans(d), Version: seen.text}
	o := options.Upgrade(m.hr, release.NewHistory(in.Records).Last())
	if d.Action == decision.Install || slices.Contains(d.Then, decision.Install) {
		o = options.Install(m.hr)
	}
	out.Options = &o
	out.Compares = d.State == decision.InSync && d.Action == decision.Nothing && m.hr.DriftMode() != "" && in.Drift == decision.DriftNotLooked
	out.Notes = slices.Concat(d.Because, decision.Notes(in, d, baseline), m.fields, m.notes)
	if d.Leaves != nil {
		m.leaves(&out, *d.Leaves, in.HelmRelease.Status.StorageNamespace)
	}
	if out.OldChart = out.Plans && before != nil && m.keepsArtifact(before, in, was); out.OldChart {
		out.Notes = append(out.Notes, fmt.Sprintf("chart version %s is unchanged: changes to the chart's files are not deployed", was.Version))
	}
	if m.estimated() && !seen.exact {
		out.Notes = append(out.Notes, "the chart's version gets metadata that is not known before the change is merged: it is estimated"+with(seen.text))
	}
	for _, name := range m.unknown {
		out.Notes = append(out.Notes, assumedSame(name))
	}
	return out
}

// leaves adds the release that is uninstalled in favour of another one.
func (m *Managed) leaves(v *releaseset.Verdict, was flux.Snapshot, storage string) {
	v.Leaves, v.LeavesIn, v.LeavesBy = &release.Key{Namespace: was.Namespace, Name: was.Name}, storage, options.Uninstall(m.hr)
	if *v.Leaves == (release.Key{Namespace: m.hr.ReleaseNamespace(), Name: m.hr.ReleaseName()}) {
		v.Notes = append(v.Notes, "the plan shows what the uninstall deletes; everything in the chart is then created anew")
	}
}

// with returns which metadata a version is estimated with.
func with(version string) string {
	_, metadata, has := strings.Cut(version, "+")
	if !has {
		return " without"
	}
	return ", with +" + metadata + " as it is deployed"
}

func (m *Managed) idle(a decision.Action, why string) releaseset.Verdict {
	return releaseset.Verdict{Action: string(a), Notes: slices.Concat([]string{why}, m.fields, m.notes)}
}

func actions(then []decision.Action) []string {
	var out []string
	for _, a := range then {
		out = append(out, string(a))
	}
	return out
}

// plans reports whether the objects of the release would change.
func plans(d decision.Decision) bool {
	switch d.Action {
	case decision.Install, decision.Upgrade, decision.Unknown, decision.Uninstall, decision.CorrectDrift:
		return true
	case decision.Nothing, decision.Test, decision.RollBack, decision.Unlock, decision.Resume, decision.Stall, decision.Wait, decision.Fail:
	}
	return false
}

// deployed returns the status that a HelmRelease has once it is released as specified.
func (m *Managed) deployed(was *chart.Metadata) flux.HelmReleaseStatus {
	return flux.HelmReleaseStatus{
		ObservedGeneration: 1, LastAttemptedGeneration: 1, LastAttemptedReleaseAction: flux.AttemptUpgrade,
		LastAttemptedRevision: was.Version, LastAttemptedConfigDigest: m.values, StorageNamespace: m.hr.StorageNamespace(),
		ObservedPostRenderersDigest:  digest.PostRenderers(m.hr.Spec.PostRenderers),
		ObservedCommonMetadataDigest: digest.CommonMetadata(m.hr.Spec.CommonMetadata),
		History: []flux.Snapshot{{
			Name: m.hr.ReleaseName(), Namespace: m.hr.ReleaseNamespace(), Version: 1, Status: string(release.StatusDeployed),
			ChartName: was.Name, ChartVersion: was.Version, ConfigDigest: m.values, TestHooks: map[string]*flux.TestHook{},
		}},
	}
}

// record returns the record of a snapshot, with server-side apply, which is helm-controller's
// default; its digest is not checked.
func record(s flux.Snapshot) *release.Revision {
	return &release.Revision{
		ApplyMethod: release.ServerSide, Name: s.Name, Namespace: s.Namespace, Version: s.Version, Info: release.Info{Status: release.Status(s.Status)},
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: s.ChartName, Version: s.ChartVersion}},
	}
}
