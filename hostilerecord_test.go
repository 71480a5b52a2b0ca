package main_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestHostileRecord stores a release record that fits into a Secret and unpacks
// to half a gigabyte: reading it ends in time, in little memory, and names it.
func TestHostileRecord(t *testing.T) {
	namespace := cluster.Namespace(t)
	packed := base64.StdEncoding.EncodeToString([]byte(zeros(512 << 20)))
	name := "sh.helm.release.v1.web.v1"
	secret := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
"metadata": {"name": %q, "labels": {"owner": "helm", "name": "web", "version": "1", "status": "deployed"}}, "stringData": {"release": %q}}`, name, packed)
	file := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	access := []string{"--kubeconfig", cluster.Kubeconfig, "--namespace", namespace}
	if r := cluster.Run(t, cluster.Binaries.Kubectl, "", append([]string{"create", "-f", file}, access...)...); r.ExitCode != 0 {
		t.Fatalf("create the record: %s", r.Stderr)
	}
	for _, args := range [][]string{{"history", "web"}, {"status", "web"}, {"get", "values", "web"}, {"plan", "web", "testdata/charts/web"}} {
		u := cluster.Measure(t, clustertest.Program(t), append(args, access...)...)
		t.Logf("%v: %v, %v of a processor, %d MiB, exit code %d: %.300s", args, u.Wall, u.CPU, u.MaxRSS>>20, u.ExitCode, u.Stderr)
		if u.CPU > hostileTime || u.Wall > hostileStarved || u.MaxRSS > hostileMemory {
			t.Errorf("%v took %v, %v of a processor, %d MiB", args, u.Wall, u.CPU, u.MaxRSS>>20)
		}
		if u.ExitCode != 1 || !strings.Contains(u.Stderr, name) || !strings.Contains(u.Stderr, "unpacks to more than 64 MiB") {
			t.Errorf("%v: exit code %d, %.1000s", args, u.ExitCode, u.Stderr)
		}
	}
}
