package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/plan"
)

// withHooks adds hooks that run at the moment to the chart.
func (b *bench) withHooks(moment string, names ...string) {
	for _, name := range names {
		text := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + ", annotations: {helm.sh/hook: '" + moment + "', helm.sh/hook-delete-policy: before-hook-creation}}\n"
		b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/" + name + ".yaml", Data: []byte(text)})
	}
}

// A pass whose process ends leaves its revision pending: the next one resumes it, runs no hook
// again, and nothing counts as a failure.
func TestEndedPassIsGoneOnWith(t *testing.T) {
	for _, tc := range []struct{ why, at string }{{"in the first hook", "first"}, {"in the second hook", "second"}, {"behind the resources", "third"}} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, "")
				b.withHooks("pre-install,pre-upgrade", "first", "second")
				b.withHooks("post-install,post-upgrade", "third")
				b.mustPass()
				b.apply(base + "values: {text: two}")
				var created []string
				ctx, end := context.WithCancel(t.Context())
				b.ctx, b.creates = ctx, func(name string) {
					if created = append(created, name); name == tc.at {
						end()
						synctest.Wait()
					}
				}
				if _, err := b.pass(); err == nil || b.stored() != "deployed pending-upgrade" {
					t.Fatalf("%v, records %s", err, b.stored())
				}
				b.ctx = t.Context()
				b.mustPass()
				slices.Sort(created)
				if b.stored() != "superseded deployed" || b.text() != "two" || b.condition("Ready") != "Ready True UpgradeSucceeded" || b.hr.Status.Failures != 0 {
					t.Errorf("records %s, text %q, %s, %+v", b.stored(), b.text(), b.condition("Ready"), b.hr.Status)
				}
				if got := strings.Join(slices.Compact(created), " "); got != "first second third" || len(created) != 3 {
					t.Errorf("created %q", created)
				}
			})
		})
	}
}

// A process that ends before its plan is made has not failed, either.
func TestEndedBeforeItsPlan(t *testing.T) {
	b := newBench(t, "")
	ctx, end := context.WithCancel(t.Context())
	b.ctx = ctx
	b.r.Gate = func(*flux.HelmRelease, *plan.Plan, reconcile.Summary) (bool, error) {
		end()
		return false, errors.New("context canceled")
	}
	if _, err := b.pass(); err == nil || b.stored() != "" || b.hr.Status.Failures != 0 || strings.Contains(b.condition("Ready"), "Failed") {
		t.Errorf("%v, records %q, %+v", err, b.stored(), b.hr.Status)
	}
}

// What a process recorded before it died, but did not report, is not taken for somebody else's
// release: the status catches up with it, and no further revision is made.
func TestUntoldOutcomeIsCaughtUpWith(t *testing.T) {
	for _, tc := range []struct{ why, text, records, ready string }{
		{"deployed", "two", "superseded deployed", "Ready True UpgradeSucceeded"},
		{"failed", "bad", "deployed failed", "Ready False UpgradeFailed"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			b := newBench(t, "")
			b.mustPass()
			b.apply(base + "values: {text: " + tc.text + "}")
			b.reports = nil
			b.mustPass()
			b.hr.Status = b.reports[0] // the last one that was written before
			for range 2 {
				b.mustPass()
				if b.stored() != tc.records || b.condition("Ready") != tc.ready || len(b.hr.Status.History) != 2 {
					t.Errorf("records %s, %s, %+v", b.stored(), b.condition("Ready"), b.hr.Status.History)
				}
			}
			if tc.why == "failed" && b.hr.Status.UpgradeFailures != 1 {
				t.Errorf("%d failures", b.hr.Status.UpgradeFailures)
			}
		})
	}
}

// pendingUpgrade returns a bench with a release whose process ended at the first hook of an
// upgrade. It is for tests in a synctest bubble: otherwise the run might end before it notices that.
func pendingUpgrade(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, "")
	b.withHooks("pre-upgrade", "first")
	b.mustPass()
	b.apply(base + "values: {text: two}")
	b.diesInAHook()
	return b
}

