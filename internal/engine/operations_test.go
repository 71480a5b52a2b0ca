package engine

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// shop returns a chart with a ConfigMap and a hook Job.
func shop(values map[string]any) Source {
	return Source{Values: values, Chart: &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "shop", Version: "1.0.0"},
		Values:   map[string]any{"text": "one", "hook": false},
		Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {text: {{ .Values.text | quote }}}
{{- if .Values.hook }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: "post-upgrade,post-install"}}
{{- end }}
`)}},
	}}
}

var configMap = manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}

// deploy plans and applies a deployment, and calls see with each plan.
func (b bench) deploy(d Deployment, see func(*plan.Plan)) (*plan.Plan, error) {
	d.Release = webKey
	p, _, err := b.PlanAndApply(b.t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
		return b.PlanDeployment(ctx, d)
	}, func(p *plan.Plan) error { see(p); return nil })
	return p, err
}

func nothing(*plan.Plan) {}

// mustDeploy is like deploy, but fails the test on errors.
func (b bench) mustDeploy(values map[string]any) *plan.Plan {
	b.t.Helper()
	p, err := b.deploy(Deployment{Source: shop(values)}, nothing)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// statuses returns the statuses of the stored revisions, oldest first.
func (b bench) statuses() string {
	b.t.Helper()
	h, err := b.Store.History(b.t.Context(), webKey, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, r := range h {
		all = append(all, string(r.Info.Status))
	}
	return strings.Join(all, " ")
}

// inCluster runs a test with a bench whose cluster contains the release's namespace.
func inCluster(t *testing.T, test func(t *testing.T, b bench, c *clusterfake.Cluster)) {
	t.Helper()
	inBubble(t, func(t *testing.T, b bench) {
		c := clusterfake.New()
		c.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"))
		b.Cluster = c
		test(t, b, c)
	})
}

func TestInstallUpgradeRollbackUninstall(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		text := func() any {
			if c.Objects[configMap] == nil {
				return nil
			}
			return c.Objects[configMap].Object["data"].(map[string]any)["text"]
		}
		if p := b.mustDeploy(nil); p.Operation != plan.Install || text() != "one" {
			t.Fatalf("%s gives %v", p.Operation, text())
		}
		if p := b.mustDeploy(map[string]any{"text": "two"}); p.Operation != plan.Upgrade || text() != "two" {
			t.Fatalf("%s gives %v", p.Operation, text())
		}
		_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanRollback(ctx, webKey, Rollback{ServerSide: ServerSideAuto})
		}, func(*plan.Plan) error { return nil })
		if err != nil || text() != "one" {
			t.Fatalf("the rollback gives %v, error %v", text(), err)
		}
		if got := b.statuses(); got != "superseded superseded deployed" {
			t.Errorf("the history is %s", got)
		}
		_, _, err = b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanUninstall(ctx, webKey, Uninstall{})
		}, func(*plan.Plan) error { return nil })
		if err != nil || text() != nil || b.statuses() != "" {
			t.Errorf("the uninstall leaves %v and records %q, error %v", text(), b.statuses(), err)
		}
	})
}

// What was planned without the lock is planned and shown again if the release has moved on
// by the time the lock is held.
func TestPlannedAgainWhenTheReleaseMovedOn(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		b.mustDeploy(nil)
		var shown []int
		_, err := b.deploy(Deployment{Source: shop(map[string]any{"text": "three"})}, func(p *plan.Plan) {
			shown = append(shown, p.ToRevision)
			if len(shown) == 1 { // somebody else is faster
				b.mustDeploy(map[string]any{"text": "two"})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(shown, []int{2, 3}) {
			t.Errorf("plans to revisions %v were shown, want 2 and, planned again, 3", shown)
		}
	})
}

// Planning again reads the history anew: Helm, which takes no lock, may write a revision in the meantime, and it
// is superseded like any other.
func TestPlannedAgainWithTheHistoryAsItIsThen(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		b.mustDeploy(nil)
		plans := 0
		_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			if plans++; plans == 2 {
				byHelm, err := b.Newest(ctx, webKey)
				if err != nil {
					return nil, err
				}
				byHelm.Version++
				if err := b.Store.Create(ctx, byHelm); err != nil {
					return nil, err
				}
			}
			return b.PlanDeployment(ctx, Deployment{Release: webKey, Source: shop(map[string]any{"text": "three"})})
		}, func(*plan.Plan) error {
			if plans == 1 {
				b.mustDeploy(map[string]any{"text": "two"})
			}
			return nil
		})
		if got := b.statuses(); err != nil || got != "superseded superseded superseded deployed" {
			t.Errorf("the history is %q, error %v", got, err)
		}
	})
}

// The same goes for a release whose newest revision only has another status by then.
func TestPlannedAgainWhenTheReleaseWasUninstalled(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		b.mustDeploy(nil)
		var found []string
		_, err := b.deploy(Deployment{Source: shop(map[string]any{"text": "two"})}, func(p *plan.Plan) {
			if found = append(found, p.Found); len(found) > 1 {
				return
			}
			_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
				return b.PlanUninstall(ctx, webKey, Uninstall{Options: plan.Options{KeepHistory: true}})
			}, func(*plan.Plan) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
		})
		if err != nil || len(found) != 2 || !strings.Contains(found[1], "uninstalled") {
			t.Errorf("plans found the release like this: %q; %v", found, err)
		}
	})
}

// An install over a release whose history was kept supersedes the uninstalled revision, in Helm's words,
// once it has succeeded; one that fails leaves it as it was.
func TestInstallOverKeptHistory(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.mustDeploy(nil)
		_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanUninstall(ctx, webKey, Uninstall{Options: plan.Options{KeepHistory: true}})
		}, func(*plan.Plan) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		failing := b
		failing.Cluster = failingJobs{c}
		if _, err := failing.deploy(Deployment{Source: shop(map[string]any{"hook": true})}, nothing); err == nil {
			t.Fatal("the hook did not fail")
		}
		if got := b.statuses(); got != "uninstalled failed" {
			t.Errorf("after a failed install the history is %q", got)
		}
		b.mustDeploy(map[string]any{"hook": false})
		if got := b.statuses(); got != "superseded failed deployed" {
			t.Errorf("the history is %q", got)
		}
		h, err := b.Store.History(t.Context(), webKey, nil)
		if err != nil || h[0].Info.Description != "superseded by new release" {
			t.Errorf("revision 1 is described as %q, error %v", h[0].Info.Description, err)
		}
	})
}

// An install over a failed or uninstalled release uses only what it is given, as with Helm; an upgrade of
// a failed one goes on with its values, labels and way of applying.
func TestInstallStartsAfresh(t *testing.T) {
	first := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, status := range []release.Status{release.StatusFailed, release.StatusUninstalled} {
		t.Run(string(status), func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
				earlier := &release.Revision{
					Name: webKey.Name, Namespace: webKey.Namespace, Version: 1, Chart: shop(nil).Chart, Config: map[string]any{"text": "typo"},
					Labels: map[string]string{"team": "a"}, Info: release.Info{Status: status, FirstDeployed: first}, ApplyMethod: release.ClientSide,
				}
				if err := b.Store.Create(t.Context(), earlier); err != nil {
					t.Fatal(err)
				}
				for name, d := range map[string]Deployment{
					"install":           {Mode: InstallOnly, Options: plan.Options{Replace: true}},
					"upgrade --install": {},
				} {
					d.Release, d.Source, d.ServerSide = webKey, shop(nil), ServerSideAuto
					p, err := b.PlanDeployment(t.Context(), d)
					if err != nil {
						t.Fatal(err)
					}
					r, goesOn := p.Record, p.Operation == plan.Upgrade
					if goesOn != (name != "install" && status == release.StatusFailed) {
						t.Errorf("%s over one that is %s: %s", name, status, p.Operation)
					}
					if (r.Config["text"] == "typo") != goesOn || (r.Labels["team"] == "a") != goesOn || r.Info.FirstDeployed.Equal(first) != goesOn ||
						(r.ApplyMethod == release.ClientSide) != goesOn || r.Version != 2 {
						t.Errorf("%s over one that is %s (%s): revision %d with values %v, labels %v, first deployed %s, %s",
							name, status, p.Operation, r.Version, r.Config, r.Labels, r.Info.FirstDeployed, r.ApplyMethod)
					}
				}
			})
		})
	}
}

// An atomic deployment that fails goes back to the last successful revision, or to
// nothing.
func TestAtomicFailureGoesBack(t *testing.T) {
	for name, test := range map[string]struct {
		before   bool
		to       int
		statuses string
	}{
		"an upgrade is rolled back": {before: true, to: 1, statuses: "superseded failed deployed"},
		"an install is uninstalled": {before: false, to: 0, statuses: ""},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				if test.before {
					b.mustDeploy(nil)
				}
				b.Cluster = failingJobs{c}
				_, err := b.deploy(Deployment{
					Source: shop(map[string]any{"text": "two", "hook": true}), Options: plan.Options{Atomic: true},
				}, nothing)
				var back *RolledBackError
				if !errors.As(err, &back) || back.Rollback != nil || back.To != test.to {
					t.Fatalf("error %v, want one that says that it was rolled back to %d", err, test.to)
				}
				if got := b.statuses(); got != test.statuses {
					t.Errorf("the history is %q, want %q", got, test.statuses)
				}
				if live := c.Objects[configMap]; (live != nil) != test.before {
					t.Errorf("the ConfigMap is %v", live)
				}
			})
		})
	}
}

// An atomic upgrade that fails after nothing but failures is not rolled back: what a failed install has left
// may be in use by now.
func TestAtomicFailureWithoutAWayBack(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.Cluster = failingJobs{c}
		failing := Deployment{Source: shop(map[string]any{"hook": true})}
		if _, err := b.deploy(failing, nothing); err == nil {
			t.Fatal("the install did not fail")
		}
		failing.Options.Atomic = true
		_, err := b.deploy(failing, nothing)
		var back *RolledBackError
		if !errors.Is(err, ErrNoWayBack) || errors.As(err, &back) {
			t.Errorf("error %v, want one that says that nothing was rolled back", err)
		}
		if got := b.statuses(); got != "failed failed" || c.Objects[configMap] == nil {
			t.Errorf("the history is %q, the ConfigMap %v", got, c.Objects[configMap])
		}
	})
}

// A run that ends in order to be resumed later is not rolled back, even if it is atomic.
func TestAtomicRunThatIsLeftIsNotRolledBack(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.mustDeploy(nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		b.Cluster = leavingJobs{c, func() { cancel(apply.ErrLeave) }}
		_, _, err := b.PlanAndApply(ctx, releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanDeployment(ctx, Deployment{
				Release: webKey, Source: shop(map[string]any{"text": "two", "hook": true}), Options: plan.Options{Atomic: true},
			})
		}, func(*plan.Plan) error { return nil })
		if !errors.Is(err, apply.ErrLeave) {
			t.Fatalf("error %v, want one that says that the run was left", err)
		}
		if got, want := b.statuses(), "deployed pending-upgrade"; got != want {
			t.Errorf("the history is %q, want %q", got, want)
		}
	})
}

// leavingJobs is a cluster in which the creation of a Job ends the run.
type leavingJobs struct {
	*clusterfake.Cluster
	leave func()
}

func (l leavingJobs) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if u.GetKind() == "Job" && !o.DryRun {
		l.leave()
	}
	return l.Cluster.Create(ctx, u, o)
}

// failingJobs is a cluster for planning and applying in which Jobs fail.
type failingJobs struct{ *clusterfake.Cluster }

func (f failingJobs) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	return clusterfake.FailingJobs{Cluster: f.Cluster}.Create(ctx, u, o)
}

// A refused dry run blocks the plan, and nothing is written.
func TestWhatADryRunRefusesBlocks(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		c.Refuse = map[manifest.ID]*plan.Refusal{configMap: {Reason: "Invalid", Message: "data: is odd"}}
		_, err := b.deploy(Deployment{Source: shop(nil)}, func(p *plan.Plan) { wantBlocking(t, p, "data: is odd") })
		if !errors.Is(err, apply.ErrBlocked) || c.Calls != 0 || b.statuses() != "" {
			t.Errorf("error %v, %d writes, history %q", err, c.Calls, b.statuses())
		}
	})
}

// Permissions that no dry run tests are checked beforehand: a deletion without permission blocks.
func TestWhatIsNotPermittedBlocks(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.mustDeploy(nil)
		c.Denied = map[plan.Permission]bool{{Verb: "delete", Resource: "configmaps", Namespace: "shop", Name: "web"}: true}
		p, err := b.PlanUninstall(t.Context(), webKey, Uninstall{})
		if err != nil {
			t.Fatal(err)
		}
		wantBlocking(t, p, "delete")
	})
}

func wantBlocking(t *testing.T, p *plan.Plan, text string) {
	t.Helper()
	if !slices.ContainsFunc(p.Problems, func(q plan.Problem) bool { return q.Blocking && strings.Contains(q.What+q.Do, text) }) {
		t.Errorf("no problem that blocks speaks of %q: %v", text, p.Problems)
	}
}

// A corrupt record that is not the newest is ignored with a warning, can't be rolled back to, and goes
// with an uninstall.
func TestCorruptOldRecord(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		store, err := releasestore.Open(b.client.CoreV1(), "secret", releasestore.SystemClock{})
		if err != nil {
			t.Fatal(err)
		}
		b.Store = store
		b.mustDeploy(nil)
		b.mustDeploy(map[string]any{"text": "two"})
		secrets := b.client.CoreV1().Secrets("shop")
		old, err := secrets.Get(t.Context(), releasestore.ObjectName("web", 1), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		old.Data["release"] = []byte("not a record")
		if _, err := secrets.Update(t.Context(), old, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		const unread = "web revision 1 (Secret shop/sh.helm.release.v1.web.v1) can't be read"
		if _, err := b.PlanRollback(t.Context(), webKey, Rollback{To: 1, ServerSide: ServerSideAuto}); err == nil || !strings.Contains(err.Error(), unread) {
			t.Errorf("a rollback to it gives %v", err)
		}
		p := b.mustDeploy(map[string]any{"text": "three"})
		if !slices.ContainsFunc(p.Problems, func(p plan.Problem) bool { return !p.Blocking && strings.Contains(p.What, unread) }) {
			t.Errorf("an upgrade does not say so: %v", p.Problems)
		}
		_, _, err = b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanUninstall(ctx, webKey, Uninstall{})
		}, func(*plan.Plan) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if left, err := secrets.List(t.Context(), metav1.ListOptions{}); err != nil || len(left.Items) != 0 {
			t.Errorf("%d records are left, error %v", len(left.Items), err)
		}
	})
}

// A namespace or CRD that somebody else creates between plan and apply will do, unless it is being
// deleted or is not the same.
func TestCreatedMeanwhile(t *testing.T) {
	const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {of: theirs}}}"
	for name, test := range map[string]struct{ there, err string }{
		"namespace":             {namespace, ""},
		"CRD":                   {widgets("v1"), ""},
		"another CRD":           {widgets("v2"), "already exists"},
		"terminating namespace": {strings.Replace(namespace, "labels:", `deletionTimestamp: "2026-01-01T00:00:00Z", labels:`, 1), "already exists"},
	} {
		for _, serverSide := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, serverSide), func(t *testing.T) {
				inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
					delete(c.Objects, plan.NamespaceID("shop"))
					source := shop(nil)
					source.Chart.Files = []*chart.File{{Name: "crds/widgets.yaml", Data: []byte(widgets("v1"))}}
					d := Deployment{Source: source, Options: plan.Options{CreateNamespace: true, ServerSide: serverSide}}
					_, err := b.deploy(d, func(*plan.Plan) { c.Put(objecttest.Parse(t, test.there)) })
					if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
						t.Errorf("error %v, want %q", err, test.err)
					}
				})
			})
		}
	}
}

// widgets returns a CRD with one version.
func widgets(version string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: ` + version + `, served: true, storage: true}]},
status: {acceptedNames: {plural: widgets}, conditions: [{type: Established, status: "True"}, {type: NamesAccepted, status: "True"}]}}`
}

