//go:build cluster

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

const (
	planner = "system:serviceaccount:kubectl-release:planner"
	// denied is the message of the planner's policy.
	denied = "the planner may try, and not do"
)

// Check 37: with docs/rbac/planner.yaml, whoever plans in pull requests gets exact plans and cannot
// write anything, whichever way they try.
func TestPlannerPolicyLetsDryRunsThroughAndNothingElse(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	installPlanner(t)
	try := func(args ...string) clustertest.Result {
		return cluster.Run(t, cluster.Binaries.Kubectl, "", append(args, "--as", planner, "-n", namespace)...)
	}

	program, chart := clustertest.Program(t), inTree("testdata", "charts", "web")
	must(t, cluster, program, "install", "web", chart, "-n", namespace)
	out, _ := must(t, cluster, program, "plan", "web", chart, "-n", namespace, "--set", "greeting=moin,replicas=3", "--as", planner, "-o", "json")
	if !strings.Contains(out, `"fidelity": "exact"`) || strings.Contains(out, `"fidelity": "estimated"`) {
		t.Errorf("the planner's plan is not exact:\n%s", out)
	}
	for _, allowed := range [][]string{
		{"create", "configmap", "a", "--dry-run=server"},
		{"label", "configmap", "web-settings", "a=b", "--dry-run=server"},
		{"delete", "deployment", "web", "--dry-run=server"},
		{"create", "role", "r", "--verb=*", "--resource=secrets", "--dry-run=server"},
		{"get", "secrets"},
		{"auth", "can-i", "create", "pods"},
	} {
		if r := try(allowed...); r.ExitCode != 0 {
			t.Errorf("kubectl %s: %s", strings.Join(allowed, " "), r.Stderr)
		}
	}
	for _, write := range [][]string{
		{"create", "configmap", "a"},
		{"label", "configmap", "web-settings", "a=b"},
		{"patch", "deployment", "web", "--subresource=scale", "--type=merge", "-p", `{"spec":{"replicas":0}}`},
		{"delete", "deployment", "web"},
		{"delete", "configmaps", "--all"},
		{"create", "role", "r", "--verb=*", "--resource=secrets"},
		{"create", "token", "default"},
		{"create", "--raw", "/api/v1/namespaces/" + namespace + "/pods/web/exec?command=true", "-f", "/dev/null"},
		{"get", "--raw", "/api/v1/nodes/node-0/proxy/pods"}, // admission policies do not apply to the kubelet
		{"delete", "validatingadmissionpolicybinding", "kubectl-release-planner"},
		{"delete", "clusterrolebinding", "kubectl-release-planner"},
	} {
		if r := try(write...); r.ExitCode == 0 || !strings.Contains(r.Stderr, denied) && !strings.Contains(r.Stderr, " cannot ") {
			t.Errorf("kubectl %s: exit code %d, %s", strings.Join(write, " "), r.ExitCode, r.Stderr)
		}
	}
	if r := cluster.Run(t, program, "", "upgrade", "web", chart, "-n", namespace, "--set", "greeting=moin", "--as", planner); r.ExitCode == 0 || !strings.Contains(r.Stderr, denied) {
		t.Errorf("the planner has upgraded: %s%s", r.Stdout, r.Stderr)
	}
	out, _ = must(t, cluster, program, "history", "web", "-n", namespace)
	if strings.Count(strings.TrimSpace(out), "\n") > 1 {
		t.Errorf("there is more than the revision that was installed:\n%s", out)
	}
}

// installPlanner applies docs/rbac/planner.yaml and waits until its policy is enforced.
func installPlanner(t *testing.T) {
	t.Helper()
	namespace := cluster.Namespace(t)
	cluster.Kubectl(t, "apply", "-f", inTree("docs", "rbac", "planner.yaml"))
	t.Cleanup(func() { cluster.Kubectl(t, "delete", "-f", inTree("docs", "rbac", "planner.yaml")) })
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		r := cluster.Run(t, cluster.Binaries.Kubectl, "", "create", "configmap", "early", "--as", planner, "-n", namespace)
		if strings.Contains(r.Stderr, denied) {
			return
		} else if time.Since(began) > 5*time.Minute {
			t.Fatalf("the policy denies nothing: %s", r.Stderr)
		}
		cluster.Run(t, cluster.Binaries.Kubectl, "", "delete", "configmap", "early", "--as", planner, "-n", namespace)
	}
}

