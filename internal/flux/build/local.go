package build

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// local refuses what kustomize would fetch or run, in the kustomization of a
// folder and in everything that it names: kustomize itself would clone what looks
// like a repository without asking.
func local(over files, dir string, k *types.Kustomization, path []string) error {
	if slices.Contains(path, dir) {
		return fmt.Errorf("the kustomization in %s is its own base", dir)
	}
	path = append(path, dir)
	if len(k.HelmCharts)+len(k.HelmChartInflationGenerator) > 0 {
		return fmt.Errorf("the kustomization in %s renders charts (helmCharts), which Flux does not do, either", dir)
	}
	for _, name := range named(k) {
		if remote(name) {
			return fmt.Errorf("%s of the kustomization in %s is remote: remote bases are not fetched", name, dir)
		}
	}
	for _, name := range slices.Concat(k.Resources, k.Bases, k.Components) {
		if err := folder(over, dir, name, path); err != nil {
			return err
		}
	}
	return nil
}

// folder checks a base or component.
func folder(over files, dir, name string, trail []string) error {
	at := within(path.Join(dir, name))
	if !over.Exists(at) || strings.HasPrefix(path.Join(dir, name), "..") {
		return fmt.Errorf("%s of the kustomization in %s is not in the repository", name, dir)
	}
	if !over.IsDir(at) {
		return nil
	}
	data, err := over.ReadFile(path.Join(at, fileOf(over.tree, at)))
	if err != nil {
		return fmt.Errorf("%s of the kustomization in %s has no kustomization", name, dir)
	}
	next := &types.Kustomization{}
	if err := yaml.Unmarshal(data, next); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return local(over, at, next, trail)
}

// named returns the files and folders that a kustomization names.
func named(k *types.Kustomization) []string {
	out := slices.Concat(k.Resources, k.Bases, k.Components, k.Crds, k.Configurations, k.Generators, k.Transformers, k.Validators)
	for _, p := range k.PatchesStrategicMerge {
		out = append(out, string(p))
	}
	for _, p := range slices.Concat(k.Patches, k.PatchesJson6902) {
		out = append(out, p.Path)
	}
	for _, r := range k.Replacements {
		out = append(out, r.Path)
	}
	for _, g := range k.ConfigMapGenerator {
		out = append(out, sources(g.KvPairSources)...)
	}
	for _, g := range k.SecretGenerator {
		out = append(out, sources(g.KvPairSources)...)
	}
	for _, p := range k.OpenAPI {
		out = append(out, p)
	}
	return out
}

func sources(s types.KvPairSources) []string {
	out := append(slices.Clone(s.EnvSources), s.EnvSource)
	for _, f := range s.FileSources {
		_, name, keyed := strings.Cut(f, "=")
		if !keyed {
			name = f
		}
		out = append(out, name)
	}
	return out
}

// remote reports whether kustomize could take the name for a URL or a repository.
// A name of several lines is an inline patch.
func remote(name string) bool {
	if strings.Contains(name, "\n") {
		return false
	}
	for _, part := range []string{"://", "git::", "git@", "?", ".git/", "_git/"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	lower := strings.ToLower(name)
	return strings.HasPrefix(lower, "github.com") || strings.HasPrefix(lower, "gh:") || strings.HasSuffix(lower, ".git") ||
		strings.Contains(strings.TrimPrefix(name, "//"), "//")
}
