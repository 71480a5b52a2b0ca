package reconcile_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/plan"
)

// What follows a failure, as docs/controller.md says.
const (
	triedAgain = "tried again after a pause that grows; it counts as no attempt"
	lookedAt   = "looked at again every 30 s, and when it changes"
	exceeded   = "stalls when its attempts are used up: `RetriesExceeded`"
)

// failure is what can go wrong with an upgrade, in the words of docs/controller.md.
type failure struct {
	what, follows string
	// spec is part of the HelmRelease from the beginning, spoil breaks it, mend repairs it.
	spec        string
	spoil, mend func(b *bench)
}

// fails makes the write of the upgrade fail.
func fails(what string, err error) failure {
	return failure{what: what, follows: triedAgain, spoil: func(b *bench) {
		b.refuses("bad", err)
		b.apply(base + "values: {text: bad}")
	}, mend: func(b *bench) { b.refuses("bad", nil) }}
}

// loads has the chart fail to load.
func loads(b *bench, err error) {
	b.apply(base + "chartRef: {kind: HelmChart, name: app}\nvalues: {text: two}")
	b.in = func(in *reconcile.Sources) {
		in.Chart = func(context.Context) (*chart.Chart, error) { return nil, err }
	}
}

func hook(moment, name string) *chart.File {
	text := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + ", annotations: {helm.sh/hook: " + moment + "}}\n"
	return &chart.File{Name: "templates/" + name + ".yaml", Data: []byte(text)}
}

var failures = []failure{
	{what: "an object is refused: forbidden, invalid, immutable", follows: exceeded, spoil: func(b *bench) {
		b.apply(base + "values: {text: bad}")
	}},
	{what: "a hook fails", follows: exceeded, spoil: func(b *bench) {
		b.chart.Templates = append(b.chart.Templates, hook("pre-upgrade", "fails"))
		b.apply(base + "values: {text: two}")
	}},
	{what: "an object fails, or is not ready in time", follows: exceeded, spoil: func(b *bench) {
		b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/web.yaml", Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: late}\nspec: {containers: [{name: a, image: a}]}\n")})
		b.apply(base + "timeout: 3s\nvalues: {text: two}")
	}},
	{what: "a test fails", follows: exceeded, spec: "test: {enable: true}\n", spoil: func(b *bench) {
		b.chart.Templates = append(b.chart.Templates, hook("test", "fails"))
		b.apply(base + "test: {enable: true}\nvalues: {text: two}")
	}},
	{what: "there is no revision to roll back to", follows: "stalls: `MissingRollbackTarget`", spoil: func(b *bench) {
		b.hr.Status.History = nil
		b.apply(base + "upgrade: {remediation: {retries: 1}}\nvalues: {text: bad}")
	}},
	{what: "a source of another namespace, or an ExternalArtifact, is forbidden", follows: "stalls: `AccessDenied`", spoil: func(b *bench) {
		b.r.NoCrossNamespaceRefs = true
		b.apply("interval: 10m\nchartRef: {kind: HelmChart, name: app, namespace: other}")
	}},
	{what: "a source of another namespace, or an ExternalArtifact, is forbidden", follows: "stalls: `AccessDenied`", spoil: func(b *bench) {
		b.r.NoExternalArtifacts = true
		b.apply("interval: 10m\nchartRef: {kind: ExternalArtifact, name: app}")
	}},
	{what: "a CEL expression does not compile, or a kind has two health checks", follows: "stalls: `InvalidCELExpression`", spoil: func(b *bench) {
		b.apply(base + "healthCheckExprs: [{apiVersion: v1, kind: A, current: '('}]")
	}},
	{what: "a CEL expression does not compile, or a kind has two health checks", follows: "stalls: `InvalidCELExpression`", spoil: func(b *bench) {
		b.apply(base + "healthCheckExprs: [{apiVersion: v1, kind: A, current: 'true'}, {apiVersion: v1, kind: A, current: 'true'}]")
	}},
	{what: "dependencies that are not ready go round in a circle", follows: "stalls until one of them changes: `DependencyCycle`", spoil: func(b *bench) {
		b.local["HelmRelease/base"] = b.object("base")
		_ = unstructured.SetNestedSlice(b.local["HelmRelease/base"].Object, []any{map[string]any{"name": "web"}}, "spec", "dependsOn")
		_ = unstructured.SetNestedField(b.local["HelmRelease/base"].Object, map[string]any{}, "status")
		b.apply(base + "dependsOn: [{name: base}]")
	}},
	fails("the API server fails (5xx), is busy (429) or does not answer", apierrors.NewServiceUnavailable("restarting")),
	fails("the API server fails (5xx), is busy (429) or does not answer", apierrors.NewTooManyRequests("busy", 0)),
	fails("the API server fails (5xx), is busy (429) or does not answer", apierrors.NewTimeoutError("slow", 0)),
	fails("the API server fails (5xx), is busy (429) or does not answer", io.ErrUnexpectedEOF),
	fails("an admission webhook can't be reached", apierrors.NewInternalError(errors.New(`failed calling webhook "a.b.c": connection refused`))),
	fails("somebody else writes an object at the same moment", apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "web", errors.New("the object has been modified"))),
	fails("a kind is not known (yet)", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"}, SearchedVersions: []string{"v1"}}),
	{what: "a chart does not render, or its values break its schema", follows: triedAgain, spoil: func(b *bench) {
		b.apply(base + "values: {text: null}")
	}, mend: func(b *bench) { b.apply(base + "values: {text: two}") }},
	{what: "a dry run is refused", follows: triedAgain, spoil: func(b *bench) {
		b.cluster.Refuse = map[manifest.ID]*plan.Refusal{configMap: {Reason: "Invalid", Message: "no"}}
		b.apply(base + "values: {text: two}")
	}, mend: func(b *bench) { b.cluster.Refuse = nil }},
	{what: "values are not there", follows: triedAgain, spoil: func(b *bench) {
		b.apply(base + "valuesFrom: [{kind: ConfigMap, name: more}]")
	}, mend: func(b *bench) {
		b.local["ConfigMap/more"] = configMapOf("more", map[string]any{"values.yaml": "text: two"})
	}},
	{what: "the source is not there, or the chart can't be read", follows: triedAgain, spoil: func(b *bench) { loads(b, errors.New("no archive")) }, mend: func(b *bench) { b.in = nil }},
	{what: "the cluster of spec.kubeConfig can't be reached", follows: triedAgain, spoil: func(b *bench) {
		b.r.Connect = func(context.Context, reconcile.Access) (*reconcile.Connection, error) {
			return nil, errors.New("no route")
		}
		b.apply(base + "values: {text: two}")
	}, mend: func(b *bench) { b.r.Connect = b.connect }},
	{what: "a dependency or the source is not ready, or the artifact is gone", follows: lookedAt, spoil: func(b *bench) { loads(b, reconcile.ErrArtifactGone) }, mend: func(b *bench) { b.in = nil }},
	{what: "a dependency or the source is not ready, or the artifact is gone", follows: lookedAt, spoil: func(b *bench) {
		b.apply(base + "dependsOn: [{name: base}]\nvalues: {text: two}")
	}, mend: func(b *bench) { b.apply(base + "values: {text: two}") }},
}

