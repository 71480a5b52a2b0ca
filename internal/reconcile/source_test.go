package reconcile_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
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