// pendingInstall returns a bench whose process ended at the first hook of an install.
func pendingInstall(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, "")
	b.withHooks("pre-install", "first")
	b.diesInAHook()
	return b
}

// diesInAHook makes a pass whose process ends at the first hook.
func (b *bench) diesInAHook() {
	b.t.Helper()
	ctx, end := context.WithCancel(b.t.Context())
	b.ctx, b.creates = ctx, func(string) {
		end()
		synctest.Wait()
	}
	if _, err := b.pass(); err == nil {
		b.t.Fatal("it did not end")
	}
	b.ctx, b.creates = b.t.Context(), func(string) {}
}

// A pass that resumes a revision reports how large that is, as every other pass does: otherwise it
// would keep the share of a chart of unknown size.
func TestAResumedPassTellsItsSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pendingUpgrade(t)
		told := 0
		b.r.Rendered = func(_ *flux.HelmRelease, bytes int) { told = bytes }
		b.mustPass()
		if told == 0 || b.stored() != "superseded deployed" {
			t.Errorf("%d bytes are told, records %s", told, b.stored())
		}
	})
}

// Check 43, in short: what is pending for another generation is not resumed.
func TestPendingOfAnotherGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pendingUpgrade(t)
		b.apply(base + "values: {text: three}")
		b.mustPass()
		if b.stored() != "superseded failed deployed" || b.text() != "three" {
			t.Errorf("records %s, text %q", b.stored(), b.text())
		}
	})
}

// An upgrade that is given up for a newer plan is reported, and does not count as a failure.
func TestSuperseded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "upgrade: {remediation: {retries: 0}}")
		b.withHooks("pre-upgrade", "first")
		b.mustPass()
		b.apply(base + "values: {text: two}")
		ctx, end := context.WithCancelCause(t.Context())
		b.ctx, b.creates = ctx, func(string) {
			end(reconcile.ErrSuperseded)
			synctest.Wait() // until the run has noticed
		}
		if out := b.mustPass(); !out.Again || b.stored() != "deployed failed" || b.hr.Status.Failures != 0 || b.condition("Ready") != "Ready False HealthCheckCanceled" {
			t.Errorf("%+v, records %s", out, b.stored())
		}
		b.ctx, b.creates = t.Context(), func(string) {}
		b.apply(base + "values: {text: three}")
		if b.mustPass(); b.stored() != "superseded failed deployed" || b.condition("Ready") != "Ready True UpgradeSucceeded" {
			t.Errorf("records %s, %s", b.stored(), b.condition("Ready"))
		}
	})
}

// Supersedes depends on what is sent: other options do not make it another plan.
func TestSupersedes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pendingUpgrade(t)
		for _, tc := range []struct {
			why, spec string
			want      bool
		}{
			{"the same", "values: {text: two}", false},
			{"another timeout", "timeout: 1m\nvalues: {text: two}", false},
			{"suspended", "suspend: true\nvalues: {text: three}", false},
			{"other values", "values: {text: three}", true},
			{"another release", "releaseName: other\nvalues: {text: two}", true},
		} {
			b.apply(base + tc.spec)
			if got := b.supersedes(); got != tc.want {
				t.Errorf("%s: %t", tc.why, got)
			}
		}
	})
}

