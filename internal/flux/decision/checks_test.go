package decision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

const noValues = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// released returns a HelmRelease of generation 2 whose generation 1 is released as revision 1
// of web-1.0.0, without values; spec is in YAML's flow style.
func released(t *testing.T, spec string) decision.Input {
	t.Helper()
	r := &release.Revision{
		Name: "web", Namespace: "apps", Version: 1, Info: release.Info{Status: release.StatusDeployed},
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1.0.0"}},
	}
	sum, err := digest.Record(r, "")
	if err != nil {
		t.Fatal(err)
	}
	hr := helmRelease(t, "web", spec)
	hr.Metadata.Generation = 2
	hr.Status = flux.HelmReleaseStatus{
		ObservedGeneration: 1, LastAttemptedGeneration: 1, StorageNamespace: "apps", LastAttemptedReleaseAction: flux.AttemptInstall,
		LastAttemptedRevision: "1.0.0", LastAttemptedConfigDigest: noValues,
		History: []flux.Snapshot{{
			APIVersion: flux.SnapshotAPIVersion, Digest: sum, Name: "web", Namespace: "apps", Version: 1, Status: "deployed",
			ChartName: "web", ChartVersion: "1.0.0", ConfigDigest: noValues,
		}},
	}
	return decision.Input{
		HelmRelease: hr, Records: []*release.Revision{r}, ValuesDigest: noValues, Chart: decision.Chart{Name: "web", Version: "1.0.0"},
	}
}

func helmRelease(t *testing.T, name, spec string) *flux.HelmRelease {
	t.Helper()
	var object map[string]any
	text := fmt.Sprintf("{metadata: {name: %s, namespace: apps}, spec: {interval: 1m, chartRef: {kind: HelmChart, name: web}, %s}}", name, spec)
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	hr, err := flux.DecodeHelmRelease(object)
	if err != nil {
		t.Fatal(err)
	}
	return hr
}

func expect(t *testing.T, why string, got decision.Decision, action decision.Action, because string) {
	t.Helper()
	if got.Action != action || !strings.Contains(strings.Join(got.Because, "; "), because) {
		t.Errorf("%s: %+v, want %s because of %q", why, got, action, because)
	}
}

func TestCheck8VersionNotBumped(t *testing.T) {
	in := released(t, "")
	in.Chart.Rewritten = true
	expect(t, "same version", decision.Next(in), decision.Nothing, "nothing will happen: chart version 1.0.0 is unchanged")
	in.Chart.Version = "1.0.1"
	expect(t, "another version", decision.Next(in), decision.Upgrade, "version changes from 1.0.0 to 1.0.1")
}

func TestCheck17EqualConfigDigestIsEnough(t *testing.T) {
	in := released(t, "")
	in.ValuesDigest = ""
	expect(t, "values not known", decision.Next(in), decision.Unknown, "not known")
	in.Chart.Version = "1.1.0"
	expect(t, "the chart is reason enough", decision.Next(in), decision.Upgrade, "version changes")
}

func TestCheck21RecordWasEdited(t *testing.T) {
	in := released(t, "")
	in.Records[0].Manifest = "edited"
	expect(t, "edited", decision.Next(in), decision.Upgrade, "changed outside of Flux")
	if got := decision.Next(in).OnFailure; got.Action != decision.Stall {
		t.Errorf("%+v", got)
	}
}

func TestCheck22PendingIsUnlocked(t *testing.T) {
	in := released(t, "")
	in.Records = append(in.Records, in.Records[0].WithStatus(release.StatusPendingUpgrade, ""))
	in.Records[1].Version = 2
	got := decision.Next(in)
	expect(t, "pending", got, decision.Unlock, "pending-upgrade")
	if !slices.Equal(got.Then, []decision.Action{decision.Upgrade}) {
		t.Errorf("then %q, want an upgrade", got.Then)
	}
}

