package reconcile_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// picky is a cluster that refuses what the bench refuses, which no dry run reveals, and objects in the
// namespace "missing", and in which Jobs named "fails" fail. It has ClusterIssuers.
type picky struct {
	*clusterfake.Cluster
	bench *bench
}

func (p picky) Kinds(ctx context.Context, asked []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	found, err := p.Cluster.Kinds(ctx, asked)
	for _, gvk := range asked {
		if gvk.Kind == "ClusterIssuer" {
			found[gvk.GroupKind()] = plan.Kind{Scope: manifest.ScopeCluster, Versions: []string{gvk.Version}, Resource: "clusterissuers"}
		}
	}
	return found, err
}

func (p picky) Observe(ctx context.Context, refs []apply.Ref) (map[manifest.ID]plan.Observation, error) {
	if p.bench.unseen != nil {
		return nil, p.bench.unseen
	}
	return p.Cluster.Observe(ctx, refs)
}

func (p picky) Patch(ctx context.Context, ref apply.Ref, patch apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if ref.Namespace == "missing" {
		return nil, apierrors.NewNotFound(resourceOf("namespaces"), ref.Namespace)
	}
	if ref.Kind == "ConfigMap" {
		if err := p.bench.refuse(string(patch.Data)); err != nil {
			return nil, err
		}
	}
	return p.Cluster.Patch(ctx, ref, patch, o)
}

func (p picky) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	p.bench.creates(u.GetName())
	if p.bench.creating != nil && u.GroupVersionKind().GroupKind() == kinds.Job {
		return nil, p.bench.creating
	}
	if u.GroupVersionKind().GroupKind() == kinds.Job && u.GetName() == "fails" {
		return clusterfake.FailingJobs{Cluster: p.Cluster}.Create(ctx, u, o)
	}
	return p.Cluster.Create(ctx, u, o)
}

func (p picky) Logs(context.Context, apply.Ref, int64) (string, error) { return p.bench.log, nil }

// passes makes passes until none follows immediately, and returns the conditions that were written,
// each once.
func (b *bench) passes() []string {
	b.t.Helper()
	b.reports = nil
	var seen []string
	for range 10 {
		out := b.mustPass()
		for _, s := range append(b.reports, b.hr.Status) {
			for _, c := range s.Conditions {
				if said := c.Type + " " + string(c.Status) + " " + c.Reason; c.Type != "Reconciling" && c.Type != "Planned" && c.Reason != "Progressing" && !slices.Contains(seen, said) {
					seen = append(seen, said)
				}
			}
		}
		if !out.Again {
			return seen
		}
	}
	b.t.Fatal("the passes have no end")
	return nil
}

// Check 32: an upgrade that fails with one retry is rolled back, retried, rolled back again, and stalls.
func TestCheck32Rollback(t *testing.T) {
	b := newBench(t, "upgrade: {remediation: {retries: 1}}")
	b.mustPass()
	b.apply(base + "upgrade: {remediation: {retries: 1}}\nvalues: {text: bad}")
	got := strings.Join(b.passes(), ", ")
	if b.stored() != "superseded failed superseded failed deployed" || b.text() != "one" {
		t.Errorf("records %s, text %q", b.stored(), b.text())
	}
	want := "Released True InstallSucceeded, Ready False UpgradeFailed, Released False UpgradeFailed, Ready False RollbackSucceeded, Remediated True RollbackSucceeded, Stalled True RetriesExceeded"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s := b.hr.Status; s.Failures != 2 || s.UpgradeFailures != 2 || s.ObservedGeneration != 2 {
		t.Errorf("%+v", s)
	}
	b.apply(base + "upgrade: {remediation: {retries: 1}}\nvalues: {text: two}")
	b.mustPass()
	if b.condition("Ready") != "Ready True UpgradeSucceeded" || b.condition("Stalled") != "" || b.condition("Remediated") != "" || b.hr.Status.Failures != 0 {
		t.Errorf("mended: %+v", b.hr.Status)
	}
}

// Check 35: RetryOnFailure for installs also applies to the upgrades that repeat one; if the
// reconciler is Compatible, as with helm-controller, the second failure stalls.
func TestCheck35RetriedInstall(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "install: {strategy: {name: RetryOnFailure, retryInterval: 8s}}\nvalues: {text: bad}")
		b.r.Compatible = compatible
		for range 3 {
			if out := b.mustPass(); !compatible && out.After != 8*time.Second {
				t.Errorf("the next try is after %s", out.After)
			}
		}
		if stalls := b.condition("Stalled") != ""; stalls != compatible || b.stored() == "" {
			t.Errorf("compatible %t: %s, records %s", compatible, b.condition("Stalled"), b.stored())
		}
	}
}

// Check 33: the remediation strategy uninstall of an upgrade is followed by an install; a failed
// install without retries stays as it is.
func TestCheck33Uninstall(t *testing.T) {
	b := newBench(t, "upgrade: {remediation: {retries: 1, strategy: uninstall}}")
	b.mustPass()
	b.apply(base + "upgrade: {remediation: {retries: 1, strategy: uninstall}}\nvalues: {text: bad}")
	got := strings.Join(b.passes(), ", ")
	if !strings.Contains(got, "Remediated True UninstallSucceeded") || !strings.Contains(got, "Released False InstallFailed") || b.stored() != "failed" {
		t.Errorf("%s; records %s", got, b.stored())
	}
}

