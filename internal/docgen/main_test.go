package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Pages that are generated are checked in, for people who read them on the web.
func TestGeneratedPagesAreFresh(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cli.md", "plan.schema.json", "events.schema.json"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("docs/%s is stale: run go generate ./...\n%s", name, diff)
		}
	}
}

// A plan that Build made, bodies and all, fits the schema that is published.
func TestAPlanFitsItsSchema(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "docs", "plan.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := validator.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := validator.NewCompiler()
	if err := compiler.AddResource("plan.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range inputs(t) {
		p, _, err := plan.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		var printed bytes.Buffer
		if err := report.JSON(&printed, &redact.Plan(p).Document); err != nil {
			t.Fatal(err)
		}
		value, err := validator.UnmarshalJSON(&printed)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// inputs are an install, one with a hook, one that is compared with a file, and an uninstall of
// what is not there.
func inputs(t *testing.T) map[string]plan.Input {
	t.Helper()
	objects, err := manifest.Parse("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {key: value}\n")
	if err != nil {
		t.Fatal(err)
	}
	key := release.Key{Namespace: "shop", Name: "web"}
	record := &release.Revision{Name: "web", Namespace: "shop", Version: 1}
	hooked := &release.Revision{Name: "web", Namespace: "shop", Version: 1}
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: shop}\n"
	hooks, err := manifest.Parse(job)
	if err != nil {
		t.Fatal(err)
	}
	hooked.Hooks = []release.Hook{{Hook: manifest.Hook{
		Name: "a", Kind: "Job", Manifest: job, Events: []manifest.Event{manifest.PreInstall},
		DeletePolicies: []manifest.Policy{manifest.HookSucceeded},
	}}}
	source := &plan.ChartSource{Reference: "a/web", Repository: "https://h", Name: "web", Version: "1.0.0", URL: "https://h/web-1.0.0.tgz", Digest: "sha256:00", Fixed: true}
	return map[string]plan.Input{
		"install":             {Operation: plan.Install, Release: key, Target: &plan.Target{Record: record, Objects: objects, Source: source}, Predictions: map[string]plan.Prediction{}},
		"install with a hook": {Operation: plan.Install, Release: key, Target: &plan.Target{Record: hooked, HookObjects: hooks}, Predictions: map[string]plan.Prediction{}},
		"comparison": {
			Operation: plan.Install, Release: key, Target: &plan.Target{Record: record, Objects: objects},
			Against: &plan.Against{Kind: plan.AgainstFile, Name: "base.yaml", Offline: true}, Predictions: map[string]plan.Prediction{},
		},
		"uninstall": {Operation: plan.Uninstall, Release: key},
	}
}
