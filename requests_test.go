package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// perKind times 5 kinds is how many objects the measured release has.
const perKind = 200

// TestNoOpPlanOfThousandObjects counts the requests of a plan that finds
// nothing to do, and times it against Helm 4's upgrade that does nothing.
func TestNoOpPlanOfThousandObjects(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	own, err := clustertest.Start(context.Background(), clustertest.Options{AuditLog: audit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	program := built(t)
	chart := thousandObjects(t)
	namespace := own.Namespace(t)
	must(t, own, program, "install", "many", chart, "-n", namespace)
	must(t, own, program, "plan", "many", chart, "-n", namespace) // fills the discovery cache

	before := requests(t, audit)
	out, ours := must(t, own, program, "plan", "many", chart, "-n", namespace)
	sent := requests(t, audit) - before
	if !strings.Contains(out, "No changes.") {
		t.Fatalf("the plan should find nothing to do:\n%s", out)
	}
	before = requests(t, audit)
	_, helms := must(t, own, own.Binaries.Helm4, "upgrade", "many", chart, "-n", namespace)
	helmSent := requests(t, audit) - before

	// Somebody with rights in the namespace only: what is allowed is asked verb by verb.
	must(t, own, own.Binaries.Kubectl, "create", "rolebinding", "anna", "--clusterrole=admin", "--user=anna", "-n", namespace)
	before = requests(t, audit)
	out, _ = must(t, own, program, "plan", "many", chart, "-n", namespace, "--as", "anna")
	limited := requests(t, audit) - before
	if !strings.Contains(out, "No changes.") {
		t.Errorf("the plan should find nothing to do for anna either:\n%s", out)
	}

	t.Logf("no-op of %d objects: we take %v and %d requests (%d with rights in the namespace only), Helm 4 %v and %d",
		5*perKind, ours.Round(time.Millisecond), sent, limited, helms.Round(time.Millisecond), helmSent)
	const most = 15
	if sent > most || limited > most {
		t.Errorf("the plan sent %d and %d requests, more than %d", sent, limited, most)
	}
	if 10*ours > helms {
		t.Errorf("the plan took %v, which is not a tenth of Helm's %v", ours, helms)
	}
}

func must(t *testing.T, c *clustertest.Cluster, program string, args ...string) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	result := c.Run(t, program, "", args...)
	took := time.Since(began)
	if result.ExitCode != 0 {
		t.Fatalf("%s %s: exit code %d\n%s", filepath.Base(program), strings.Join(args, " "), result.ExitCode, result.Stderr)
	}
	return result.Stdout, took
}

// requests counts the requests in an audit log that came from a release tool,
// not from the control plane. The log is written at once.
func requests(t *testing.T, path string) int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	count := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct{ UserAgent, Stage string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.Stage != "ResponseComplete" {
			continue
		}
		if strings.HasPrefix(event.UserAgent, "kubectl-release/") || strings.HasPrefix(event.UserAgent, "Helm/") {
			count++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return count
}

// thousandObjects is a chart of 5 kinds, perKind objects each.
func thousandObjects(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "many")
	if err := os.MkdirAll(filepath.Join(dir, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("Chart.yaml", "apiVersion: v2\nname: many\nversion: 1.0.0\n")
	for kind, body := range map[string]string{
		"ConfigMap":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%[1]d, labels: {app: many}}\ndata: {key: value-%[1]d}\n",
		"Secret":         "apiVersion: v1\nkind: Secret\nmetadata: {name: many-%[1]d, labels: {app: many}}\nstringData: {key: value-%[1]d}\n",
		"Service":        "apiVersion: v1\nkind: Service\nmetadata: {name: many-%[1]d, labels: {app: many}}\nspec: {selector: {app: many-%[1]d}, ports: [{name: http, port: 80}]}\n",
		"ServiceAccount": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: many-%[1]d, labels: {app: many}}\n",
		"Deployment": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: many-%[1]d, labels: {app: many}}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: many-%[1]d}}\n" +
			"  template:\n    metadata: {labels: {app: many-%[1]d}}\n    spec: {containers: [{name: app, image: many:1, env: [{name: NUMBER, value: \"%[1]d\"}]}]}\n",
	} {
		var b strings.Builder
		for i := range perKind {
			fmt.Fprintf(&b, "---\n"+body, i)
		}
		write(filepath.Join("templates", strings.ToLower(kind)+".yaml"), b.String())
	}
	return dir
}