// A revision to roll back to that does not exist, or can't be used, gives an error, not a plan.
func TestRollbackGoals(t *testing.T) {
	revision := func(version int, status release.Status) *release.Revision {
		return &release.Revision{Name: "web", Namespace: "shop", Version: version, Info: release.Info{Status: status}}
	}
	history := release.History{
		revision(1, release.StatusSuperseded), revision(2, release.StatusFailed), revision(3, release.StatusSuperseded),
		revision(4, release.StatusFailed), revision(5, release.StatusDeployed),
	}
	failedInstall := revision(1, release.StatusSuperseded) // as Helm leaves it after an upgrade
	failedInstall.Info.Description = `Release "web" failed: it is broken`
	for name, test := range map[string]struct {
		history release.History
		to      int
		want    int
		err     string
	}{
		"the last that was up":     {history, 0, 3, ""},
		"a named one, even failed": {history, 2, 2, ""},
		"one that is not there":    {history, 9, 0, "9"},
		"nothing but failures":     {history[1:2], 0, 0, "no earlier successful revision"},
		"a failed first install":   {release.History{failedInstall, revision(2, release.StatusDeployed)}, 0, 0, "no earlier successful revision"},
		"no release":               {nil, 0, 0, "there is no release"},
	} {
		t.Run(name, func(t *testing.T) {
			goal, err := rollbackGoal(test.history, webKey, test.to)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want one with %q", err, test.err)
				}
				return
			}
			if err != nil || goal.Version != test.want {
				t.Errorf("goal %v, error %v, want revision %d", goal, err, test.want)
			}
		})
	}
}

