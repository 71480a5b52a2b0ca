package decision_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Fields of spec that no pass compares (FLUX.md §5): a change to one alone releases nothing, and is
// reported; a field that a pass looks at is not among them.
func TestFieldsThatAreNotCompared(t *testing.T) {
	for _, c := range []struct{ why, was, is, told string }{
		{"force replaces objects, in the next upgrade", "upgrade: {force: false}", "upgrade: {force: true}", "spec.upgrade.force"},
		{"force that is new", "", "upgrade: {force: true}", "spec.upgrade.force"},
		{"preserveValues, while the values are the same", "", "upgrade: {preserveValues: true}", "spec.upgrade.preserveValues"},
		{"how many records stay", "maxHistory: 5", "maxHistory: 1", "spec.maxHistory"},
		{"a test's timeout", "test: {timeout: 1m}", "test: {timeout: 2m}", "spec.test.timeout"},
		{"whether tests count", "test: {ignoreFailures: false}", "test: {ignoreFailures: true}", ""},
		{"which tests count", "", "test: {filters: [{name: a}]}", ""},
		{"CRDs", "", "upgrade: {crds: CreateReplace}", "spec.upgrade.crds"},
		{"server-side apply", "", "upgrade: {serverSideApply: disabled}", "spec.upgrade.serverSideApply"},
		{"how hooks are post-rendered", "", "postRenderStrategy: separate", "spec.postRenderStrategy"},
		{"health checks", "", "healthCheckExprs: [{apiVersion: v1, kind: A, current: 'true'}]", "spec.healthCheckExprs"},
		{"one of a list that is looked at", "valuesFrom: [{kind: ConfigMap, name: a}]", "valuesFrom: [{kind: ConfigMap, name: a, optional: true}]", ""},
		{"drift detection", "", "driftDetection: {mode: warn, ignore: [{paths: [/a]}]}", ""},
	} {
		in := released(t, c.is)
		got := decision.Next(in)
		expect(t, c.why, got, decision.Nothing, "")
		told := strings.Join(decision.Notes(in, got, helmRelease(t, "web", c.was)), "; ")
		if (told == "") != (c.told == "") || !strings.Contains(told, c.told) {
			t.Errorf("%s: %q, want %q", c.why, told, c.told)
		}
	}
}

