package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// dropping returns a chart with ConfigMaps of these names and, if it is to fail, a hook that does.
func dropping(text string, fails bool, names ...string) Deployment {
	var all strings.Builder
	for _, name := range names {
		fmt.Fprintf(&all, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {text: %s}\n", name, text)
	}
	if fails {
		all.WriteString("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, annotations: {helm.sh/hook: post-upgrade}}\n")
	}
	return Deployment{Options: plan.Options{Atomic: true}, Source: Source{Chart: &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: "v2", Name: "shop", Version: "1.0.0"},
		Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(all.String())}},
	}}}
}

// An object that the failed upgrade has deleted, and that is not gone yet, is created again once it is.
// If it does not go in time, everything else is restored all the same.
func TestARollbackWaitsForWhatIsBeingDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		takes    time.Duration
		says     string
		statuses string
	}{
		"it goes":     {time.Minute, "rolled back to revision 1 (as revision 3)", "superseded failed deployed"},
		"it does not": {time.Hour, "the rollback failed, too: create ConfigMap/one: it still exists after 5m0s: it waits for the finalizers example.com/hold", "deployed failed failed"},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				if _, err := b.deploy(dropping("old", false, "web", "one"), nothing); err != nil {
					t.Fatal(err)
				}
				b.Cluster = lingering{failingJobs{c}, test.takes}
				_, err := b.deploy(dropping("new", true, "web"), nothing)
				var back *RolledBackError
				if !errors.As(err, &back) || back.To != 1 || back.Release != webKey || !strings.HasSuffix(err.Error(), test.says) {
					t.Errorf("error %v, want one that ends: %s", err, test.says)
				}
				one := c.Objects[manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "one"}]
				if created := one != nil && one.GetDeletionTimestamp() == nil; created != (test.takes == time.Minute) {
					t.Errorf("what was being deleted is %v", one)
				}
				if got := c.Objects[configMap].Object["data"].(map[string]any)["text"]; got != "old" || b.statuses() != test.statuses {
					t.Errorf("the other ConfigMap says %v, the history is %q", got, b.statuses())
				}
			})
		})
	}
}

// disturbed is a cluster in which Jobs fail, and in which something else goes wrong from then on.
type disturbed struct {
	failingJobs
	disturb func()
	facts   func() error
	kinds   func(map[schema.GroupKind]plan.Kind)
}

func (d disturbed) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if u.GetKind() == "Job" {
		d.disturb()
	}
	return d.failingJobs.Create(ctx, u, o)
}

func (d disturbed) Facts(ctx context.Context) (cluster.Facts, error) {
	if d.facts != nil {
		if err := d.facts(); err != nil {
			return cluster.Facts{}, err
		}
	}
	return d.failingJobs.Facts(ctx)
}

func (d disturbed) Kinds(ctx context.Context, asked []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	found, err := d.failingJobs.Kinds(ctx, asked)
	if d.kinds != nil {
		d.kinds(found)
	}
	return found, err
}

// A rollback names everything that the cluster no longer serves, and goes on without.
func TestARollbackNamesAllThatIsNoLongerServed(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		if _, err := b.deploy(dropping("old", false, "web", "one"), nothing); err != nil {
			t.Fatal(err)
		}
		failed := false
		b.Cluster = disturbed{failingJobs: failingJobs{c}, disturb: func() { failed = true }, kinds: func(found map[schema.GroupKind]plan.Kind) {
			if failed {
				found[kinds.ConfigMap] = plan.Kind{Scope: manifest.ScopeNamespaced, Versions: []string{"v2"}}
			}
		}}
		_, err := b.deploy(dropping("new", true, "web"), nothing)
		var back *RolledBackError
		if !errors.As(err, &back) || back.Rollback == nil || back.To != 1 || b.statuses() != "superseded failed deployed" {
			t.Fatalf("error %v, the history is %q", err, b.statuses())
		}
		for _, name := range []string{"web", "one"} {
			if !strings.Contains(back.Rollback.Error(), "ConfigMap/"+name+": the cluster does not serve ConfigMap in v1") {
				t.Errorf("it does not name %s: %v", name, back.Rollback)
			}
		}
	})
}