// A change that sends the release elsewhere supersedes what is under way, though nothing is pending there: during
// an install the status has no history from which to tell, and it never says in which cluster the release is.
func TestSupersedesWhatGoesElsewhere(t *testing.T) {
	const remote = "kubeConfig: {secretRef: {name: remote}}"
	for _, tc := range []struct {
		why, spec string
		pending   func(*testing.T) *bench
		want      bool
	}{
		{"the same install", "timeout: 1m", pendingInstall, false},
		{"another namespace", "targetNamespace: other", pendingInstall, true},
		{"another name", "releaseName: other", pendingInstall, true},
		{"another namespace for records", "storageNamespace: other", pendingInstall, true},
		{"another cluster for an install", remote, pendingInstall, true},
		{"another cluster for an upgrade", remote + "\nvalues: {text: two}", pendingUpgrade, true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := tc.pending(t)
				b.apply(base + tc.spec)
				b.local["Secret/remote"] = secret("remote", map[string]string{"value": "of another cluster"})
				here := b.connect
				b.connect = func(ctx context.Context, a reconcile.Access) (*reconcile.Connection, error) {
					c, err := here(ctx, a)
					if a.Kubeconfig != nil {
						there := *c
						there.Records = clusterfake.Clientset().CoreV1()
						c = &there
					}
					return c, err
				}
				if got := b.supersedes(); got != tc.want {
					t.Errorf("it supersedes: %t", got)
				}
			})
		})
	}
}

func (b *bench) supersedes() bool {
	b.t.Helper()
	got, err := b.judged()
	if err != nil {
		b.t.Error(err)
	}
	return got
}

func (b *bench) judged() (supersedes bool, err error) {
	in := reconcile.Sources{Source: b.chartSource(), Chart: func(context.Context) (*chart.Chart, error) { return b.chart, b.unread }}
	return b.r.Supersedes(b.t.Context(), b.hr, in)
}

// What a pass would be tried again for is an error: whether the change supersedes is not known yet.
func TestSupersedesIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pendingUpgrade(t)
		for why, test := range map[string]struct {
			spec   string
			unread error
		}{
			"values that are not there":        {spec: "valuesFrom: [{kind: Secret, name: values}]"},
			"a chart that can't be downloaded": {spec: "values: {text: three}", unread: errors.New("503 Service Unavailable")},
			"a chart that does not render":     {spec: "values: {text: null}"},
			"a kubeconfig that is not there":   {spec: "kubeConfig: {secretRef: {name: remote}}"},
			"a dependency that is not ready":   {spec: "dependsOn: [{name: other}]\nvalues: {text: three}"},
		} {
			b.apply(base + test.spec)
			b.unread = test.unread
			if got, err := b.judged(); got || err == nil {
				t.Errorf("%s: %t, %v", why, got, err)
			}
		}
	})
}

// remedied is a specification by which a failed upgrade is rolled back.
const remedied = "upgrade: {remediation: {retries: 0, remediateLastFailure: true}}\n"

// dyingInRollback returns a bench whose upgrade fails, and whose process ends at the first hook of each
// rollback.
func dyingInRollback(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, remedied)
	b.withHooks("pre-rollback", "first")
	b.mustPass()
	b.apply(base + remedied + "values: {text: bad}")
	ctx, end := context.WithCancel(t.Context())
	b.ctx, b.creates = ctx, func(string) {
		end()
		synctest.Wait()
	}
	return b
}

// A rollback is given up only for what is worth another attempt: what failed always differs from it.
func TestSupersedesOfARollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := dyingInRollback(t)
		if _, err := b.pass(); err == nil || b.stored() != "deployed failed pending-rollback" {
			t.Fatalf("%v, records %s", err, b.stored())
		}
		if b.supersedes() {
			t.Error("the attempt that has failed supersedes it")
		}
		b.apply(base + remedied + "values: {text: two}")
		if !b.supersedes() {
			t.Error("another attempt does not supersede it")
		}
	})
}

