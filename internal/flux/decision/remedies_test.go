package decision_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// stored adds a revision to the records and its snapshot to the history.
func stored(t *testing.T, in *decision.Input, version int, status release.Status) {
	t.Helper()
	r := in.Records[0].WithStatus(status, "")
	r.Version = version
	sum, err := digest.Record(r, "")
	if err != nil {
		t.Fatal(err)
	}
	s := in.HelmRelease.Status.History[0]
	s.Version, s.Status, s.Digest = version, string(status), sum
	in.Records = append(in.Records, r)
	in.HelmRelease.Status.History = append([]flux.Snapshot{s}, in.HelmRelease.Status.History...)
}

// failedUpgrade returns a HelmRelease that has not changed since its last upgrades failed, as many
// times as failures says.
func failedUpgrade(t *testing.T, spec string, failures int64) decision.Input {
	t.Helper()
	in := released(t, spec)
	stored(t, &in, 2, release.StatusFailed)
	s := &in.HelmRelease.Status
	s.LastAttemptedGeneration, s.LastAttemptedReleaseAction = 2, flux.AttemptUpgrade
	s.Failures, s.UpgradeFailures = failures, failures
	return in
}

// failedInstall does the same for a first install.
func failedInstall(t *testing.T, spec string, failures int64) decision.Input {
	t.Helper()
	in := failedUpgrade(t, spec, 0)
	s := &in.HelmRelease.Status
	in.Records, s.History = in.Records[1:], s.History[:1]
	s.LastAttemptedReleaseAction, s.Failures, s.InstallFailures = flux.AttemptInstall, failures, failures
	return in
}

// The table of actions of FLUX.md §5 for revisions that failed.
func TestRemedies(t *testing.T) {
	for _, c := range []struct {
		why    string
		in     decision.Input
		action decision.Action
		then   []decision.Action
		reason string
	}{
		{"no retries: the first failure stalls", failedUpgrade(t, "", 1), decision.Stall, nil, "RetriesExceeded"},
		{"a retry is left: rolled back, then again", failedUpgrade(t, "upgrade: {remediation: {retries: 1}}", 1), decision.RollBack, []decision.Action{decision.Upgrade}, "Remediation"},
		{"none is left, and the last one is remedied by default", failedUpgrade(t, "upgrade: {remediation: {retries: 1}}", 2), decision.RollBack, []decision.Action{decision.Stall}, "Remediation"},
		{"none is left, and the last one is not", failedUpgrade(t, "upgrade: {remediation: {retries: 1, remediateLastFailure: false}}", 2), decision.Stall, nil, "RetriesExceeded"},
		{"without retries it may be remedied, too", failedUpgrade(t, "upgrade: {remediation: {remediateLastFailure: true}}", 1), decision.RollBack, []decision.Action{decision.Stall}, "Remediation"},
		{"for ever", failedUpgrade(t, "upgrade: {remediation: {retries: -1}}", 99), decision.RollBack, []decision.Action{decision.Upgrade}, "Remediation"},
		{"by an uninstall, and the install has a budget of its own", failedUpgrade(t, "upgrade: {remediation: {retries: 1, strategy: uninstall}}", 2), decision.Uninstall, []decision.Action{decision.Install}, "Remediation"},
		{"RetryOnFailure", failedUpgrade(t, "upgrade: {strategy: {name: RetryOnFailure}}", 9), decision.Upgrade, nil, flux.RetryOnFailure},
		{"RetryOnFailure of the other action", failedUpgrade(t, "install: {strategy: {name: RetryOnFailure}}", 1), decision.Stall, nil, "RetriesExceeded"},
		{"an install is uninstalled", failedInstall(t, "install: {remediation: {retries: 1}}", 1), decision.Uninstall, []decision.Action{decision.Install}, "Remediation"},
		{"its last failure by default not", failedInstall(t, "install: {remediation: {retries: 1}}", 2), decision.Stall, nil, "RetriesExceeded"},
		{"and then it ends", failedInstall(t, "install: {remediation: {retries: 1, remediateLastFailure: true}}", 2), decision.Uninstall, []decision.Action{decision.Stall}, "Remediation"},
		{"an install that is retried is an upgrade", failedInstall(t, "install: {strategy: {name: RetryOnFailure}}", 9), decision.Upgrade, nil, flux.RetryOnFailure},
	} {
		got := decision.Next(c.in)
		if got.Action != c.action || !slices.Equal(got.Then, c.then) || got.Reason != c.reason {
			t.Errorf("%s: %+v, want %s, then %q (%s)", c.why, got, c.action, c.then, c.reason)
		}
	}
}

