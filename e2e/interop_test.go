//go:build cluster

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tool is one of the three programs that take turns on a release.
type tool struct {
	name    string
	program func() string
	ours    bool
}

func tools(t *testing.T) map[string]tool {
	folder := pluginFolder(t)
	return map[string]tool{
		"us":    {name: "us", ours: true, program: func() string { return filepath.Join(folder, "kubectl-release") }},
		"helm3": {name: "helm3", program: func() string { return cluster.Binaries.Helm3 }},
		"helm4": {name: "helm4", program: func() string { return cluster.Binaries.Helm4 }},
	}
}

// relay is one release that several tools work on in turn.
type relay struct {
	t         *testing.T
	tools     map[string]tool
	namespace string
	chart     string
	env       []string // NAME=VALUE, for every tool
}

func newRelay(t *testing.T) relay {
	return relay{t: t, tools: tools(t), namespace: cluster.Namespace(t), chart: inTree("testdata", "charts", "shop")}
}

func (r relay) run(tool string, args ...string) string {
	r.t.Helper()
	command := append(slices.Clone(r.env), r.tools[tool].program())
	result := cluster.Run(r.t, "env", "", slices.Concat(command, args, []string{"-n", r.namespace})...)
	if result.ExitCode != 0 {
		r.t.Fatalf("%s %s: exit code %d\n%s%s", tool, strings.Join(args, " "), result.ExitCode, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

// agree checks that all three tools report the same about the release, that our
// plan finds nothing to do, and that the cluster has what the values ask for.
func (r relay) agree(status string, revision, replicas int, motd bool) {
	r.t.Helper()
	type row struct {
		Revision any    `json:"revision"`
		Status   string `json:"status"`
		Chart    string `json:"chart"`
	}
	var histories []string
	for _, name := range []string{"us", "helm3", "helm4"} {
		var rows []row
		if err := json.Unmarshal([]byte(r.run(name, "history", "web", "-o", "json")), &rows); err != nil {
			r.t.Fatal(err)
		}
		histories = append(histories, fmt.Sprintf("%+v", rows))
		last := rows[len(rows)-1]
		if fmt.Sprint(last.Revision) != fmt.Sprint(revision) || last.Status != status {
			r.t.Fatalf("%s sees revision %v %s, want %d %s", name, last.Revision, last.Status, revision, status)
		}
	}
	if histories[0] != histories[1] || histories[0] != histories[2] {
		r.t.Errorf("the histories differ:\nus    %s\nhelm3 %s\nhelm4 %s", histories[0], histories[1], histories[2])
	}
	values := r.run("us", "get", "values", "web", "-o", "json")
	manifest := strings.TrimSpace(r.run("us", "get", "manifest", "web"))
	for _, name := range []string{"helm3", "helm4"} {
		if diff := cmp.Diff(strings.TrimSpace(values), strings.TrimSpace(r.run(name, "get", "values", "web", "-o", "json"))); diff != "" {
			r.t.Errorf("%s reads other values: %s", name, diff)
		}
		_, read, _ := strings.Cut(r.run(name, "get", "all", "web"), "MANIFEST:\n")
		read, _, _ = strings.Cut(read, "\nNOTES:\n")
		if diff := cmp.Diff(manifest, strings.TrimSpace(read)); diff != "" {
			r.t.Errorf("%s reads another manifest: %s", name, diff)
		}
		if list := r.run(name, "list", "-o", "json"); !strings.Contains(list, `"name":"web"`) {
			r.t.Errorf("%s list: %s", name, list)
		}
	}
	r.holds(replicas, motd)
	plan := r.run("us", "plan", "web", r.chart, "--reuse-values")
	if !strings.Contains(plan, "No changes.") {
		r.t.Errorf("our plan should find nothing to do:\n%s", plan)
	}
}

// holds checks the cluster itself.
func (r relay) holds(replicas int, motd bool) {
	r.t.Helper()
	got := cluster.Kubectl(r.t, "get", "deployment", "web", "-n", r.namespace, "-o", "jsonpath={.spec.replicas}")
	if got != fmt.Sprint(replicas) {
		r.t.Errorf("the Deployment has %s replicas, want %d", got, replicas)
	}
	there := cluster.Kubectl(r.t, "get", "configmap", "web-motd", "-n", r.namespace, "--ignore-not-found", "-o", "name") != ""
	if there != motd {
		r.t.Errorf("ConfigMap web-motd is there: %v, want %v", there, motd)
	}
}

// TestRecordsFieldByField compares the record that we write with the one that
// Helm 4 writes for the same install.
func TestRecordsFieldByField(t *testing.T) {
	t.Parallel()
	r := newRelay(t)
	other := newRelay(t)
	r.run("us", "install", "web", r.chart, "--set", "replicas=3")
	other.run("helm4", "install", "web", r.chart, "--set", "replicas=3")
	ours, theirs := record(t, r.namespace), record(t, other.namespace)
	if ours["manifest"] == nil || ours["hooks"] == nil || ours["chart"] == nil {
		t.Fatalf("our record is incomplete: %v", ours)
	}

	// These necessarily differ: timestamps, the test's namespace, and the modification
	// times of a chart's files, which only Helm 4 keeps.
	for _, m := range []map[string]any{ours, theirs} {
		delete(m, "namespace")
		info, _ := m["info"].(map[string]any)
		delete(info, "first_deployed")
		delete(info, "last_deployed")
		chart, _ := m["chart"].(map[string]any)
		delete(chart, "modtime")
		delete(chart, "schemamodtime")
		for _, list := range []string{"templates", "files"} {
			files, _ := chart[list].([]any)
			for _, f := range files {
				file, _ := f.(map[string]any)
				delete(file, "modtime")
			}
		}
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("our record differs from Helm 4's (-theirs +ours):\n%s", diff)
	}
}

// record returns the record of revision 1 of release web, decoded.
func record(t *testing.T, namespace string) map[string]any {
	t.Helper()
	text := cluster.Kubectl(t, "get", "secret", "sh.helm.release.v1.web.v1", "-n", namespace, "-o", "jsonpath={.data.release}")
	for range 2 {
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		text = string(decoded)
	}
	unzip, err := gzip.NewReader(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(unzip)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