func sumOf(t *testing.T, r *release.Revision) string {
	t.Helper()
	sum, err := digest.Record(r, "")
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// With preserveValues the comparison is with what the HelmRelease says, so the values always differ.
func TestPreservedValuesDiffer(t *testing.T) {
	in := released(t, "upgrade: {preserveValues: true}")
	in.ValuesDigest = "sha256:1"
	expect(t, "values differ", decision.Next(in), decision.Upgrade, "every reconciliation upgrades")
}

// A rollback needs the record of its target: Helm deletes the oldest records beyond maxHistory
// before it writes another one, but not the deployed one.
func TestRecordsBeyondMaxHistory(t *testing.T) {
	const rollback, again, none = "rolled back to revision 1", "the record of revision 1, the target, is gone by then", "no rollback target"
	for _, c := range []struct {
		why, spec string
		tested    bool
		want      string
	}{
		{"one that is up is never deleted", "maxHistory: 1, ", true, "rolled back to revision 2"},
		{"the target is the second", "maxHistory: 3, ", false, rollback},
		{"and would be the third", "maxHistory: 2, ", false, again},
		{"or the third of one", "maxHistory: 1, ", false, again},
		{"all stay", "maxHistory: 0, ", false, rollback},
		{"by default five", "", false, rollback},
	} {
		in := released(t, c.spec+"test: {enable: true}, upgrade: {remediation: {retries: 1}}")
		in.Records[0] = in.Records[0].WithStatus(release.StatusSuperseded, "")
		superseded := &in.HelmRelease.Status.History[0]
		superseded.Status, superseded.Digest = string(release.StatusSuperseded), sumOf(t, in.Records[0])
		stored(t, &in, 2, release.StatusDeployed)
		phase := flux.TestFailed
		if c.tested {
			phase = flux.TestSucceeded
		}
		in.HelmRelease.Status.History[0].TestHooks = map[string]*flux.TestHook{"a": {Phase: phase}}
		in.Chart.Version = "1.1.0"
		got := decision.Next(in)
		if got.Action != decision.Upgrade || got.OnFailure == nil || !strings.Contains(got.OnFailure.String(), c.want) {
			t.Errorf("%s: %+v, %s, want %s", c.why, got, got.OnFailure, c.want)
		}
	}
	gone := released(t, "upgrade: {remediation: {retries: 1}}")
	gone.Records[0].Manifest, gone.HelmRelease.Status.History[0].APIVersion = "edited", ""
	gone.Chart.Version = "1.1.0"
	if got := decision.Next(gone).OnFailure.String(); !strings.Contains(got, rollback) {
		t.Errorf("a snapshot whose digest is not checked: %s", got)
	}
	gone.HelmRelease.Status.History = nil
	if got := decision.Next(gone).OnFailure.String(); !strings.Contains(got, none) {
		t.Errorf("no history: %s", got)
	}
}

// Tests follow installs and upgrades, a failed one counts as the failure of the last attempt, and
// none is looked at while something else is to be done.
func TestTestsAmongOtherThings(t *testing.T) {
	tested := func(spec, phase string) decision.Input {
		in := released(t, spec)
		in.HelmRelease.Status.History[0].TestHooks = map[string]*flux.TestHook{"a": {Phase: phase}}
		return in
	}
	upgraded := tested("test: {enable: true, timeout: 1m}", flux.TestSucceeded)
	upgraded.Chart.Version = "1.1.0"
	got := decision.Next(upgraded)
	expect(t, "another chart is tested anew", got, decision.Upgrade, "")
	if !slices.Equal(got.Then, []decision.Action{decision.Test}) {
		t.Errorf("then %q, want a test", got.Then)
	}
	expect(t, "a change of the timeout alone tests nothing", decision.Next(tested("test: {enable: true, timeout: 1m}", flux.TestSucceeded)), decision.Nothing, "")
	expect(t, "a failed test, and a new generation", decision.Next(tested("test: {enable: true, timeout: 1m}", flux.TestFailed)), decision.Upgrade, "something has changed since")
	ignored := tested("test: {enable: true}, install: {remediation: {ignoreTestFailures: true}}", flux.TestFailed)
	expect(t, "a failed test that the remediation of the last attempt ignores", decision.Next(ignored), decision.Nothing, "")
	other := tested("test: {enable: true}, upgrade: {remediation: {ignoreTestFailures: true}}", flux.TestFailed)
	other.HelmRelease.Status.LastAttemptedGeneration, other.HelmRelease.Status.InstallFailures = 2, 1
	expect(t, "that of the other attempt ignores nothing", decision.Next(other), decision.Stall, "Failed to install after 1 attempt(s)")
}

// Drift is looked at last: with drift detection, and with everything else in sync.
func TestDriftAmongOtherThings(t *testing.T) {
	drifting := func(spec string, drift decision.Drift) decision.Input {
		in := released(t, spec)
		in.Drift = drift
		return in
	}
	const enabled = "driftDetection: {mode: enabled, ignore: [{paths: [/spec/replicas]}]}"
	expect(t, "found", decision.Next(drifting(enabled, decision.DriftFound)), decision.CorrectDrift, "live objects differ")
	expect(t, "all of it ignored", decision.Next(drifting(enabled, decision.DriftNone)), decision.Nothing, "")
	expect(t, "only told", decision.Next(drifting("driftDetection: {mode: warn}", decision.DriftFound)), decision.Nothing, "mode warn leaves them as they are")
	expect(t, "can't be told", decision.Next(drifting(enabled, decision.DriftUnknown)), decision.Fail, "a dry run failed")
	expect(t, "nobody asks", decision.Next(drifting("driftDetection: {mode: disabled}", decision.DriftFound)), decision.Nothing, "")
	upgraded := drifting(enabled, decision.DriftFound)
	upgraded.Chart.Version = "1.1.0"
	expect(t, "an upgrade comes first", decision.Next(upgraded), decision.Upgrade, "version changes")
	untested := drifting("test: {enable: true}, "+enabled, decision.DriftFound)
	expect(t, "and so does a test", decision.Next(untested), decision.Test, "")
	forced := drifting(enabled, decision.DriftFound)
	forced.HelmRelease.Metadata.Annotations = map[string]string{flux.AnnotationForceAt: "a", flux.AnnotationRequestedAt: "a"}
	expect(t, "force upgrades what is in sync, and this is not", decision.Next(forced), decision.CorrectDrift, "")
}