func TestRollbackTargets(t *testing.T) {
	gone := failedUpgrade(t, "upgrade: {remediation: {retries: 1}}", 1)
	gone.Records = gone.Records[1:]
	expect(t, "the target's record is gone", decision.Next(gone), decision.Upgrade, "revision 1, the target of a rollback, is gone or was changed")
	edited := failedUpgrade(t, "upgrade: {remediation: {retries: 1}}", 1)
	edited.Records[0].Manifest = "edited"
	expect(t, "it was edited", decision.Next(edited), decision.Upgrade, "is gone or was changed")
	none := failedUpgrade(t, "upgrade: {remediation: {retries: 1}}", 1)
	none.HelmRelease.Status.History = none.HelmRelease.Status.History[:1]
	expect(t, "there is none", decision.Next(none), decision.Stall, "there is no revision to roll back to")
	tested := failedUpgrade(t, "test: {enable: true}, upgrade: {remediation: {retries: 1}}", 1)
	tested.HelmRelease.Status.History[1].TestHooks = map[string]*flux.TestHook{"a": {Phase: flux.TestFailed}}
	expect(t, "its tests have failed", decision.Next(tested), decision.Stall, "there is no revision to roll back to")
	ignored := failedUpgrade(t, "test: {enable: true, ignoreFailures: true}, upgrade: {remediation: {retries: 1}}", 1)
	ignored.HelmRelease.Status.History[1].TestHooks = map[string]*flux.TestHook{"a": {Phase: flux.TestFailed}}
	expect(t, "which does not count", decision.Next(ignored), decision.RollBack, "rollback to revision 1")
}

func TestTokens(t *testing.T) {
	token := func(in decision.Input, tokens map[string]string) decision.Input {
		in.HelmRelease.Metadata.Annotations = tokens
		return in
	}
	same := func(name string) map[string]string {
		return map[string]string{name: "a", flux.AnnotationRequestedAt: "a"}
	}
	expect(t, "forced in sync", decision.Next(token(released(t, ""), same(flux.AnnotationForceAt))), decision.Upgrade, "forced through annotation")
	expect(t, "forced alone", decision.Next(token(released(t, ""), map[string]string{flux.AnnotationForceAt: "a"})), decision.Nothing, "")
	expect(t, "two tokens", decision.Next(token(released(t, ""), map[string]string{flux.AnnotationForceAt: "a", flux.AnnotationRequestedAt: "b"})), decision.Nothing, "")
	expect(t, "out of retries", decision.Next(token(failedUpgrade(t, "", 1), same(flux.AnnotationForceAt))), decision.Upgrade, "forced through annotation")
	expect(t, "reset", decision.Next(token(failedUpgrade(t, "", 1), same(flux.AnnotationResetAt))), decision.Upgrade, "something has changed since")
	handled := token(released(t, ""), same(flux.AnnotationForceAt))
	handled.HelmRelease.Status.LastHandledForceAt, handled.HelmRelease.Status.LastHandledReconcileAt = "a", "a"
	expect(t, "handled", decision.Next(handled), decision.Nothing, "")
	expect(t, "while suspended", decision.Next(token(released(t, "suspend: true"), same(flux.AnnotationForceAt))), decision.Nothing, "suspended")
}

func TestStatesOfTheNewestRecord(t *testing.T) {
	for _, c := range []struct {
		status release.Status
		action decision.Action
		then   []decision.Action
	}{
		{release.StatusPendingInstall, decision.Unlock, []decision.Action{decision.Upgrade}},
		{release.StatusPendingRollback, decision.Unlock, []decision.Action{decision.Upgrade}},
		{release.StatusUninstalled, decision.Install, nil},
		{release.StatusUninstalling, decision.Fail, nil},
		{release.StatusSuperseded, decision.Fail, nil},
		{release.StatusUnknown, decision.Fail, nil},
	} {
		in := released(t, "")
		stored(t, &in, 2, c.status)
		if got := decision.Next(in); got.Action != c.action || !slices.Equal(got.Then, c.then) {
			t.Errorf("%s: %+v, want %s, then %q", c.status, got, c.action, c.then)
		}
	}
}

