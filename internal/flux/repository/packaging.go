package repository

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
)

// What stands for metadata of a chart's version that is not known: digits of a commit and a generation, which
// flux.ChartVersion adds, and of a digest, as flux.VersionOf does.
const byCommit, byGeneration, byDigest = "+commit", "+generation", "+digest"

// version is a chart's version as its templates see it; exact reports whether it is the final one.
type version struct {
	text  string
	exact bool
}

// helmChart returns the spec of the HelmChart that packages a HelmRelease's chart, nil if none does or it is not found.
func helmChart(hr *flux.HelmRelease, find func(flux.Reference) (*flux.Source, error)) *flux.SourceSpec {
	ref := hr.ChartSource()
	if hr.Spec.ChartRef == nil || ref.Kind != flux.KindHelmChart {
		return hr.HelmChart()
	}
	if source, err := find(ref); err == nil && source != nil {
		return source.HelmChart()
	}
	return nil
}

// packaged reports whether the chart is packaged from files, of a GitRepository or a Bucket.
func (m *Managed) packaged() bool {
	return m.helmChart != nil && m.helmChart.SourceRef != nil && m.helmChart.SourceRef.Kind != flux.KindHelmRepository
}

// frozen reports whether source-controller builds no artifact of the chart any more, as its HelmChart is suspended.
func (m *Managed) frozen() bool { return m.helmChart != nil && m.helmChart.Suspend }

func (m *Managed) byRevision() bool {
	return m.packaged() && m.helmChart.ReconcileStrategy == flux.ByRevision
}

func (m *Managed) byGeneration() bool {
	return m.helmChart != nil && replacing(m.helmChart.ValuesFiles)
}

// replacing reports whether valuesFiles replace the chart's own values: the chart's own file alone counts as none.
func replacing(valuesFiles []string) bool {
	return len(valuesFiles) > 1 || len(valuesFiles) == 1 && path.Clean(valuesFiles[0]) != "values.yaml"
}

// EachCommit implements releaseset.Manager.
func (m *Managed) EachCommit() string {
	if !m.git || !m.byRevision() || m.frozen() || m.hr.Spec.Suspend || m.owner != nil && m.owner.Spec.Suspend {
		return ""
	}
	return "reconcileStrategy: " + flux.ByRevision
}

// metadata returns what stands for the metadata that the chart's version gets, "" if it gets none.
func (m *Managed) metadata() string {
	kind := m.hr.ChartSource().Kind
	switch {
	case kind == flux.KindOCIRepository, kind == flux.KindExternalArtifact: // the latter unless its revision has no digest
		return byDigest
	case m.byRevision() && m.byGeneration():
		return byCommit + ".generation"
	case m.byRevision():
		return byCommit
	case m.byGeneration():
		return byGeneration
	}
	return ""
}

// estimated reports whether the chart's version gets metadata that is not known before a change is merged.
func (m *Managed) estimated() bool { return m.metadata() != "" }

// versioning returns a text that differs if that metadata does, whatever the files of the source are: any change
// of a HelmChart's spec is a new generation.
func (m *Managed) versioning() string {
	if !m.byGeneration() {
		return m.metadata()
	}
	return m.metadata() + textOf(m.helmChart)
}

func textOf(spec *flux.SourceSpec) string {
	data, err := json.Marshal(spec)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// renewed returns a chart's version with what stands for its metadata if that is not the one in before, nil for
// none, any more. commit reports whether the source is at another commit.
func (m *Managed) renewed(version string, before *Managed, commit bool) string {
	if before != nil && m.estimated() && !m.frozen() && (m.versioning() != before.versioning() || (m.byRevision() || m.metadata() == byDigest) && commit) {
		return core(version) + m.metadata()
	}
	return version
}

// deploying returns the chart that m has deployed, with what stands for the metadata of its version if next gets none:
// that it goes is a change, too.
func (m *Managed) deploying(was *chart.Metadata, next *Managed) *chart.Metadata {
	if !m.estimated() || next.estimated() || next.frozen() || m.pinned(was) {
		return was
	}
	out := *was
	out.Version = core(was.Version) + m.metadata()
	return &out
}

// keepsArtifact reports whether source-controller builds no new artifact of the chart: it is packaged from files
// and by version, and neither the version nor the HelmChart's spec has changed, or its HelmChart is suspended.
func (m *Managed) keepsArtifact(before *Managed, in decision.Input, was *chart.Metadata) bool {
	if m.frozen() {
		return in.Chart.Rewritten
	}
	return m.packaged() && before.packaged() && in.Chart.Rewritten && !m.byRevision() && in.Chart.Version == was.Version &&
		textOf(m.helmChart) == textOf(before.helmChart)
}

// pinned reports whether the version of an OCIRepository's chart is that of the artifact that
// was fetched.
func (m *Managed) pinned(is *chart.Metadata) bool {
	return m.hr.ChartSource().Kind == flux.KindOCIRepository && strings.Contains(is.Version, "+")
}

// known returns the chart's version as helm-controller sees it: if its metadata is not
// known, that of the last attempt, provided it is the same version.
func (m *Managed) known(own *chart.Metadata, attempted string) string {
	if m.estimated() && !m.pinned(own) && core(own.Version) == core(attempted) {
		return attempted
	}
	return own.Version
}
