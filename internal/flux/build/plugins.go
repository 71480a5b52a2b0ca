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

// configured returns the files that a kustomization's generators, transformers and validators are, and those that
// they name. They are read as kustomize reads them. A folder is an error: only building it would tell what is in it.
func configured(over files, dir string, k *types.Kustomization) (names []string, err error) {
	parse := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
	for _, entry := range slices.Concat(k.Generators, k.Transformers, k.Validators) {
		configs, err := parse.NewResMapFromBytes([]byte(entry))
		if err != nil { // it is a name
			if err := over.has(dir, entry); err != nil {
				return nil, err
			}
			data, err := over.ReadFile(path.Join(dir, entry))
			if err != nil {
				return nil, fmt.Errorf("%s of the kustomization in %s is a generator, transformer or validator that is no file", entry, dir)
			}
			if configs, err = parse.NewResMapFromBytes(data); err != nil {
				return nil, fmt.Errorf("%s of the kustomization in %s: %w", entry, dir, err)
			}
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