// Records that keepHistory left behind make an install fail every time.
func TestTheNameOfAnUninstalledRelease(t *testing.T) {
	for spec, fails := range map[string]bool{"": true, "install: {replace: true}": false} {
		in := released(t, spec)
		in.HelmRelease.Status.History = nil
		in.Records[0] = in.Records[0].WithStatus(release.StatusUninstalled, "")
		got := decision.Next(in)
		expect(t, spec, got, decision.Install, "uninstalled")
		if said := slices.ContainsFunc(decision.Notes(in, got, nil), contains("the install fails every time")); said != fails {
			t.Errorf("%s: said %t, want %t", spec, said, fails)
		}
	}
}

func TestTests(t *testing.T) {
	hooks := func(in decision.Input, phases map[string]string) decision.Input {
		in.HelmRelease.Status.LastAttemptedGeneration = 2
		in.HelmRelease.Status.History[0].TestHooks = map[string]*flux.TestHook{}
		for name, phase := range phases {
			in.HelmRelease.Status.History[0].TestHooks[name] = &flux.TestHook{Phase: phase}
		}
		return in
	}
	const enabled = "test: {enable: true}"
	expect(t, "never looked for", decision.Next(released(t, enabled)), decision.Test, "has not been tested")
	expect(t, "none", decision.Next(hooks(released(t, enabled), nil)), decision.Nothing, "")
	expect(t, "one is left", decision.Next(hooks(released(t, enabled), map[string]string{"a": flux.TestSucceeded, "b": ""})), decision.Test, "")
	expect(t, "which is filtered out", decision.Next(hooks(released(t, "test: {enable: true, filters: [{name: b, exclude: true}]}"), map[string]string{"a": flux.TestSucceeded, "b": ""})), decision.Nothing, "")
	failed := hooks(released(t, enabled), map[string]string{"a": flux.TestFailed})
	failed.HelmRelease.Status.InstallFailures = 1
	expect(t, "one has failed", decision.Next(failed), decision.Stall, "Failed to install after 1 attempt(s)")
	expect(t, "which does not count", decision.Next(hooks(released(t, "test: {enable: true, ignoreFailures: true}"), map[string]string{"a": flux.TestFailed})), decision.Nothing, "")
	expect(t, "tests are off", decision.Next(hooks(released(t, ""), map[string]string{"a": flux.TestFailed})), decision.Nothing, "")
}

func TestCyclesAcrossNamespaces(t *testing.T) {
	a, b := helmRelease(t, "a", "dependsOn: [{name: b, namespace: infra}]"), helmRelease(t, "b", "dependsOn: [{name: a, namespace: apps}]")
	b.Metadata.Namespace = "infra"
	same := helmRelease(t, "b", "dependsOn: [{name: a}]")
	cycle := []string{"apps/a", "infra/b", "apps/a"}
	if diff := cmp.Diff(map[string][]string{"apps/a": cycle, "infra/b": cycle, "apps/b": cycle}, decision.Cycles([]*flux.HelmRelease{a, b, same})); diff != "" {
		t.Error(diff)
	}
	own := helmRelease(t, "own", "dependsOn: [{name: own}]")
	if diff := cmp.Diff(map[string][]string{"apps/own": {"apps/own", "apps/own"}}, decision.Cycles([]*flux.HelmRelease{own})); diff != "" {
		t.Error(diff)
	}
}

// All that a cycle holds up are found, also those in several cycles.
func TestCyclesThatShareMembers(t *testing.T) {
	var all []*flux.HelmRelease
	for _, r := range [][2]string{
		{"a", "{name: b}, {name: c}"},
		{"b", "{name: d}"},
		{"c", "{name: d}"},
		{"d", "{name: a}, {name: fine}"},
		{"after", "{name: fine}, {name: c}"},
		{"fine", "{name: elsewhere}"},
		{"follows", "{name: fine}"},
	} {
		all = append(all, helmRelease(t, r[0], "dependsOn: ["+r[1]+"]"))
	}
	cycle := []string{"apps/a", "apps/b", "apps/d", "apps/a"}
	want := map[string][]string{"apps/a": cycle, "apps/b": cycle, "apps/c": cycle, "apps/d": cycle, "apps/after": cycle}
	if diff := cmp.Diff(want, decision.Cycles(all)); diff != "" {
		t.Error(diff)
	}
	for i, want := range []string{"a b d a", "b d a b", "c d a c", "d a b d", "", "", ""} {
		got := strings.ReplaceAll(strings.Join(decision.Cycle(all[i], all), " "), "apps/", "")
		if got != want {
			t.Errorf("%s: %q, want %q", all[i], got, want)
		}
	}
}
