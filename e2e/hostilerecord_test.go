//go:build cluster

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// Limits on reading hostile records.
const (
	hostileTime   = 2 * time.Second
	hostileMemory = 256 << 20
)

// TestHostileRecord stores a release record that fits into a Secret and unpacks
// to half a gigabyte: reading it ends in time, takes little memory, and names it.
func TestHostileRecord(t *testing.T) {
	namespace := cluster.Namespace(t)
	record := packed(t, `{"manifest":"`+strings.Repeat("# aaaaaa", 64<<20))
	name := "sh.helm.release.v1.web.v1"
	secret := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
"metadata": {"name": %q, "labels": {"owner": "helm", "name": "web", "version": "1", "status": "deployed"}}, "stringData": {"release": %q}}`, name, record)
	file := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	access := []string{"--kubeconfig", cluster.Kubeconfig, "--namespace", namespace}
	if r := cluster.Run(t, cluster.Binaries.Kubectl, "", append([]string{"create", "-f", file}, access...)...); r.ExitCode != 0 {
		t.Fatalf("create the record: %s", r.Stderr)
	}
	most := clustertest.Limits{CPU: time.Duration(2 * clustertest.Pace() * float64(hostileTime)), MaxRSS: hostileMemory}
	for _, args := range [][]string{{"history", "web"}, {"status", "web"}, {"get", "values", "web"}, {"plan", "web", webChart()}} {
		u := clustertest.MeasureWithin(t, most, cluster.Environment(), clustertest.Program(t), append(args, access...)...)
		if u.ExitCode != 1 || !strings.Contains(u.Stderr, name) || !strings.Contains(u.Stderr, "unpacks to more than 64 MiB") {
			t.Errorf("%v: exit code %d, %.1000s", args, u.ExitCode, u.Stderr)
		}
	}
}

// TestManyHostileRecords stores records that each fit into a Secret and stay below the
// limit for a single record: 20 releases in one namespace, 8 revisions of another release,
// 3 failed attempts at a third, which send nothing, and 3 at a fourth, each of which sends something else. Listing them, reading a history and planning end in time,
// take little memory, show the sound records, and name those that were not read.
func TestManyHostileRecords(t *testing.T) {
	namespace := cluster.Namespace(t)
	access := []string{"--kubeconfig", cluster.Kubeconfig, "--namespace", namespace}
	store := func(name string, version int, packed string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "secret.json")
		secret := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
"metadata": {"name": "sh.helm.release.v1.%s.v%d", "labels": {"owner": "helm", "name": %[1]q, "version": "%[2]d", "status": "deployed"}}, "stringData": {"release": %[3]q}}`,
			name, version, packed)
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := cluster.Run(t, cluster.Binaries.Kubectl, "", append([]string{"create", "-f", file}, access...)...); r.ExitCode != 0 {
			t.Fatalf("create the record: %s", r.Stderr)
		}
	}
	manifest := `"manifest":"` + strings.Repeat("# aaaaaa", 58<<17) + `"`
	bomb := packed(t, `{`+manifest+`,"info":{"status":"deployed"},"version":1}`)
	for i := range 20 {
		store(fmt.Sprintf("bomb%02d", i), 1, bomb)
	}
	for version := 1; version <= 8; version++ {
		status := map[bool]string{true: "deployed", false: "superseded"}[version == 8]
		store("steady", version, packed(t, fmt.Sprintf(`{"name":"steady","info":{"status":%q},"chart":{"metadata":{"name":"c","version":"1"}},%s,"version":%d}`, status, manifest, version)))
	}
	for version := 1; version <= 3; version++ {
		store("tries", version, packed(t, fmt.Sprintf(`{"name":"tries","info":{"status":"failed"},"chart":{},"manifest":%q,"version":%d}`, strings.Repeat("# aaaaaa", 30<<17), version)))
		object := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata: {a: %s}\n", version, strings.Repeat("a", 30<<20))
		store("apart", version, packed(t, fmt.Sprintf(`{"name":"apart","info":{"status":"failed"},"chart":{},"manifest":%q,"version":%d}`, object, version)))
	}
	store("honest", 1, packed(t, `{"name":"honest","info":{"status":"deployed"},"chart":{"metadata":{"name":"c","version":"1"}},"version":1}`))
	most := clustertest.Limits{CPU: time.Duration(2 * clustertest.Pace() * float64(hostileTime)), MaxRSS: hostileMemory}
	for _, c := range []struct {
		args    []string
		code    int
		out, in string // expected on standard output and on standard error
	}{
		{[]string{"list"}, 0, "honest", "bomb19"},
		{[]string{"history", "steady"}, 0, "c-1", ""},
		{[]string{"status", "steady"}, 0, "c-1", ""},
		{[]string{"plan", "steady", webChart()}, 0, "upgrade 8 → 9", ""},
		{[]string{"plan", "tries", webChart()}, 0, "upgrade 3 → 4", ""},
		{[]string{"history", "apart"}, 0, "failed", ""},
		{[]string{"plan", "apart", webChart()}, 1, "", "apart revision 1 "},
	} {
		u := clustertest.MeasureWithin(t, most, cluster.Environment(), clustertest.Program(t), append(c.args, access...)...)
		if u.ExitCode != c.code || !strings.Contains(u.Stdout, c.out) || !strings.Contains(u.Stderr, c.in) {
			t.Errorf("%v: exit code %d, %.1000s %.1000s", c.args, u.ExitCode, u.Stdout, u.Stderr)
		}
	}
}

// packed returns the text as Helm stores a record.
func packed(t *testing.T, text string) string {
	t.Helper()
	return base64.StdEncoding.EncodeToString(gzipped(t, text))
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