// Check 33: a plan that was not approved is refused before any request is sent. Check 38: plan check only
// reads: the audit log shows dry runs and no other request that could write.
func TestPlanCheckReadsOnly(t *testing.T) {
	t.Parallel()
	own, audit := audited(t)
	program, namespace := clustertest.Program(t), own.Namespace(t)
	chart, file := filepath.Join(t.TempDir(), "web"), filepath.Join(t.TempDir(), "web.plan")
	if err := os.CopyFS(chart, os.DirFS(inTree("testdata", "charts", "web"))); err != nil {
		t.Fatal(err)
	}
	must(t, own, program, "install", "web", chart, "-n", namespace)
	must(t, own, program, "plan", "web", chart, "-n", namespace, "--set", "greeting=moin", "--out", file)
	if err := os.RemoveAll(chart); err != nil { // nothing is rendered from now on
		t.Fatal(err)
	}
	run := func(want int, args ...string) traffic {
		t.Helper()
		before := requests(t, audit)
		if r := own.Run(t, program, "", append(args, "-n", namespace)...); r.ExitCode != want {
			t.Errorf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), r.ExitCode, want, r.Stderr)
		}
		return requests(t, audit).since(before)
	}
	if sent := run(0, "plan", "check", file); sent.writes > 0 || sent.leases > 0 || sent.dryRuns == 0 {
		t.Errorf("a check of what holds sent %+v", sent)
	}
	own.Kubectl(t, "patch", "configmap", "web-settings", "-n", namespace, "--type=merge", "-p", `{"data":{"greeting":"aloha"}}`)
	if sent := run(4, "plan", "check", file); sent.writes > 0 || sent.leases > 0 {
		t.Errorf("a check of what is stale sent %+v", sent)
	}
	for _, flags := range [][]string{
		{"--expect-digest", "sha256:" + strings.Repeat("0", 64)}, {"--expect-commit", "0123"}, {"--max-age", "1ns"},
	} {
		if sent := run(4, append([]string{"apply", file}, flags...)...); sent.all > 0 {
			t.Errorf("%s was refused after %d requests", flags[0], sent.all)
		}
	}
	if err := os.WriteFile(file+".signers", []byte("nobody ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5Q0sB0V3m4sX5Jj0y2o2m9y8Vb0mKX3m0m0m0m0m0m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if sent := run(1, "apply", file, "--allowed-signers", file+".signers"); sent.all > 0 {
		t.Errorf("a plan without a signature was refused after %d requests", sent.all)
	}
}

// Check 34: and Thing 9: the same intent has the same effect digest after a rebase, even if objects have new
// resourceVersions and Helm has written revisions in the meantime; one more field changes the digest.
func TestEffectDigestSurvivesRebaseAndForeignRevision(t *testing.T) {
	namespace, chart := cluster.Namespace(t), inTree("testdata", "charts", "web")
	program := clustertest.Program(t)
	must(t, cluster, program, "install", "web", chart, "-n", namespace)
	effect := func(flags ...string) string {
		t.Helper()
		out, _ := must(t, cluster, program, append([]string{"plan", "web", chart, "-n", namespace, "--set", "greeting=moin", "-o", "json"}, flags...)...)
		var made struct {
			EffectDigest string
			FromRevision int
		}
		if err := json.Unmarshal([]byte(out), &made); err != nil || !strings.HasPrefix(made.EffectDigest, "sha256:") {
			t.Fatalf("%v\n%s", err, out)
		}
		return fmt.Sprint(made.FromRevision, " ", made.EffectDigest)
	}
	version := func() string {
		return cluster.Kubectl(t, "get", "configmap", "web-settings", "-n", namespace, "-o", "jsonpath={.metadata.resourceVersion}")
	}
	approved, before := effect(), version()
	if more := effect("--set", "replicas=3"); more == approved {
		t.Errorf("with a field more the effect is %s, too", more)
	}
	cluster.Kubectl(t, "annotate", "configmap", "web-settings", "-n", namespace, "example.com/seen=yes")
	must(t, cluster, cluster.Binaries.Helm4, "upgrade", "web", chart, "-n", namespace, "--set", "greeting=aloha")
	must(t, cluster, cluster.Binaries.Helm4, "rollback", "web", "1", "-n", namespace)
	if after := version(); after == before {
		t.Fatal("nothing has happened in between")
	}
	t.Setenv("GITHUB_SHA", strings.Repeat("c0ffee00", 5))
	if rebased := effect(); strings.Replace(rebased, "3 ", "1 ", 1) != approved {
		t.Errorf("the effect was %s, and is %s after the rebase", approved, rebased)
	}
}

// Check 17: when the second plan of a set is stale, the audit log shows no
// write and no lock by apply many, and the first release stays at its revision.
func TestApplyManyStaleWritesNothing(t *testing.T) {
	t.Parallel()
	own, audit := audited(t)
	program, namespace, dir := clustertest.Program(t), own.Namespace(t), t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "chart"), os.DirFS(inTree("testdata", "charts", "web"))); err != nil {
		t.Fatal(err)
	}
	set := filepath.Join(dir, "releases.yaml")
	text := "version: 1\ndefaults: {namespace: " + namespace + "}\nreleases:\n- {name: one, chart: chart, values: [values.yaml]}\n- {name: two, chart: chart, needs: [one], values: [values.yaml]}\n"
	for name, content := range map[string]string{set: text, filepath.Join(dir, "values.yaml"): "greeting: hello\n"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plans := filepath.Join(dir, "plans")
	must(t, own, program, "plan", "many", set, "--out", plans)
	must(t, own, program, "apply", "many", plans)
	if err := os.WriteFile(filepath.Join(dir, "values.yaml"), []byte("greeting: moin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, own, program, "plan", "many", set, "--out", plans)
	own.Kubectl(t, "patch", "configmap", "two-settings", "-n", namespace, "--type=merge", "-p", `{"data":{"greeting":"aloha"}}`)
	before := requests(t, audit)
	if r := own.Run(t, program, "", "apply", "many", plans); r.ExitCode != 4 || !strings.Contains(r.Stderr, "/two") {
		t.Errorf("exit code %d, want 4\n%s", r.ExitCode, r.Stderr)
	}
	if sent := requests(t, audit).since(before); sent.writes > 0 || sent.leases > 0 || sent.dryRuns == 0 {
		t.Errorf("a stale set sent %+v", sent)
	}
	if out, _ := must(t, own, program, "history", "one", "-n", namespace); strings.Count(strings.TrimSpace(out), "\n") > 1 {
		t.Errorf("the first release has another revision:\n%s", out)
	}
}