// An uninstall that remediates an install leaves alone what the install adopted, and deletes what it created.
func TestRemedySparesAdopted(t *testing.T) {
	b := newBench(t, "install: {remediation: {retries: 0, remediateLastFailure: true}}")
	b.cluster.Put(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "data": map[string]any{"own": "1"},
	}})
	own := configMap
	own.Name = "own"
	for _, text := range []string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: fails, annotations: {helm.sh/hook: post-install}}\n",
	} {
		b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/" + text[12:14] + ".yaml", Data: []byte(text)})
	}
	b.passes()
	if b.condition("Remediated") != "Remediated True UninstallSucceeded" || b.cluster.Objects[configMap] == nil || b.cluster.Objects[own] != nil {
		t.Errorf("%s, adopted %v, own %v", b.condition("Remediated"), b.cluster.Objects[configMap], b.cluster.Objects[own])
	}
	if !strings.Contains(b.all(nil), "ConfigMap/shop/web") {
		t.Error(b.all(nil))
	}
}

// A failed upgrade is rolled back, or its release uninstalled, sparing what the upgrade had adopted.
func TestRemedySparesWhatAnUpgradeAdopted(t *testing.T) {
	for _, strategy := range []string{"rollback", "uninstall"} {
		b := newBench(t, "upgrade: {remediation: {retries: 0, remediateLastFailure: true, strategy: "+strategy+"}}")
		b.mustPass()
		adopted, own := configMap, configMap
		adopted.Name, own.Name = "adopted", "own"
		there := b.cluster.Put(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "adopted", "namespace": "shop"}, "data": map[string]any{"own": "1"},
		}})
		for _, name := range []string{"adopted", "own"} {
			b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/" + name + ".yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n")})
		}
		b.withHooks("post-upgrade", "fails")
		b.chart.Metadata.Version = "1.1.0"
		b.passes()
		if left := b.cluster.Objects[adopted]; left == nil || left.GetUID() != there.GetUID() {
			t.Errorf("%s: adopted %v", strategy, left)
		}
		if made := b.cluster.Objects[own]; strategy == "rollback" && made != nil { // an uninstall is followed by an install
			t.Errorf("%s: own %v", strategy, made)
		}
		if !strings.Contains(b.all(nil), "ConfigMap/shop/adopted") {
			t.Error(b.all(nil))
		}
	}
}

// Check 34: a release that was taken over has nothing to roll back to; Stalled and Ready
// say so.
func TestCheck34NoTarget(t *testing.T) {
	b := newBench(t, "upgrade: {remediation: {retries: 1}}")
	b.mustPass()
	b.hr.Status.History = nil
	b.apply(base + "upgrade: {remediation: {retries: 1}}\nvalues: {text: bad}")
	b.passes()
	if b.condition("Stalled") != "Stalled True MissingRollbackTarget" || !strings.Contains(b.all(nil), "missing target release for rollback") {
		t.Errorf("%s, %s", b.condition("Stalled"), b.condition("Ready"))
	}
	if c := b.condition("Ready"); c != "Ready False MissingRollbackTarget" {
		t.Error(c)
	}
}

// Check 38: tests that are enabled for a deployed release run without a new revision; filters exclude
// tests; an ignored failure leaves it ready.
func TestCheck38Tests(t *testing.T) {
	for _, tc := range []struct{ why, test, ready, tests, says string }{
		{"all", "{enable: true}", "Ready False TestFailed", "checks Succeeded, fails Failed", "Helm test failed"},
		{"filtered", "{enable: true, filters: [{name: fails, exclude: true}]}", "Ready True TestSucceeded", "checks Succeeded", ": 1 test hook completed successfully"},
		{"none selected", "{enable: true, filters: [{name: other}]}", "Ready True TestSucceeded", "", ": no test hooks"},
		{"ignored", "{enable: true, ignoreFailures: true}", "Ready True InstallSucceeded", "checks Succeeded, fails Failed", "Helm test failed"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			b := newBench(t, "")
			for _, name := range []string{"checks", "fails"} {
				job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + ", annotations: {helm.sh/hook: test}}\n"
				b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/" + name + ".yaml", Data: []byte(job)})
			}
			b.mustPass()
			b.apply(base + "test: " + tc.test)
			b.passes()
			var tests []string
			for name, h := range b.hr.Status.History[0].TestHooks {
				tests = append(tests, name+" "+h.Phase)
			}
			slices.Sort(tests)
			if got := strings.Join(tests, ", "); b.condition("Ready") != tc.ready || got != tc.tests || b.stored() != "deployed" || !strings.Contains(b.all(nil), tc.says) {
				t.Errorf("%s, %s, records %s: %s", b.condition("Ready"), got, b.stored(), b.all(nil))
			}
		})
	}
}

