package build

import (
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/api/builtins"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Strategies of spec.postRenderStrategy: which hooks are post-rendered.
const (
	noHooks  = "nohooks"
	separate = "separate"
)

// PostRender rewrites what a chart renders as helm-controller does: the
// post-renderers in order, then the common metadata, then the origin labels,
// which win. text is a manifest with a "# Source:" line in each document, including
// hooks, and so is the result. Errors are kustomize's.
func PostRender(hr *flux.HelmRelease, text string) (string, error) {
	var streams [2][]string
	var hooks []string
	for _, doc := range manifest.Split(text) {
		isHook, err := hook(doc)
		switch {
		case err != nil:
			return "", err
		case isHook && hr.Spec.PostRenderStrategy == noHooks:
			hooks = append(hooks, doc)
		case isHook && hr.Spec.PostRenderStrategy == separate:
			streams[1] = append(streams[1], doc)
		default:
			streams[0] = append(streams[0], doc)
		}
	}
	var out strings.Builder
	for i, docs := range streams {
		lost := "generated-by-postrender-"
		if hr.Spec.PostRenderStrategy == separate {
			lost += [...]string{"manifests-", "hooks-"}[i]
		}
		if err := rewrite(hr, docs, lost, &out); err != nil {
			return "", err
		}
	}
	for _, doc := range hooks {
		out.WriteString("---\n" + doc + "\n")
	}
	return out.String(), nil
}

// hook reports whether a document is a hook.
func hook(doc string) (bool, error) {
	var head struct {
		Metadata struct {
			Annotations map[string]any `json:"annotations"`
		} `json:"metadata"`
	}
	if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
		return false, err
	}
	_, is := head.Metadata.Annotations[manifest.HookAnnotation]
	return is, nil
}

// rewrite post-renders a stream of documents. An object whose annotations a patch
// has replaced has lost its file name: it gets one that begins with lost, as in Helm.
func rewrite(hr *flux.HelmRelease, docs []string, lost string, out *strings.Builder) error {
	if len(docs) == 0 {
		return nil
	}
	if err := limited(docs, hr.Spec.PostRenderers); err != nil {
		return err
	}
	one.Lock()
	defer one.Unlock()
	objects, err := read(docs)
	if err != nil {
		return err
	}
	for i, p := range hr.Spec.PostRenderers {
		if p.Kustomize == nil {
			continue
		}
		if objects, err = patched(objects, p.Kustomize); err != nil {
			return fmt.Errorf("spec.postRenderers[%d]: %w", i, err)
		}
	}
	if err := labelled(hr, objects); err != nil {
		return err
	}
	for i, r := range objects.Resources() {
		annotations := r.GetAnnotations()
		source := cmp.Or(annotations[manifest.SourceAnnotation], fmt.Sprintf("%s%d.yaml", lost, i))
		delete(annotations, manifest.SourceAnnotation)
		if err := r.SetAnnotations(annotations); err != nil {
			return err
		}
		data, err := r.AsYAML()
		if err != nil {
			return err
		}
		out.WriteString("---\n# Source: " + source + "\n" + string(data) + "\n")
	}
	return nil
}

// read parses documents and annotates each object with the file it came from.
func read(docs []string) (resmap.ResMap, error) {
	factory := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
	all := resmap.New()
	for _, doc := range docs {
		source, _, _ := strings.Cut(strings.TrimPrefix(doc, "# Source: "), "\n")
		parsed, err := factory.NewResMapFromBytes([]byte(doc))
		if err != nil {
			return nil, err
		}
		for _, r := range parsed.Resources() {
			annotations := r.GetAnnotations()
			annotations[manifest.SourceAnnotation] = source
			if err := r.SetAnnotations(annotations); err != nil {
				return nil, err
			}
			if err := all.Append(r); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// patched runs kustomize over the objects.
func patched(objects resmap.ResMap, k *flux.KustomizeRenderer) (resmap.ResMap, error) {
	const input = "helm-output.yaml"
	cfg := types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources: []string{input},
	}
	for _, p := range k.Patches {
		cfg.Patches = append(cfg.Patches, types.Patch{Patch: p.Patch, Target: selector(p.Target)})
	}
	for _, image := range k.Images {
		cfg.Images = append(cfg.Images, types.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest})
	}
	data, err := yaml.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	text, err := objects.AsYaml()
	if err != nil {
		return nil, err
	}
	memory := filesys.MakeFsInMemory()
	for name, content := range map[string][]byte{input: text, "kustomization.yaml": data} {
		if err := memory.WriteFile(name, content); err != nil {
			return nil, err
		}
	}
	return krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig(),
	}).Run(memory, ".")
}

// labelled adds the common metadata and the origin labels to every object.
func labelled(hr *flux.HelmRelease, objects resmap.ResMap) error {
	metadata := func(field string) []types.FieldSpec {
		return []types.FieldSpec{{Path: "metadata/" + field, CreateIfNotPresent: true}}
	}
	var transformers []interface{ Transform(resmap.ResMap) error }
	if m := hr.Spec.CommonMetadata; m != nil && m.Labels != nil {
		transformers = append(transformers, &builtins.LabelTransformerPlugin{Labels: m.Labels, FieldSpecs: metadata("labels")})
	}
	if m := hr.Spec.CommonMetadata; m != nil && m.Annotations != nil {
		transformers = append(transformers, &builtins.AnnotationsTransformerPlugin{Annotations: m.Annotations, FieldSpecs: metadata("annotations")})
	}
	transformers = append(transformers, &builtins.LabelTransformerPlugin{Labels: hr.Origin(), FieldSpecs: metadata("labels")})
	for _, t := range transformers {
		if err := t.Transform(objects); err != nil {
			return err
		}
	}
	return nil
}