// While an API can't be discovered, the rollback is planned again, for two minutes; then it goes on without its
// objects.
func TestARollbackOutlastsAnAPIThatIsAway(t *testing.T) {
	for away, said := range map[time.Duration]string{
		25 * time.Second: "",
		time.Hour:        "ConfigMap/web: the API v1 can't be discovered: no endpoints",
	} {
		t.Run(away.String(), func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				if _, err := b.deploy(dropping("old", false, "web"), nothing); err != nil {
					t.Fatal(err)
				}
				var left time.Time
				b.Cluster = disturbed{failingJobs: failingJobs{c}, disturb: func() { left = b.Now() }, kinds: func(found map[schema.GroupKind]plan.Kind) {
					if !left.IsZero() && b.Now().Before(left.Add(away)) {
						found[kinds.ConfigMap] = plan.Kind{Scope: manifest.ScopeNamespaced, Unavailable: "no endpoints"}
					}
				}}
				_, err := b.deploy(dropping("new", true, "web"), nothing)
				var back *RolledBackError
				if !errors.As(err, &back) || (back.Rollback == nil) != (said == "") || !strings.Contains(err.Error(), said) || b.statuses() != "superseded failed deployed" {
					t.Fatalf("error %v, the history is %q", err, b.statuses())
				}
				if took := b.Now().Sub(left); took < min(away, replanFor) || took > min(away, replanFor)+10*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// While the API server is away, the rollback is planned again, for two minutes.
func TestARollbackOutlastsAnAbsentAPIServer(t *testing.T) {
	for name, test := range map[string]struct {
		away     time.Duration
		err      error
		statuses string
		again    bool
	}{
		"it comes back":     {25 * time.Second, syscall.ECONNREFUSED, "superseded failed deployed", true},
		"it stays away":     {time.Hour, syscall.ECONNREFUSED, "deployed failed", true},
		"it refuses to say": {time.Hour, errors.New("no"), "deployed failed", false},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				if _, err := b.deploy(dropping("old", false, "web"), nothing); err != nil {
					t.Fatal(err)
				}
				var left time.Time
				b.Cluster = disturbed{failingJobs: failingJobs{c}, disturb: func() { left = b.Now() }, facts: func() error {
					if !left.IsZero() && b.Now().Before(left.Add(test.away)) {
						return fmt.Errorf("read the version: %w", test.err)
					}
					return nil
				}}
				_, err := b.deploy(dropping("new", true, "web"), nothing)
				var back *RolledBackError
				if restored := test.away < time.Hour; !errors.As(err, &back) || (back.Rollback == nil) != restored || !restored && !errors.Is(back.Rollback, test.err) {
					t.Errorf("error %v", err)
				}
				if took := b.Now().Sub(left); took > 130*time.Second || !test.again && took > time.Second {
					t.Errorf("it took %s", took)
				}
				told := slices.ContainsFunc(*b.told, func(e apply.Event) bool { return strings.HasPrefix(e.Message, "the rollback is planned again: ") })
				if b.statuses() != test.statuses || told != test.again {
					t.Errorf("the history is %q; it was told that it is tried again: %v", b.statuses(), told)
				}
			})
		})
	}
}

// A rollback applies a revision as it was applied itself, whatever has become of it.
func TestARollbackAppliesAsTheRevisionWasApplied(t *testing.T) {
	for status, method := range map[release.Status]release.ApplyMethod{
		release.StatusUninstalled: release.ClientSide, release.StatusSuperseded: release.ServerSide,
	} {
		goal := &release.Revision{ApplyMethod: method, Info: release.Info{Status: status}}
		if got := applyMethod(ServerSideAuto.resolveRollback(goal)); got != method {
			t.Errorf("%s, applied by %q: %q", status, method, got)
		}
		if !ServerSideOn.resolveRollback(goal) || ServerSideOff.resolveRollback(goal) {
			t.Errorf("%s: the option does not count", status)
		}
	}
}

// An atomic run that ends before its record is written has changed nothing, and nothing is rolled back.
func TestNothingIsRolledBackBeforeTheRecord(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		if _, err := b.deploy(dropping("old", false, "web"), nothing); err != nil {
			t.Fatal(err)
		}
		d := dropping("new", false, "web")
		d.Release = webKey
		p, err := b.PlanDeployment(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = b.applyOrRollBack(ended, p, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if got := b.statuses(); got != "deployed" {
			t.Errorf("the history is %q", got)
		}
	})
}

// A run that has lost its lock rolls nothing back: that is up to the next run.
func TestNothingIsRolledBackWithoutTheLock(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		if _, err := b.deploy(dropping("old", false, "web"), nothing); err != nil {
			t.Fatal(err)
		}
		b.Cluster = disturbed{failingJobs: failingJobs{c}, disturb: func() {
			if err := b.client.CoordinationV1().Leases(webKey.Namespace).Delete(t.Context(), releasestore.LeaseName(webKey.Name), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // it would have been renewed by then
		}}
		_, err := b.deploy(dropping("new", true, "web"), nothing)
		var back *RolledBackError
		if err == nil || errors.As(err, &back) || slices.ContainsFunc(*b.told, func(e apply.Event) bool { return e.Type == apply.RollbackStarted }) {
			t.Errorf("it is rolled back: %v", err)
		}
	})
}