// A rollback that is given up during its wait, for another attempt, has not failed: that attempt follows.
func TestASupersededRollbackIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "install: {disableWait: true}")
		b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/claim.yaml", Data: []byte("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: never-bound}\n")})
		b.mustPass()
		b.apply(base + remedied + "values: {text: bad}")
		ctx, end := context.WithCancelCause(t.Context())
		b.ctx, b.in = ctx, func(in *reconcile.Sources) {
			in.Waiting = func() {
				end(reconcile.ErrSuperseded)
				synctest.Wait()
			}
		}
		out := b.mustPass()
		last := b.events[len(b.events)-1]
		if b.stored() != "deployed failed failed" || !out.Again || b.hr.Status.Failures != 1 || b.condition("Stalled") != "" || last.Warning || last.Reason != "HealthCheckCanceled" {
			t.Errorf("records %s, again %t, %d failures, %s, told %+v", b.stored(), out.Again, b.hr.Status.Failures, b.condition("Stalled"), last)
		}
		b.ctx, b.in = t.Context(), nil
		b.apply(base + "upgrade: {disableWait: true}\nvalues: {text: two}")
		if b.mustPass(); b.text() != "two" || b.condition("Ready") != "Ready True UpgradeSucceeded" {
			t.Errorf("text %s, %s", b.text(), b.condition("Ready"))
		}
	})
}

// A remediation spares what existed before the attempt even if another process adopted it: it is
// older than the attempt's record.
func TestRemedySparesWhatAnotherProcessAdopted(t *testing.T) {
	at := func(minute int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 11, 22, 12, minute, 0, 0, time.UTC))
	}
	for _, tc := range []struct{ action, record, remediated string }{
		{"install", "sh.helm.release.v1.web.v1", "Remediated True UninstallSucceeded"},
		{"upgrade", "sh.helm.release.v1.web.v2", "Remediated True RollbackSucceeded"},
	} {
		t.Run(tc.action, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tc.action+": {remediation: {retries: 0, remediateLastFailure: true}}")
				if tc.action == "upgrade" {
					b.mustPass()
					b.chart.Metadata.Version = "1.1.0"
				}
				adopted, own := configMap, configMap
				adopted.Name, own.Name = "adopted", "own"
				there := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "adopted", "namespace": "shop"}}}
				there.SetCreationTimestamp(at(0))
				b.cluster.Put(there)
				for _, name := range []string{"adopted", "own"} {
					b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/" + name + ".yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n")})
				}
				b.withHooks("post-"+tc.action, "early", "fails")
				ctx, end := context.WithCancel(t.Context())
				b.ctx, b.creates = ctx, func(name string) {
					if name == "early" {
						end()
						synctest.Wait()
					}
				}
				if _, err := b.pass(); err == nil || !strings.HasSuffix(b.stored(), "pending-"+tc.action) {
					t.Fatalf("%v, records %s", err, b.stored())
				}
				b.ctx, b.creates = t.Context(), func(string) {}
				secrets := b.records.CoreV1().Secrets("shop")
				record, err := secrets.Get(t.Context(), tc.record, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				record.CreationTimestamp = at(5)
				if _, err := secrets.Update(t.Context(), record, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				if o := b.cluster.Objects[own]; o != nil {
					o.SetCreationTimestamp(at(6))
				}
				b.passes()
				if b.condition("Remediated") != tc.remediated || b.cluster.Objects[adopted] == nil || b.cluster.Objects[own] != nil {
					t.Errorf("%s, adopted %v, own %v", b.condition("Remediated"), b.cluster.Objects[adopted], b.cluster.Objects[own])
				}
			})
		})
	}
}

// A rollback whose process died is resumed, even if the next passes meet an obstacle, or are ended
// as well.
func TestInterruptedRollbackIsGoneOnWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := dyingInRollback(t)
		for range 2 {
			if _, err := b.pass(); err == nil || b.stored() != "deployed failed pending-rollback" {
				t.Fatalf("%v, records %s", err, b.stored())
			}
		}
		b.ctx, b.creates = t.Context(), func(string) {}
		gone := *b.chartSource()
		gone.Status.Artifact = nil
		b.source = &gone
		if out := b.mustPass(); out.After == 0 || b.condition("Ready") != "Ready False SourceNotReady" {
			t.Fatalf("%+v, %s", out, b.condition("Ready"))
		}
		b.source = nil
		b.mustPass()
		if b.stored() != "superseded failed deployed" || b.condition("Ready") != "Ready False RollbackSucceeded" {
			t.Errorf("records %s, %s", b.stored(), b.condition("Ready"))
		}
	})
}

