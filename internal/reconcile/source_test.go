package reconcile_test

import (
	"context"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// The digest in the revision of an ExternalArtifact becomes the metadata of the chart's version; a revision
// without one leaves it alone, and has no digest to record.
func TestVersionOfAnExternalArtifact(t *testing.T) {
	const digest = "sha256:0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b"
	for revision, want := range map[string][2]string{
		"1.0.0":            {"1.0.0", ""},
		"v2.7.1":           {"1.0.0", ""},
		"latest":           {"1.0.0", ""},
		digest:             {"1.0.0+0a1b2c3d4e5f", digest},
		"1.0.0@" + digest:  {"1.0.0+0a1b2c3d4e5f", digest},
		"latest@" + digest: {"1.0.0+0a1b2c3d4e5f", "latest@" + digest},
	} {
		b := newBench(t, "")
		b.source = &flux.Source{Kind: flux.KindExternalArtifact, Metadata: flux.Metadata{Name: "app", Namespace: "shop"}}
		b.source.Status.Artifact = &flux.Artifact{Revision: revision}
		b.mustPass()
		if got := b.condition("Ready"); got != "Ready True InstallSucceeded" {
			t.Errorf("%s: %s", revision, b.all(nil))
			continue
		}
		if s := b.hr.Status.Snapshots()[0]; s.ChartVersion != want[0] || s.OCIDigest != want[1] {
			t.Errorf("%s: %s, digest %q", revision, s.ChartVersion, s.OCIDigest)
		}
	}
}

// registryChart has the chart come from a registry, where the status of its HelmChart has the name in
// spec.chart, and the tag as its version.
func (b *bench) registryChart(name, tag string) {
	b.source = &flux.Source{Kind: flux.KindHelmChart, Metadata: flux.Metadata{Name: "app", Namespace: "shop"}}
	b.source.Status = flux.SourceStatus{ObservedChartName: name, Artifact: &flux.Artifact{Revision: tag}}
}

// The chart's name and version are those in Chart.yaml, whatever its HelmChart's status has: a release
// whose chart has not changed is left alone, and one whose chart can't be loaded is not uninstalled.
func TestNameAndVersionAreThoseInTheChart(t *testing.T) {
	for _, c := range [][2]string{{"team/app", "1.0.0"}, {"app", "v1.0.0"}, {"team/app", "v1.0.0"}} {
		b := newBench(t, "")
		b.registryChart(c[0], c[1])
		b.mustPass()
		if n := b.quiet(); n != 0 || b.stored() != "deployed" || b.condition("Ready") != "Ready True InstallSucceeded" {
			t.Errorf("%s %s: %d writes, records %s, %s", c[0], c[1], n, b.stored(), b.condition("Ready"))
		}
		b.in = func(in *reconcile.Sources) {
			in.Chart = func(context.Context) (*chart.Chart, error) { return nil, reconcile.ErrArtifactGone }
		}
		if b.mustPass(); b.stored() != "deployed" || b.condition("Ready") != "Ready False ArtifactFailed" {
			t.Errorf("%s %s without the chart: records %s, %s", c[0], c[1], b.stored(), b.condition("Ready"))
		}
		b.in = nil
		b.chart.Metadata.Name = "other"
		if b.passes(); b.hr.Status.Snapshots()[0].ChartName != "other" || len(b.hr.Status.History) != 1 {
			t.Errorf("%s %s, another name: %+v", c[0], c[1], b.hr.Status.History)
		}
	}
}

// The tag does not pass for another version than the one that was attempted: the retries run out.
func TestRetriesOfATagRunOut(t *testing.T) {
	const remedy = "upgrade: {remediation: {retries: 1}}\n"
	b := newBench(t, remedy)
	b.registryChart("app", "v1.0.0")
	b.mustPass()
	b.apply(base + remedy + "values: {text: bad}")
	if b.passes(); b.condition("Stalled") != "Stalled True RetriesExceeded" || b.stored() != "superseded failed superseded failed deployed" {
		t.Errorf("records %s, %s", b.stored(), b.condition("Stalled"))
	}
}