// What stalls and what is retried is what docs/controller.md says, row by row: what can pass never
// stalls, does not count as an attempt, and is done once it has passed.
func TestWhatStalls(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "controller.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "### What stalls")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[string]bool{}
	for _, f := range failures {
		row := "| " + f.what + " | " + f.follows + " |\n"
		if rows[row] = true; !strings.Contains(table, row) {
			t.Errorf("the page lacks %s", row)
		}
		t.Run(f.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f.test(t) })
		})
	}
	if told := strings.Count(table, "\n| ") - 1; told != len(rows) {
		t.Errorf("the page has %d rows, there are %d", told, len(rows))
	}
}

func (f failure) test(t *testing.T) {
	b := newBench(t, f.spec)
	b.mustPass()
	f.spoil(b)
	if strings.HasPrefix(f.follows, "stalls") {
		b.passes()
		_, reason, _ := strings.Cut(strings.TrimSuffix(f.follows, "`"), "`")
		out := b.mustPass()
		if b.condition("Stalled") != "Stalled True "+reason || out.After != 0 && out.After < 10*time.Minute || out.Again {
			t.Errorf("%s, %+v", b.condition("Stalled"), out)
		}
		return
	}
	for range 3 {
		out, err := b.pass()
		if b.condition("Stalled") != "" || (err != nil) != (f.follows == triedAgain) || (out.After == 30*time.Second) != (f.follows == lookedAt) || out.Again {
			t.Fatalf("%v, %s, after %s", err, b.condition("Stalled"), out.After)
		}
	}
	if s := b.hr.Status; s.UpgradeFailures != 0 || flux.ConditionTrue(s.Conditions, "Ready") {
		t.Errorf("failures %d, %s", s.UpgradeFailures, b.condition("Ready"))
	}
	f.mend(b)
	b.passes()
	if !flux.ConditionTrue(b.hr.Status.Conditions, "Ready") || b.condition("Stalled") != "" {
		t.Errorf("mended: %s, %s", b.condition("Ready"), b.condition("Stalled"))
	}
}

