package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/command"
)

// The plugin manifests are for the version that this tree builds, or will
// release next.
func TestManifestsHaveTheProgramsVersion(t *testing.T) {
	version := strings.TrimSuffix(command.Version, "-dev")
	var helm struct{ Name, Version string }
	read(t, "plugin.yaml", &helm)
	if helm.Name != "release" || helm.Version != version {
		t.Errorf("plugin.yaml is of %s %s, want release %s", helm.Name, helm.Version, version)
	}
	var krew struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version, ShortDescription string
			Platforms                 []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
			}
		}
	}
	read(t, "krew.yaml", &krew)
	if krew.Metadata.Name != "release" || krew.Spec.Version != "v"+version {
		t.Errorf("krew.yaml is of %s %s, want release v%s", krew.Metadata.Name, krew.Spec.Version, version)
	}
	if n := len(krew.Spec.ShortDescription); n == 0 || n > 50 {
		t.Errorf("krew's short description has %d characters, want 1 to 50", n)
	}
	seen := map[string]bool{}
	for _, p := range krew.Spec.Platforms {
		platform := p.Selector.MatchLabels["os"] + "_" + p.Selector.MatchLabels["arch"]
		seen[platform] = true
		want := "/v" + version + "/kubectl-release_" + version + "_" + platform + "."
		if !strings.Contains(p.URI, want) || len(p.SHA256) != 64 || !strings.HasPrefix(p.Bin, "kubectl-release") {
			t.Errorf("krew.yaml for %s: %+v, want an address with %s", platform, p, want)
		}
	}
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"} {
		if !seen[platform] {
			t.Errorf("krew.yaml has nothing for %s", platform)
		}
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
