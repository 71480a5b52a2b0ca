package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Generated pages are checked in, for people who read them on the web.
func TestGeneratedPagesAreFresh(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cli.md", "plan.schema.json", "events.schema.json", "set.schema.json"} {
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

// A plan that Build made, including bodies, fits the published schema.
func TestAPlanFitsItsSchema(t *testing.T) {
	schema := published(t, "plan.schema.json")
	for name, in := range inputs(t) {
		p, _, err := plan.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		var printed bytes.Buffer
		if err := report.JSON(&printed, &redact.Plan(p).Document); err != nil {
			t.Fatal(err)
		}
		if err := fits(t, schema, &printed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// So does the plan of a set, with and without plans for its releases.
func TestAPlanOfASetFitsItsSchema(t *testing.T) {
	key := releaseset.Key{Cluster: "prod", Namespace: "shop", Name: "web"}
	d := &releaseset.Document{FormatVersion: releaseset.FormatVersion, Files: []string{"releases.yaml"}, Releases: []releaseset.Planned{
		{Key: key, Release: key.Release(), Needs: []releaseset.Key{key}, From: releaseset.Place{File: "releases.yaml", Line: 3}, Touched: true, Error: "no such chart"},
		{Key: key, Release: key.Release(), Chart: releaseset.Chart{Path: "web"}, Verdict: &releaseset.Verdict{Action: "nothing"}},
	}}
	for _, in := range inputs(t) {
		p, _, err := plan.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		d.Releases = append(d.Releases, releaseset.Planned{Key: key, Release: key.Release(), Plan: &redact.Plan(p).Document})
	}
	d.Finish()
	schema := published(t, "set.schema.json")
	var printed bytes.Buffer
	if err := report.SetJSON(&printed, d); err != nil {
		t.Fatal(err)
	}
	text := printed.String()
	if err := fits(t, schema, &printed); err != nil {
		t.Error(err)
	}
	for _, broken := range []string{`"key": "prod/shop/web"`, `"operation": "install"`} {
		name, _, _ := strings.Cut(broken, ": ")
		if fits(t, schema, strings.NewReader(strings.Replace(text, broken, name+": 7", 1))) == nil {
			t.Errorf("it fits with a number for %s", broken)
		}
	}
}

// published returns a schema in docs/.
func published(t *testing.T, name string) *validator.Schema {
	t.Helper()
	compiler := validator.NewCompiler()
	for _, name := range []string{"plan.schema.json", "set.schema.json"} {
		file, err := os.Open(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		document, err := validator.UnmarshalJSON(file)
		if err == nil {
			err = errors.Join(file.Close(), compiler.AddResource(pages+name, document))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile(pages + name)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func fits(t *testing.T, schema *validator.Schema, printed io.Reader) error {
	t.Helper()
	value, err := validator.UnmarshalJSON(printed)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

// inputs returns an install, one with a hook, one that is compared with a file, and an uninstall of
// a release that does not exist.
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
		"install with a hook": {Operation: plan.Install, Release: key, Target: &plan.Target{Record: hooked, HookObjects: [][]manifest.Object{hooks}}, Predictions: map[string]plan.Prediction{}},
		"comparison": {
			Operation: plan.Install, Release: key, Target: &plan.Target{Record: record, Objects: objects},
			Against: &plan.Against{Kind: plan.AgainstFile, Name: "base.yaml", Offline: true}, Predictions: map[string]plan.Prediction{},
		},
		"uninstall": {Operation: plan.Uninstall, Release: key},
	}
}