// Our controller resumes what is pending, unless something else is wanted by now.
func TestPendingIsResumed(t *testing.T) {
	in := released(t, "")
	in.Records = append(in.Records, in.Records[0].WithStatus(release.StatusPendingUpgrade, ""))
	in.Records[1].Version = 2
	in.Resumable = true
	expect(t, "a new generation", decision.Next(in), decision.Unlock, "pending-upgrade")
	in.HelmRelease.Status.LastAttemptedGeneration = 2
	expect(t, "the same", decision.Next(in), decision.Resume, "will be resumed")
	in.Chart.Version = "1.1.0"
	expect(t, "another chart", decision.Next(in), decision.Unlock, "pending-upgrade")
}

func TestCheck23StalledAndResets(t *testing.T) {
	in := released(t, "")
	in.Chart.Version = "1.1.0"
	s := &in.HelmRelease.Status
	s.LastAttemptedReleaseAction, s.UpgradeFailures, s.LastAttemptedRevision = flux.AttemptUpgrade, 1, "1.1.0"
	s.Conditions = []metav1.Condition{{Type: "Stalled", Status: "True", Reason: "RetriesExceeded"}}
	got := decision.Next(in)
	expect(t, "a new generation resets", got, decision.Upgrade, "")
	if notes := decision.Notes(in, got, nil); !slices.ContainsFunc(notes, contains("resets the retries")) {
		t.Errorf("%q", notes)
	}
	s.LastAttemptedGeneration = 2
	got = decision.Next(in)
	expect(t, "nothing has changed", got, decision.Stall, "Failed to upgrade after 1 attempt(s)")
	if notes := decision.Notes(in, got, nil); !slices.ContainsFunc(notes, contains("does not reset")) {
		t.Errorf("%q", notes)
	}
	in.Chart.Version = "1.2.0"
	expect(t, "another chart version resets", decision.Next(in), decision.Upgrade, "version changes")
	in.Chart.Version, in.ValuesDigest = "1.1.0", "sha256:other"
	expect(t, "other values reset", decision.Next(in), decision.Upgrade, "")
	in.ValuesDigest = noValues
	expect(t, "nothing has changed again", decision.Next(in), decision.Stall, "")
	in.HelmRelease.Metadata.Annotations = map[string]string{flux.AnnotationResetAt: "x", flux.AnnotationRequestedAt: "x"}
	expect(t, "reset by annotation", decision.Next(in), decision.Upgrade, "")
}

func TestCheck24Moves(t *testing.T) {
	for _, c := range []struct {
		why, spec, chart string
		action           decision.Action
		then             []decision.Action
	}{
		{"release name", "releaseName: front", "web", decision.Uninstall, []decision.Action{decision.Install}},
		{"target namespace", "targetNamespace: other, releaseName: web", "web", decision.Uninstall, []decision.Action{decision.Install}},
		{"storage namespace", "storageNamespace: other", "web", decision.Uninstall, []decision.Action{decision.Install}},
		{"chart name", "", "shop", decision.Uninstall, []decision.Action{decision.Install}},
		{"chart name in place", "upgrade: {chartNameChangeStrategy: InPlaceUpdate}", "shop", decision.Upgrade, nil},
	} {
		in := released(t, c.spec)
		if in.HelmRelease.ReleaseName() != "web" || in.HelmRelease.StorageNamespace() != "apps" {
			in.Records = nil
		}
		in.Chart.Name = c.chart
		got := decision.Next(in)
		if got.Action != c.action || !slices.Equal(got.Then, c.then) {
			t.Errorf("%s: %+v, want %s, then %q", c.why, got, c.action, c.then)
		}
	}
	in := released(t, "releaseName: front")
	in.HelmRelease.Status.History, in.Records = nil, nil
	expect(t, "nothing was released", decision.Next(in), decision.Install, "")
}