// Check 22: a revision that a dead run left pending is marked failed and upgraded. For a release that
// another run has locked see TestAForcedUpgradeOfALockedRelease.
func TestCheck22Pending(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	b.pending()
	b.mustPass()
	if b.stored() != "failed deployed" || !slices.ContainsFunc(b.events, pendingRelease) || b.condition("Ready") != "Ready True UpgradeSucceeded" {
		t.Errorf("records %s, %s", b.stored(), b.condition("Ready"))
	}
}

// pending leaves the newest record as a run leaves it that dies during an upgrade.
func (b *bench) pending() {
	b.t.Helper()
	store, err := releasestore.Open(b.records.CoreV1(), "", releasestore.SystemClock{})
	if err != nil {
		b.t.Fatal(err)
	}
	h, err := store.History(b.t.Context(), key, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := store.Update(b.t.Context(), h.Last().WithStatus(release.StatusPendingUpgrade, "Preparing upgrade")); err != nil {
		b.t.Fatal(err)
	}
}

func pendingRelease(e reconcile.Event) bool { return e.Reason == "PendingRelease" && !e.Warning }

// When a HelmRelease changes to another release, the old one is uninstalled, in its own namespace, and
// the next pass installs the new one.
func TestMove(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	b.apply(base + "targetNamespace: other\nreleaseName: web")
	out := b.mustPass()
	if !out.Again || b.text() != "" || len(b.hr.Status.History) != 0 || b.condition("Released") != "Released False UninstallSucceeded" {
		t.Errorf("%+v, text %q, %+v", out, b.text(), b.hr.Status)
	}
	b.mustPass()
	moved := configMap
	moved.Namespace = "other"
	if b.cluster.Objects[moved] == nil || b.stored() != "deployed" || b.hr.Status.History[0].Namespace != "other" {
		t.Errorf("records in shop: %s, %+v", b.stored(), b.hr.Status.History)
	}
}

// The uninstall of a move waits for approval, as does the install after it; a HelmRelease that is
// deleted needs none.
func TestMoveIsReviewed(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	held := true
	b.r.Gate = func(_ *flux.HelmRelease, made *plan.Plan, _ reconcile.Summary) (bool, error) {
		if held {
			return false, &reconcile.Held{Message: string(made.Operation) + " waits"}
		}
		return false, nil
	}
	b.apply(base + "releaseName: other")
	out := b.mustPass()
	if b.text() == "" || b.stored() != "deployed" || b.condition("Ready") != "Ready False ApprovalRequired" || out.After == 0 || b.hr.Status.Failures != 0 {
		t.Errorf("%+v, text %q, records %s, %s", out, b.text(), b.stored(), b.condition("Ready"))
	}
	if c := flux.Condition(b.hr.Status.Conditions, "Approved"); c == nil || c.Message != "uninstall waits" {
		t.Errorf("%+v", c)
	}
	held = false
	if b.mustPass(); b.text() != "" || b.condition("Approved") != "" {
		t.Errorf("text %q, %s", b.text(), b.condition("Approved"))
	}
	held = true
	b.mustPass()
	if c := flux.Condition(b.hr.Status.Conditions, "Approved"); c == nil || c.Message != "install waits" || b.text() != "" {
		t.Errorf("%+v, text %q", c, b.text())
	}
	held = false
	if b.mustPass(); b.text() != "one" {
		t.Errorf("text %q", b.text())
	}
	held = true
	b.hr.Metadata.DeletionTimestamp = &metav1.Time{}
	if out := b.mustPass(); !out.Released || b.text() != "" {
		t.Errorf("%+v, text %q", out, b.text())
	}
}

// A deleted HelmRelease is uninstalled; a suspended one leaves its release behind.
func TestDeletion(t *testing.T) {
	for _, suspended := range []bool{false, true} {
		b := newBench(t, "")
		b.mustPass()
		b.hr.Spec.Suspend = suspended
		b.hr.Metadata.DeletionTimestamp = &metav1.Time{}
		out := b.mustPass()
		if !out.Released || (b.text() == "") == suspended || (b.stored() == "") == suspended {
			t.Errorf("suspended %t: %+v, text %q, records %q", suspended, out, b.text(), b.stored())
		}
	}
}

// A release that was rolled back, and is what the HelmRelease asks for by now, is no longer a remedied one before its
// tests begin, as in helm-controller: they may fail.
func TestARolledBackReleaseIsTested(t *testing.T) {
	b := newBench(t, remedied)
	b.withHooks("test", "fails")
	b.mustPass()
	b.apply(base + remedied + "values: {text: bad}")
	if b.passes(); b.condition("Remediated") != "Remediated True RollbackSucceeded" {
		t.Fatalf("after the rollback: %s", b.condition("Remediated"))
	}
	b.apply(base + "test: {enable: true}")
	_, _ = b.pass()
	if got := b.condition("Remediated") + b.condition("Released") + ", " + b.condition("Ready"); got != "Released True UpgradeSucceeded, Ready False TestFailed" {
		t.Error(got)
	}
}
