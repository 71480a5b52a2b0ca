package digest_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Checks 4 and 5 of FLUX.md: the digests of every snapshot whose record was
// stored are those that helm-controller wrote.
func TestCheck5SnapshotDigestsEqualTheTraces(t *testing.T) {
	checked := 0
	for _, trace := range fluxtest.Traces(t) {
		for _, step := range trace.Steps {
			if step.HelmRelease == nil {
				continue
			}
			for _, s := range step.HelmRelease.Status.History {
				r := find(step.Records, s.Namespace, s.Name, s.Version)
				if r == nil || string(r.Info.Status) != s.Status {
					continue
				}
				checked++
				got, err := digest.Record(r, s.OCIDigest)
				if err != nil {
					t.Fatal(err)
				}
				if got != s.Digest {
					t.Errorf("%s: digest of revision %d (%s) is %s, want %s", step.Name, s.Version, s.Status, got, s.Digest)
				}
				if got, _ := digest.Values(r.Config); got != s.ConfigDigest {
					t.Errorf("%s: configDigest of revision %d is %s, want %s", step.Name, s.Version, got, s.ConfigDigest)
				}
			}
		}
	}
	t.Logf("%d snapshots", checked)
	if checked == 0 {
		t.Error("no snapshot was checked")
	}
}

func find(records []fluxtest.Record, namespace, name string, version int) *release.Revision {
	for _, r := range records {
		if r.Namespace == namespace && r.Name == name && r.Version == version {
			return r.Revision
		}
	}
	return nil
}

// The digests of post-renderers and common metadata are those of the status, if the
// pass was completed.
func TestRenderingDigestsEqualTheTraces(t *testing.T) {
	for _, trace := range fluxtest.Traces(t) {
		for _, step := range trace.Steps {
			hr := step.HelmRelease
			if hr == nil || hr.Status.ObservedGeneration != hr.Metadata.Generation || len(hr.Status.History) == 0 || hr.Spec.Suspend {
				continue
			}
			if got := digest.PostRenderers(hr.Spec.PostRenderers); got != hr.Status.ObservedPostRenderersDigest {
				t.Errorf("%s: post-renderers %s, want %s", step.Name, got, hr.Status.ObservedPostRenderersDigest)
			}
			if got := digest.CommonMetadata(hr.Spec.CommonMetadata); got != hr.Status.ObservedCommonMetadataDigest {
				t.Errorf("%s: common metadata %s, want %s", step.Name, got, hr.Status.ObservedCommonMetadataDigest)
			}
		}
	}
}

// A record with an empty table of values is one without values.
func TestRecordsWithoutValues(t *testing.T) {
	without, err := digest.Record(&release.Revision{Name: "web"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if empty, err := digest.Record(&release.Revision{Name: "web", Config: map[string]any{}}, ""); empty != without || err != nil {
		t.Errorf("%s, %v, want %s", empty, err, without)
	}
}