// A dependency cycle is named, and no longer counts as soon as one of its members is ready, or has
// an expression of its own.
func TestDependencyCycle(t *testing.T) {
	b := newBench(t, "dependsOn: [{name: base}]")
	other := newBench(t, "dependsOn: [{name: web}]")
	b.local["HelmRelease/base"], b.local["HelmRelease/web"] = other.object("base"), b.object("web")
	b.mustPass()
	if c := flux.Condition(b.hr.Status.Conditions, "Stalled"); c == nil || !strings.Contains(c.Message, "shop/web → shop/base → shop/web") {
		t.Errorf("%+v", b.hr.Status.Conditions)
	}
	other.apply("interval: 10m\nchartRef: {kind: HelmChart, name: app}\ndependsOn: [{name: web, readyExpr: 'true'}]")
	b.local["HelmRelease/base"] = other.object("base")
	if b.mustPass(); b.condition("Stalled") != "" || b.condition("Ready") != "Ready False DependencyNotReady" {
		t.Errorf("%s, %s", b.condition("Stalled"), b.condition("Ready"))
	}
	other.apply(base)
	other.mustPass()
	b.local["HelmRelease/base"] = other.object("base")
	if b.mustPass(); b.condition("Stalled") != "" || b.condition("Ready") != "Ready True InstallSucceeded" {
		t.Errorf("%s, %s", b.condition("Stalled"), b.condition("Ready"))
	}
}

// A remediation or a test that fails because of something that can pass is retried, too, and does
// not stall, not even after the last attempt has been used up.
func TestRemediesAndTestsThatCanPass(t *testing.T) {
	down := apierrors.NewServiceUnavailable("restarting")
	const spec = "upgrade: {remediation: {retries: 0, remediateLastFailure: true}}\n"
	t.Run("rollback", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, spec)
			b.mustPass()
			b.chart.Templates = append(b.chart.Templates, hook("post-upgrade", "fails"))
			b.refuses("one", down)
			b.apply(base + spec + "values: {text: two}")
			for range 2 {
				if _, err := b.pass(); err == nil || b.condition("Stalled") != "" || b.condition("Remediated") != "Remediated False RollbackFailed" {
					t.Fatalf("%v, %s, %s", err, b.condition("Stalled"), b.condition("Remediated"))
				}
			}
			b.refuses("one", nil)
			b.passes()
			if b.text() != "one" || b.condition("Ready") != "Ready False RollbackSucceeded" || b.condition("Stalled") != "Stalled True RetriesExceeded" {
				t.Errorf("text %s, %s, %s", b.text(), b.condition("Ready"), b.condition("Stalled"))
			}
		})
	})
	t.Run("test", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, "test: {enable: true}\n")
			b.chart.Templates = append(b.chart.Templates, hook("test", "checks"))
			b.creating = down
			for range 2 {
				if _, err := b.pass(); err == nil || b.condition("Stalled") != "" || b.hr.Status.InstallFailures != 0 {
					t.Fatalf("%v, %s, %+v", err, b.condition("Stalled"), b.hr.Status)
				}
			}
			b.creating = nil
			b.passes()
			if b.condition("Ready") != "Ready True TestSucceeded" || b.stored() != "deployed" {
				t.Errorf("%s, records %s", b.condition("Ready"), b.stored())
			}
		})
	})
}

// An upgrade that is tried for ever, because what fails can pass, does not let the status grow for
// ever, and keeps what it would be rolled back to.
func TestHistoryOfEndlessTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		b.mustPass()
		b.refuses("two", apierrors.NewServiceUnavailable("restarting"))
		b.apply(base + "values: {text: two}")
		for range 20 {
			if _, err := b.pass(); err == nil || b.hr.Status.UpgradeFailures != 0 {
				t.Fatalf("%v, %+v", err, b.hr.Status)
			}
		}
		h := b.hr.Status.History
		if last := h[len(h)-1]; len(h) > 11 || last.Version != 1 || h[0].Version != 21 {
			t.Errorf("%d snapshots, from %d to %d", len(h), h[0].Version, last.Version)
		}
	})
}
