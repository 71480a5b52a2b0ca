//go:build cluster

package sdk_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/sdk"
)

var control *clustertest.Cluster

func TestMain(m *testing.M) {
	os.Exit(clustertest.Main(m, clustertest.Options{}, func(c *clustertest.Cluster) { control = c }))
}

const web = "../testdata/charts/web"

// shop returns a client, a release in its own namespace, and its chart.
func shop(t *testing.T) (*sdk.Client, sdk.Release, *sdk.Chart) {
	t.Helper()
	config := control.Config(t)
	client, err := sdk.New(config, sdk.Options{Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	chart, err := sdk.LoadChart(web)
	if err != nil {
		t.Fatal(err)
	}
	return client, sdk.Release{Namespace: control.Namespace(t), Name: "web"}, chart
}

func planned(t *testing.T, client *sdk.Client, o sdk.Operation) *sdk.Plan {
	t.Helper()
	plan, err := client.Plan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func applied(t *testing.T, client *sdk.Client, o sdk.Operation) *sdk.Result {
	t.Helper()
	result, err := client.Apply(t.Context(), planned(t, client, o))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// A release goes through its life by plans, from install to uninstall, and Helm reads it.
func TestLife(t *testing.T) {
	client, release, chart := shop(t)
	if r := applied(t, client, sdk.Upgrade{Release: release, Chart: chart, Install: true}); r.Revision != 1 || r.Status != "deployed" || !r.Written {
		t.Errorf("install: %+v", r)
	}
	plan := planned(t, client, sdk.Upgrade{Release: release, Chart: chart, Values: map[string]any{"replicas": 3, "password": "canary-2"}})
	var replicas []sdk.Change
	for _, step := range plan.Steps() {
		if step.Object.String() == "Deployment/web" && step.Op == "patch" {
			replicas = step.Changes
		}
	}
	if len(replicas) != 1 || replicas[0].Path != "spec.replicas" {
		t.Errorf("the plan changes %+v", replicas)
	}
	var text bytes.Buffer
	if err := errors.Join(plan.Text(&text), plan.JSON(&text), plan.Markdown(&text), plan.HTML(&text)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "canary-2") || !strings.Contains(text.String(), "2 → 3") {
		t.Errorf("it is printed as\n%s", text.String())
	}
	saved, err := plan.Encode()
	if err != nil {
		t.Fatal(err)
	}
	other, err := plan.Encode()
	if err != nil || bytes.Equal(saved, other) {
		t.Errorf("it is saved twice as the same bytes, so its digest could test guesses of secrets: %v", err)
	}
	back, err := sdk.Decode(saved)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := back.Encode(); err != nil || !bytes.Equal(again, saved) {
		t.Errorf("a decoded plan is saved differently: %v", err)
	}
	if digest := plan.EffectDigest(); !strings.HasPrefix(digest, "sha256:") || back.EffectDigest() != digest || !strings.Contains(text.String(), `"effectDigest": "`+digest) {
		t.Errorf("effect digest %q, decoded %q", digest, back.EffectDigest())
	}
	if _, err := client.Apply(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	var stale *sdk.StaleError
	if _, err := client.Apply(t.Context(), plan); !errors.As(err, &stale) {
		t.Errorf("a plan applied twice: %v", err)
	}
	if out := control.Helm4(t, "get", "values", "web", "--namespace", release.Namespace); !strings.Contains(out, "replicas: 3") {
		t.Errorf("Helm reads %s", out)
	}
	if r := applied(t, client, sdk.Rollback{Release: release}); r.Revision != 3 {
		t.Errorf("rollback: %+v", r)
	}
	history, err := client.History(t.Context(), release)
	if err != nil || len(history) != 3 || history[1].Chart != chart.Name() || history[2].Status != "deployed" {
		t.Errorf("history: %+v, %v", history, err)
	}
	second, err := client.Get(t.Context(), release, 2)
	if err != nil || second.Values["replicas"] == nil || !strings.Contains(second.Manifest, "replicas: 3") {
		t.Errorf("revision 2: %+v, %v", second, err)
	}
	var none *sdk.NoRevisionError
	if _, err := client.Get(t.Context(), release, 99); !errors.As(err, &none) {
		t.Errorf("revision 99: %v", err)
	}
	if planned(t, client, sdk.Upgrade{Release: release, Chart: chart, Reuse: sdk.ReuseValues}).Changes() {
		t.Error("an upgrade to what is there is a change")
	}
	applied(t, client, sdk.Uninstall{Release: release})
	var gone *sdk.NoReleaseError
	if _, err := client.Plan(t.Context(), sdk.Uninstall{Release: release}); !errors.As(err, &gone) {
		t.Errorf("uninstalled twice: %v", err)
	}
}

// Of two runs of one client, one holds the lock. Nothing is written to kubectl's cache.
func TestOneClientTwice(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	t.Setenv("KUBECACHEDIR", cache)
	var told, overlaps atomic.Int32
	client, err := sdk.New(control.Config(t), sdk.Options{Observe: func(sdk.Event) {
		if told.Add(1) > 1 {
			overlaps.Add(1)
		}
		time.Sleep(time.Millisecond)
		told.Add(-1)
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, release, chart := shop(t)
	applied(t, client, sdk.Install{Release: release, Chart: chart})
	plans := make([]*sdk.Plan, 2)
	for i := range plans {
		plans[i] = planned(t, client, sdk.Upgrade{Release: release, Chart: chart, Values: map[string]any{"replicas": 3 + i}})
	}
	errs := make(chan error)
	for _, plan := range plans {
		go func() { _, err := client.Apply(t.Context(), plan); errs <- err }()
	}
	first, second := <-errs, <-errs
	if first != nil {
		first, second = second, first
	}
	var locked *sdk.LockedError
	var stale *sdk.StaleError
	if first != nil || !errors.As(second, &locked) && !errors.As(second, &stale) {
		t.Errorf("two runs: %v, %v", first, second)
	}
	if overlaps.Load() > 0 {
		t.Errorf("%d events were told at once", overlaps.Load())
	}
	if files, err := os.ReadDir(cache); err == nil {
		t.Errorf("written: %v", files)
	}
}

// What Helm 4 has installed can be upgraded, and Helm goes on.
func TestHelmsRelease(t *testing.T) {
	client, release, chart := shop(t)
	control.Helm4(t, "install", "web", web, "--namespace", release.Namespace)
	applied(t, client, sdk.Upgrade{Release: release, Chart: chart, Values: map[string]any{"replicas": 3}})
	control.Helm4(t, "upgrade", "web", web, "--namespace", release.Namespace, "--set", "replicas=4")
}

// Errors that stop a plan can be told apart by their types.
func TestErrors(t *testing.T) {
	client, release, chart := shop(t)
	applied(t, client, sdk.Install{Release: release, Chart: chart})
	denied := planned(t, client, sdk.Uninstall{Release: release, Run: sdk.Run{Deny: []string{"delete"}}})
	if !denied.Blocked() || len(denied.Problems()) == 0 {
		t.Errorf("denied, and not blocked: %+v", denied.Problems())
	}
	if _, err := client.Apply(t.Context(), denied); !errors.Is(err, sdk.ErrBlocked) {
		t.Errorf("a blocked plan: %v", err)
	}
	var back *sdk.RolledBackError
	var unready *sdk.NotReadyError
	_, err := client.Apply(t.Context(), planned(t, client, sdk.Upgrade{
		Release: release, Chart: chart, Atomic: true, Values: map[string]any{"behave": "crash"}, Run: sdk.Run{Timeout: 20 * time.Second},
	}))
	if !errors.As(err, &back) || back.To != 1 || back.Rollback != nil || !errors.As(err, &unready) {
		t.Errorf("a failing atomic upgrade: %v", err)
	}
	if _, err := client.Plan(t.Context(), sdk.Upgrade{Release: release}); err == nil {
		t.Error("an upgrade without a chart is planned")
	}
	other := sdk.Release{Namespace: release.Namespace, Name: "other"}
	for _, o := range []sdk.Operation{sdk.Upgrade{Release: other, Chart: chart}, sdk.Rollback{Release: other}, sdk.Test{Release: other}} {
		var gone *sdk.NoReleaseError
		if _, err := client.Plan(t.Context(), o); !errors.As(err, &gone) {
			t.Errorf("%T of no release: %v", o, err)
		}
	}
	var none *sdk.NoRevisionError
	if _, err := client.Plan(t.Context(), sdk.Rollback{Release: release, To: 99}); !errors.As(err, &none) {
		t.Errorf("a rollback to what is not there: %v", err)
	}
}

func TestTemplate(t *testing.T) {
	chart, err := sdk.LoadChart(web)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sdk.Template(t.Context(), sdk.Release{Namespace: "shop", Name: "web"}, chart, map[string]any{"replicas": 7, "hooks": map[string]any{"pre-install": "migrate"}}, sdk.TemplateOptions{})
	if err != nil || !strings.Contains(r.Manifest, "replicas: 7") || len(r.Hooks) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The example compiles in its own module, and upgrades and rolls back, or uninstalls what it has installed.
func TestExample(t *testing.T) {
	namespace := control.Namespace(t)
	chart, err := filepath.Abs(web)
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "go", append([]string{"run", "./upgrade", "-namespace", namespace, "-chart", chart}, args...)...)
		command.Dir, command.Env = "../examples", control.Environment()
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := run("-undo"); !strings.Contains(out, "revision 1 is deployed") || !strings.Contains(out, "delete Deployment/web") || !strings.Contains(out, "revision 1 is uninstalled") {
		t.Errorf("install and uninstall:\n%s", out)
	}
	if out := run(); !strings.Contains(out, "create Deployment/web") || !strings.Contains(out, "revision 1 is deployed") {
		t.Errorf("install:\n%s", out)
	}
	if out := run("-set", "greeting=moin", "-undo"); !strings.Contains(out, "hello → moin") || !strings.Contains(out, "moin → hello") || !strings.Contains(out, "revision 3 is deployed") {
		t.Errorf("upgrade and rollback:\n%s", out)
	}
}
