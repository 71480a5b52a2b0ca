package build

import (
	"fmt"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// plugins are the kinds of kustomize's own plugins, except for the one that renders charts (kustomize api 0.21,
// internal/plugins/builtinhelpers/builtins.go). What they read is in settings.
var plugins = []string{
	"AnnotationsTransformer", "ConfigMapGenerator", "HashTransformer", "IAMPolicyGenerator", "ImageTagTransformer",
	"LabelTransformer", "NamespaceTransformer", "PatchJson6902Transformer", "PatchStrategicMergeTransformer",
	"PatchTransformer", "PrefixSuffixTransformer", "PrefixTransformer", "ReplacementTransformer", "ReplicaCountTransformer",
	"SecretGenerator", "SuffixTransformer", "ValueAddTransformer",
}

// settings are the fields by which plugins name files.
type settings struct {
	types.KvPairSources
	Path           string                      `json:"path"`
	Paths          []types.PatchStrategicMerge `json:"paths"`
	Replacements   []types.ReplacementField    `json:"replacements"`
	TargetFilePath string                      `json:"targetFilePath"`
}

// configured returns the files that the generators, transformers and validators of a kustomization name.
func configured(over files, dir string, k *types.Kustomization) (names []string, err error) {
	for _, entry := range slices.Concat(k.Generators, k.Transformers, k.Validators) {
		configs, err := configs(over, dir, entry)
		if err != nil {
			return nil, err
		}
		for _, config := range configs.Resources() {
			named, err := reads(config)
			if err != nil {
				return nil, fmt.Errorf("the kustomization in %s: %w", dir, err)
			}
			names = append(names, named...)
		}
	}
	return names, nil
}

// configs returns the configurations of plugins that an entry is, or its file has. As in kustomize, whatever is no
// YAML of objects is a name. A folder is an error: only building it would tell what is in it.
func configs(over files, dir, entry string) (resmap.ResMap, error) {
	parse := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
	if inline, err := parse.NewResMapFromBytes([]byte(entry)); err == nil {
		return inline, nil
	}
	if err := over.has(dir, entry); err != nil {
		return nil, err
	}
	if over.IsDir(path.Join(dir, entry)) {
		return nil, fmt.Errorf("%s of the kustomization in %s is a folder of generators, transformers or validators, which is not built", entry, dir)
	}
	data, err := over.ReadFile(path.Join(dir, entry))
	if err != nil {
		return nil, err
	}
	out, err := parse.NewResMapFromBytes(data)
	if err != nil {
		return nil, fmt.Errorf("%s of the kustomization in %s: %w", entry, dir, err)
	}
	return out, nil
}

// reads returns the files that a plugin is configured to read.
func reads(config *resource.Resource) ([]string, error) {
	kind := config.GetGvk()
	if kind.Group != "" || kind.Version != konfig.BuiltinPluginApiVersion || !slices.Contains(plugins, kind.Kind) {
		return nil, fmt.Errorf("%s %s is no plugin that is part of kustomize, and is not run", kind.Kind, config.GetName())
	}
	data, err := config.AsYAML()
	if err != nil {
		return nil, err
	}
	var s settings
	if err := yaml.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s %s: %w", kind.Kind, config.GetName(), err)
	}
	out := append(sources(s.KvPairSources), s.Path, s.TargetFilePath)
	for _, r := range s.Replacements {
		out = append(out, r.Path)
	}
	return append(out, patchFiles(s.Paths)...), nil
}
