//go:build cluster

package clustertest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// A suite gets a cluster it can work on with all four hands, and an audit log
// that tells what they did.
func TestClusterServesKubectlAndBothHelms(t *testing.T) {
	t.Setenv(clustertest.ReuseVariable, "")
	audit := filepath.Join(t.TempDir(), "audit.log")
	c, err := clustertest.Start(t.Context(), clustertest.Options{Nodes: 1, AuditLog: audit})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("work", func(t *testing.T) {
		namespace := c.Namespace(t)
		c.Apply(t, namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n")
		if got := c.Kubectl(t, "get", "configmap", "settings", "-n", namespace, "-o", "jsonpath={.data.a}"); got != "b" {
			t.Errorf("data.a is %q, want %q", got, "b")
		}
		chart := writeChart(t)
		c.Helm3(t, "install", "web", chart, "-n", namespace)
		if got := c.Helm4(t, "list", "-n", namespace, "-q"); got != "web\n" {
			t.Errorf("helm 4 lists %q, want the release that helm 3 installed", got)
		}
		if r := c.Run(t, c.Binaries.Kubectl, "", "get", "pod", "nobody", "-n", namespace); r.ExitCode != 1 || !strings.Contains(r.Stderr, "not found") {
			t.Errorf("a command that goes wrong ended with %+v, want exit code 1 and the reason", r)
		}
	})
	lines, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(lines), `"resource":"configmaps"`) {
		t.Error("the audit log does not know of the ConfigMap")
	}
	home := filepath.Dir(c.Kubeconfig)
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("after Stop the cluster's folder is still there: %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("the second Stop is an error: %v", err)
	}
}

// Developers keep a cluster running between test runs: it is used, and left running.
func TestStartReusesARunningCluster(t *testing.T) {
	t.Setenv(clustertest.ReuseVariable, "/some/kubeconfig")
	c, err := clustertest.Start(t.Context(), clustertest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Kubeconfig != "/some/kubeconfig" {
		t.Errorf("kubeconfig is %q, want that of the running cluster", c.Kubeconfig)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := clustertest.Start(t.Context(), clustertest.Options{AuditLog: "audit.log"}); err == nil {
		t.Error("no error though the running cluster can't write the audit log asked for")
	}
}

// The error of a start that is called off says so.
func TestStartEndsWithItsContext(t *testing.T) {
	t.Setenv(clustertest.ReuseVariable, "")
	if _, err := clustertest.FindBinaries(t.Context(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := clustertest.Start(ctx, clustertest.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want one that says that it was called off", err)
	}
}

func writeChart(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	clustertest.WriteFiles(t, dir, map[string]string{
		"Chart.yaml":               "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"templates/configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n",
	})
	return dir
}