func TestCheck25RemovedFromTheRepository(t *testing.T) {
	running, sleeping := helmRelease(t, "web", ""), helmRelease(t, "web", "suspend: true")
	expect(t, "no Kustomization", decision.Removed(running, nil, false), decision.Nothing, "left running: no known Kustomization")
	for _, c := range []struct {
		why     string
		hr      *flux.HelmRelease
		owner   flux.KustomizationSpec
		gone    bool
		want    decision.Action
		because string
	}{
		{"prune", running, flux.KustomizationSpec{Prune: true}, false, decision.Uninstall, "flux-system/apps prunes"},
		{"no prune", running, flux.KustomizationSpec{}, false, decision.Nothing, "left running: Kustomization flux-system/apps does not prune"},
		{"Kustomization suspended", running, flux.KustomizationSpec{Prune: true, Suspend: true}, false, decision.Nothing, "left running"},
		{"HelmRelease suspended", sleeping, flux.KustomizationSpec{Prune: true}, false, decision.Nothing, "left running"},
		{"deletionPolicy is for the Kustomization's own end", running, flux.KustomizationSpec{DeletionPolicy: "Delete"}, false, decision.Nothing, "left running"},
		{"that deletionPolicy, too", running, flux.KustomizationSpec{DeletionPolicy: "Orphan", Prune: true}, false, decision.Uninstall, "flux-system/apps prunes"},
		{"with its Kustomization", running, flux.KustomizationSpec{Prune: true}, true, decision.Uninstall, "flux-system/apps prunes"},
		{"with one that does not prune", running, flux.KustomizationSpec{DeletionPolicy: "MirrorPrune"}, true, decision.Nothing, "is deleted, and does not prune"},
		{"Delete", running, flux.KustomizationSpec{DeletionPolicy: "Delete"}, true, decision.Uninstall, "is deleted, with deletionPolicy Delete"},
		{"WaitForTermination", running, flux.KustomizationSpec{DeletionPolicy: "WaitForTermination"}, true, decision.Uninstall, "is deleted, with deletionPolicy WaitForTermination"},
		{"Orphan", running, flux.KustomizationSpec{DeletionPolicy: "Orphan", Prune: true}, true, decision.Nothing, "is deleted, and its deletionPolicy is Orphan"},
		{"suspended, with Delete", running, flux.KustomizationSpec{DeletionPolicy: "Delete", Suspend: true}, true, decision.Nothing, "is suspended"},
	} {
		owner := &flux.Kustomization{Metadata: flux.Metadata{Namespace: "flux-system", Name: "apps"}, Spec: c.owner}
		expect(t, c.why, decision.Removed(c.hr, owner, c.gone), c.want, c.because)
	}
}

func TestCheck26Suspended(t *testing.T) {
	in := released(t, "suspend: true")
	in.Chart.Version = "1.1.0"
	expect(t, "suspended", decision.Next(in), decision.Nothing, "suspended")
	in = released(t, "")
	got := decision.Next(in)
	if notes := decision.Notes(in, got, helmRelease(t, "web", "suspend: true")); !slices.ContainsFunc(notes, contains("resumes the release")) {
		t.Errorf("%q", notes)
	}
}

func TestCheck27WhatIsNotCompared(t *testing.T) {
	in := released(t, "timeout: 1m, upgrade: {remediation: {retries: 3}, serverSideApply: enabled}, waitStrategy: {name: legacy}")
	got := decision.Next(in)
	expect(t, "options", got, decision.Nothing, "")
	want := "no release now; these count from the next action on: spec.timeout, spec.upgrade.remediation.retries, spec.waitStrategy.name"
	notes := decision.Notes(in, got, helmRelease(t, "web", "timeout: 2m, upgrade: {serverSideApply: enabled}"))
	if !slices.Contains(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
}

func TestCheck28PostRenderers(t *testing.T) {
	in := released(t, "postRenderers: [{kustomize: {images: [{name: web, newTag: v2}]}}]")
	expect(t, "post-renderer", decision.Next(in), decision.Upgrade, "post-renderers change")
	in = released(t, "commonMetadata: {labels: {a: b}}")
	expect(t, "common metadata", decision.Next(in), decision.Upgrade, "common metadata changes")
	status := &in.HelmRelease.Status
	status.ObservedGeneration = 2
	status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse}}
	expect(t, "a generation that failed", decision.Next(in), decision.Upgrade, "common metadata changes")
	status.Conditions[0].Status = metav1.ConditionTrue
	expect(t, "a generation that is ready", decision.Next(in), decision.Nothing, "")
}

