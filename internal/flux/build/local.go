package build

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// local leaves out what kustomize would fetch to add objects, in the kustomization of a folder and in
// everything that it names, and returns what that is. It refuses what kustomize would run, or fetch to change
// other objects: kustomize itself would clone what looks like a repository without asking.
func local(over files, dir string, k *types.Kustomization, trail []string) (omitted []string, err error) {
	if slices.Contains(trail, dir) {
		return nil, fmt.Errorf("the kustomization in %s is its own base", dir)
	}
	trail = append(trail, dir)
	if len(k.HelmCharts)+len(k.HelmChartInflationGenerator) > 0 {
		return nil, fmt.Errorf("the kustomization in %s renders charts (helmCharts), which Flux does not do, either", dir)
	}
	for _, name := range withoutRemote(k) {
		omitted = append(omitted, fmt.Sprintf("%s of the kustomization in %s", name, dir))
	}
	names, err := configured(over, dir, k)
	if err != nil {
		return nil, err
	}
	for _, name := range append(names, named(k)...) {
		if err := over.has(dir, name); err != nil {
			return nil, err
		}
	}
	for _, names := range []*[]string{&k.Resources, &k.Bases, &k.Components} {
		var has []string
		for _, name := range *names {
			without, empty, err := folder(over, dir, name, trail)
			if err != nil {
				return nil, err
			}
			if !empty {
				has = append(has, name)
			}
			for _, what := range without {
				if !slices.Contains(omitted, what) { // bases can be shared
					omitted = append(omitted, what)
				}
			}
		}
		*names = has
	}
	return omitted, nil
}

// withoutRemote takes out of a kustomization the remote resources, and the generators of ConfigMaps and Secrets
// from remote files, and returns their names. A generator that changes what another one makes stays.
func withoutRemote(k *types.Kustomization) (out []string) {
	leaves := func(name string) bool {
		if remote(name) {
			out = append(out, name)
		}
		return remote(name)
	}
	creates := func(g types.GeneratorArgs) bool {
		i := slices.IndexFunc(sources(g.KvPairSources), remote)
		if i < 0 || types.NewGenerationBehavior(g.Behavior) > types.BehaviorCreate {
			return false
		}
		out = append(out, fmt.Sprintf("the generator of %s, which needs %s,", g.Name, sources(g.KvPairSources)[i]))
		return true
	}
	k.Resources, k.Bases = slices.DeleteFunc(k.Resources, leaves), slices.DeleteFunc(k.Bases, leaves)
	k.ConfigMapGenerator = slices.DeleteFunc(k.ConfigMapGenerator, func(g types.ConfigMapArgs) bool { return creates(g.GeneratorArgs) })
	k.SecretGenerator = slices.DeleteFunc(k.SecretGenerator, func(g types.SecretArgs) bool { return creates(g.GeneratorArgs) })
	return out
}

// folder checks a base or component, once. empty reports whether nothing is left of it.
func folder(over files, dir, name string, trail []string) (omitted []string, empty bool, err error) {
	at := within(path.Join(dir, name))
	if !over.IsDir(at) {
		return nil, false, nil
	}
	if has, is := over.checked[at]; is {
		return has.omitted, has.empty, nil
	}
	file := path.Join(at, fileOf(over.tree, at))
	data, err := over.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, fmt.Errorf("%s of the kustomization in %s has no kustomization", name, dir)
	case err != nil:
		return nil, false, err
	}
	next := &types.Kustomization{}
	if err := yaml.Unmarshal(data, next); err != nil {
		return nil, false, fmt.Errorf("%s: %w", at, err)
	}
	if omitted, err = local(over, at, next, trail); err != nil {
		return nil, false, err
	}
	if len(omitted) > 0 {
		over.replaced[file], empty, err = rest(next)
	}
	over.checked[at] = checked{omitted, empty}
	return omitted, empty, err
}

// rest returns what is left of a kustomization, and whether that is nothing that counts: a base counts for the
// objects that it has, a component also for what it changes of others.
func rest(k *types.Kustomization) (data []byte, empty bool, err error) {
	if data, err = yaml.Marshal(k); err != nil || k.Kind != types.ComponentKind {
		return data, adds(k) == 0, err
	}
	left := &types.Kustomization{}
	err = yaml.Unmarshal(data, left)
	return data, left.CheckEmpty() != nil, err
}

// adds returns how many sources of objects a kustomization has.
func adds(k *types.Kustomization) int {
	return len(k.Resources) + len(k.Components) + len(k.Bases) + len(k.ConfigMapGenerator) + len(k.SecretGenerator) + len(k.Generators)
}

// named returns the files and folders that a kustomization names, without its generators, transformers and
// validators, see configured.
func named(k *types.Kustomization) []string {
	out := slices.Concat(k.Resources, k.Bases, k.Components, k.Crds, k.Configurations, patchFiles(k.PatchesStrategicMerge))
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
	return append(out, k.OpenAPI["path"])
}

// patchFiles returns those of the patches that are files. The others are the patches themselves.
func patchFiles(patches []types.PatchStrategicMerge) (out []string) {
	for _, p := range patches {
		if _, err := provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes([]byte(p)); err != nil {
			out = append(out, string(p))
		}
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

// repository matches names that begin as the URL of a repository or file does: git would take USER@HOST:PATH, and
// kustomize USER@HOST/PATH as well.
var repository = regexp.MustCompile(`(?is)^(https?:|gh:|github\.com|[a-z][a-z0-9-]*@.*[:/])`)

// remote reports whether kustomize could take the name for a URL or a repository, even if the tree has it (kustomize
// api 0.21, internal/git/repospec.go and internal/loader/fileloader.go).
func remote(name string) bool {
	lower := strings.ToLower(name)
	for _, part := range []string{"://", "git::", "?", ".git/", "_git/"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return repository.MatchString(name) || strings.HasSuffix(lower, ".git") || strings.Contains(strings.TrimPrefix(name, "//"), "//")
}