// When an install's tests fail in a different process from the one that adopted an object, the
// remediation spares that object.
func TestRemedyBehindTestsSparesAdopted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "test: {enable: true}\ninstall: {remediation: {retries: 0, remediateLastFailure: true}}")
		at := func(minute int) metav1.Time {
			return metav1.NewTime(time.Date(2026, 11, 22, 12, minute, 0, 0, time.UTC))
		}
		there := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "shop"}}}
		there.SetCreationTimestamp(at(0))
		b.cluster.Put(there)
		b.withHooks("test", "fails")
		ctx, end := context.WithCancel(t.Context())
		b.ctx, b.creates = ctx, func(string) {
			end()
			synctest.Wait()
		}
		if _, err := b.pass(); err == nil || b.stored() != "deployed" {
			t.Fatalf("%v, records %s", err, b.stored())
		}
		b.ctx, b.creates = t.Context(), func(string) {}
		secrets := b.records.CoreV1().Secrets("shop")
		record, err := secrets.Get(t.Context(), "sh.helm.release.v1.web.v1", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		record.CreationTimestamp = at(5)
		if _, err := secrets.Update(t.Context(), record, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		b.passes()
		if b.condition("Remediated") != "Remediated True UninstallSucceeded" || b.cluster.Objects[configMap] == nil {
			t.Errorf("%s, %s, adopted %v", b.condition("TestSuccess"), b.condition("Remediated"), b.cluster.Objects[configMap])
		}
	})
}

// Failing to write the status before an action begins is not a failure of the action.
func TestUnwrittenStatusIsNoFailure(t *testing.T) {
	const spec = "upgrade: {remediation: {retries: 0, remediateLastFailure: true}}\n"
	b := newBench(t, spec)
	b.mustPass()
	b.apply(base + spec + "values: {text: bad}")
	b.unwritten = func(s flux.HelmReleaseStatus) error {
		if c := flux.Condition(s.Conditions, "Planned"); c != nil && c.Reason == "Rollback" {
			return errors.New("etcdserver: leader changed")
		}
		return nil
	}
	if _, err := b.pass(); err == nil || b.stored() != "deployed failed" {
		t.Fatalf("%v, records %s", err, b.stored())
	}
	if b.hr.Status.Failures != 1 || b.condition("Remediated") != "" || strings.Contains(b.all(nil), "leader changed") {
		t.Errorf("%+v", b.hr.Status)
	}
	b.unwritten = nil
	if b.mustPass(); b.stored() != "superseded failed deployed" {
		t.Errorf("records %s", b.stored())
	}
}

// An upgrade after a failed install that is killed and resumed supersedes the failed revision, as one that was not
// killed does.
func TestAResumedUpgradeSupersedesTheFailedInstall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		b.r.Compatible = true
		b.withHooks("pre-install,pre-upgrade", "first", "second")
		b.creating = errors.New("no Jobs today")
		if _, err := b.pass(); err != nil || b.stored() != "failed" {
			t.Fatalf("%v, records %s", err, b.stored())
		}
		b.apply(base + "values: {text: two}")
		ctx, end := context.WithCancel(t.Context())
		b.ctx, b.creating, b.creates = ctx, nil, func(name string) {
			if name == "second" {
				end()
				synctest.Wait()
			}
		}
		if _, err := b.pass(); err == nil || b.stored() != "failed pending-upgrade" {
			t.Fatalf("%v, records %s", err, b.stored())
		}
		b.ctx = t.Context()
		b.mustPass()
		if b.stored() != "superseded deployed" {
			t.Errorf("records %s", b.stored())
		}
	})
}
