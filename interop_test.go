package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tool is one of the three hands that a release passes through. Install and
// upgrade take their values as --set pairs.
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

// relay is one release in the hands of several tools.
type relay struct {
	t         *testing.T
	tools     map[string]tool
	namespace string
	chart     string
	env       []string // NAME=VALUE, for every tool
}

func newRelay(t *testing.T) relay {
	return relay{t: t, tools: tools(t), namespace: cluster.Namespace(t), chart: absolute(t, filepath.Join("testdata", "charts", "shop"))}
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

// TestRecordsFieldByField compares the record that we write with the one that
// Helm 4 writes for the same install.
func TestRecordsFieldByField(t *testing.T) {
	r := newRelay(t)
	other := newRelay(t)
	r.run("us", "install", "web", r.chart, "--set", "replicas=3")
	other.run("helm4", "install", "web", r.chart, "--set", "replicas=3")
	ours, theirs := record(t, r.namespace), record(t, other.namespace)
	if ours["manifest"] == "" || ours["hooks"] == nil || ours["chart"] == nil {
		t.Fatalf("our record is incomplete: %v", ours)
	}

	// These differ by nature: times, the namespace of the test, and the time a
	// chart's files have on disk, which only Helm 4 keeps.
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

// record is the newest record of release web, decoded.
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
