package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/command"
)

// The Helm plugin has the version that this tree builds, or will release next; the krew
// manifest is made from the tag, and tested by make dist.
func TestManifestsHaveTheProgramsVersion(t *testing.T) {
	version := strings.TrimSuffix(command.Version, "-dev")
	var helm struct{ Name, Version string }
	read(t, "plugin.yaml", &helm)
	if helm.Name != "release" || helm.Version != version {
		t.Errorf("plugin.yaml is of %s %s, want release %s", helm.Name, helm.Version, version)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, &map[string]any{}); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