func TestCheck29Dependencies(t *testing.T) {
	base := helmRelease(t, "base", "")
	base.Metadata.Generation, base.Status.ObservedGeneration = 1, 1
	ready := *base
	ready.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True"}}
	for _, c := range []struct {
		why     string
		dep     decision.Dependency
		action  decision.Action
		because string
	}{
		{"missing", decision.Dependency{Name: "apps/base"}, decision.Wait, "waits for apps/base, which does not exist"},
		{"not ready", decision.Dependency{Name: "apps/base", HelmRelease: base}, decision.Wait, "waits for apps/base"},
		{"ready", decision.Dependency{Name: "apps/base", HelmRelease: &ready}, decision.Nothing, ""},
		{"by an expression", decision.Dependency{Name: "apps/base", HelmRelease: base, Expression: true, Ready: true}, decision.Nothing, ""},
		{"not by its expression", decision.Dependency{Name: "apps/base", HelmRelease: &ready, Expression: true}, decision.Wait, "readyExpr"},
	} {
		in := released(t, "dependsOn: [{name: base}]")
		in.Dependencies = []decision.Dependency{c.dep}
		expect(t, c.why, decision.Next(in), c.action, c.because)
	}
	circle := released(t, "dependsOn: [{name: base}]")
	circle.Dependencies, circle.Cycle = []decision.Dependency{{Name: "apps/base", HelmRelease: base}}, []string{"apps/web", "apps/base", "apps/web"}
	expect(t, "a circle", decision.Next(circle), decision.Stall, "apps/web → apps/base → apps/web")
	circle.Dependencies[0].HelmRelease = &ready
	expect(t, "a circle of which one is ready", decision.Next(circle), decision.Nothing, "")
	cycles := decision.Cycles([]*flux.HelmRelease{
		helmRelease(t, "a", "dependsOn: [{name: b}]"), helmRelease(t, "b", "dependsOn: [{name: c}, {name: gone}]"),
		helmRelease(t, "c", "dependsOn: [{name: b}]"),
	})
	if fmt.Sprint(cycles) != "map[apps/a:[apps/b apps/c apps/b] apps/b:[apps/b apps/c apps/b] apps/c:[apps/b apps/c apps/b]]" {
		t.Error(cycles)
	}
}

func TestCheck34NoRollbackTarget(t *testing.T) {
	in := released(t, "upgrade: {remediation: {retries: 1}}")
	in.Chart.Version = "1.1.0"
	if got := decision.Next(in).OnFailure; got.Action != decision.RollBack || got.Target != 1 {
		t.Errorf("%+v", got)
	}
	in.HelmRelease.Status.History = nil
	got := decision.Next(in)
	if !got.OnFailure.NoTarget {
		t.Errorf("%+v", got.OnFailure)
	}
	if notes := decision.Notes(in, got, nil); !slices.ContainsFunc(notes, contains("no rollback target")) {
		t.Errorf("%q", notes)
	}
}

func TestWhatFollowsAFailure(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", "if it fails the HelmRelease stalls and the failed revision stays"},
		{"upgrade: {remediation: {retries: 2}}", "if it fails it is rolled back to revision 1 and retried up to 2 times"},
		{"upgrade: {remediation: {retries: -1, strategy: uninstall}}", "if it fails the release is uninstalled, including the objects it has adopted, and retried forever"},
		{"upgrade: {strategy: {name: RetryOnFailure, retryInterval: 8s}}", "if it fails it is tried again every 8s"},
	} {
		in := released(t, c.spec)
		in.Chart.Version = "1.1.0"
		if got := decision.Next(in).OnFailure.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.spec, got, c.want)
		}
	}
}

func contains(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}