// Modes say whether the release may or must exist.
func TestDeploymentModes(t *testing.T) {
	up := release.History{{Version: 1, Info: release.Info{Status: release.StatusDeployed}}}
	failed := release.History{{Version: 1, Info: release.Info{Status: release.StatusFailed}}}
	gone := release.History{{Version: 1, Info: release.Info{Status: release.StatusUninstalled}}}
	replace := plan.Options{Replace: true}
	for name, test := range map[string]struct {
		d       Deployment
		history release.History
		want    plan.Operation
		err     string
	}{
		"whichever fits, nothing there": {Deployment{}, nil, plan.Install, ""},
		"whichever fits, up":            {Deployment{}, up, plan.Upgrade, ""},
		"whichever fits, history kept":  {Deployment{}, gone, plan.Install, ""},
		"install over what is up":       {Deployment{Mode: InstallOnly}, up, "", "already exists (revision "},
		"install over what has failed":  {Deployment{Mode: InstallOnly, Options: replace}, failed, plan.Install, ""},
		"install, history kept":         {Deployment{Mode: InstallOnly}, gone, "", "whose history was kept"},
		"install again, history kept":   {Deployment{Mode: InstallOnly, Options: replace}, gone, plan.Install, ""},
		"upgrade, nothing there":        {Deployment{Mode: UpgradeOnly}, nil, "", "no release"},
		"upgrade what was uninstalled":  {Deployment{Mode: UpgradeOnly}, gone, "", "no release"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.d.operation(test.history)
			if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q, error %v; want %q, error with %q", got, err, test.want, test.err)
			}
		})
	}
}

// A write that fails ends the run there, and the record says so.
func TestFailedWriteIsRecorded(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		c.Trouble = func(int) clusterfake.Trouble {
			return clusterfake.Trouble{Before: apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "web", errors.New("a policy"))}
		}
		_, err := b.deploy(Deployment{Source: shop(nil)}, nothing)
		if err == nil || !strings.Contains(err.Error(), "a policy") {
			t.Fatalf("error %v", err)
		}
		if got := b.statuses(); got != "failed" {
			t.Errorf("the history is %q", got)
		}
	})
}
