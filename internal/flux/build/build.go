// Package build builds the objects of a Flux Kustomization from a tree of files, with
// kustomize's own library: overlays, components, patches, images, generators. It
// also post-renders what the chart of a HelmRelease renders.
//
// Nothing is fetched and nothing is run: remote bases are left out, and plugins that
// are not kustomize's own, and charts that it would render, are refused. It does not
// substitute variables: package substitution does.
package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// one serializes builds: kustomize has global state (kustomize#3659).
var one sync.Mutex

// Objects returns what the Kustomization's path builds: the kustomization there, or
// one generated from all YAML below it, with the fields of spec on top except commonMetadata (see Mark). omitted are the
// remote resources that are not fetched, and generators that need remote files:
// "https://… of the kustomization in apps". A missing folder, anything else that is
// remote and what kustomize refuses are errors that name the Kustomization.
func Objects(tree fs.FS, k *flux.Kustomization) (out []map[string]any, omitted []string, err error) {
	one.Lock()
	defer one.Unlock()
	dir := within(k.Spec.Path)
	over := files{tree: tree, replaced: map[string][]byte{}, checked: map[string]checked{}, spent: &spent{}}
	made, err := kustomization(over, dir, k.Spec)
	if err != nil {
		return nil, nil, fmt.Errorf("build %s: %w", Called(k), err)
	}
	if omitted, err = local(over, dir, made, nil); err != nil {
		return nil, nil, fmt.Errorf("build %s: %w", Called(k), err)
	}
	if adds(made) == 0 {
		return nil, omitted, nil
	}
	if over.replaced[path.Join(dir, fileOf(tree, dir))], err = yaml.Marshal(made); err != nil {
		return nil, nil, err
	}
	out, err = run(over, dir)
	switch {
	case err != nil && len(omitted) > 0:
		return nil, nil, fmt.Errorf("build %s without %s, which is remote and not fetched: %w", Called(k), strings.Join(omitted, ", "), err)
	case err != nil:
		return nil, nil, fmt.Errorf("build %s: %w", Called(k), err)
	}
	return out, omitted, nil
}

// Called returns what to call a Kustomization: one without a name is the folder where Flux begins.
func Called(k *flux.Kustomization) string {
	if k.Metadata.Name == "" {
		return "the folder " + k.Spec.Path
	}
	return flux.KindKustomization + " " + k.String()
}

func run(over files, dir string) ([]map[string]any, error) {
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	built, err := krusty.MakeKustomizer(options).Run(over, "/"+strings.TrimPrefix(dir, "."))
	if over.spent.over != nil {
		return nil, over.spent.over // kustomize may say only that a file is missing
	}
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, r := range built.Resources() {
		object, err := r.Map()
		if err != nil {
			return nil, err
		}
		out = append(out, object)
	}
	return out, nil
}

// Mark returns an object with the common metadata of a Kustomization and kustomize-controller's own labels, which
// it sets after it has substituted variables (kustomize-controller 1.9,
// internal/controller/kustomization_controller.go, reconcile and apply): these have no effect on that, and no variables.
func Mark(object map[string]any, k *flux.Kustomization) map[string]any {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return object
	}
	object, metadata = maps.Clone(object), maps.Clone(metadata)
	object["metadata"] = metadata
	if m := k.Spec.CommonMetadata; m != nil {
		set(metadata, "labels", m.Labels)
		set(metadata, "annotations", m.Annotations)
	}
	set(metadata, "labels", map[string]string{
		flux.KustomizeGroup + "/name": k.Metadata.Name, flux.KustomizeGroup + "/namespace": k.Metadata.Namespace,
	})
	return object
}

// set adds to a table of metadata, which is replaced with a copy.
func set(metadata map[string]any, field string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	have, _ := metadata[field].(map[string]any)
	table := make(map[string]any, len(have)+len(values))
	maps.Copy(table, have)
	for k, v := range values {
		table[k] = v
	}
	metadata[field] = table
}

// fileOf returns the name of the folder's kustomization file, the default name if
// there is none.
func fileOf(tree fs.FS, dir string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if info, err := fs.Stat(tree, path.Join(dir, name)); err == nil && !info.IsDir() {
			return name
		}
	}
	return konfig.DefaultKustomizationFileName()
}

// kustomization returns the folder's own, or one generated from everything below
// it, with the fields of spec (fluxcd/pkg kustomize.Generator).
func kustomization(over files, dir string, spec flux.KustomizationSpec) (*types.Kustomization, error) {
	if !over.IsDir(dir) {
		return nil, fmt.Errorf("path %s is not a folder in the repository", dir)
	}
	out := &types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	data, err := over.ReadFile(path.Join(dir, fileOf(over.tree, dir)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if out.Resources, err = below(over.tree, dir); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if err := yaml.Unmarshal(data, out); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(dir, fileOf(over.tree, dir)), err)
		}
	}
	if spec.TargetNamespace != "" {
		out.Namespace = spec.TargetNamespace
	}
	if spec.NamePrefix != "" {
		out.NamePrefix = spec.NamePrefix
	}
	if spec.NameSuffix != "" {
		out.NameSuffix = spec.NameSuffix
	}
	for _, p := range spec.Patches {
		out.Patches = append(out.Patches, types.Patch{Patch: p.Patch, Target: selector(p.Target)})
	}
	for _, name := range spec.Components {
		if _, err := fs.Stat(over.tree, within(path.Join(dir, name))); err != nil && spec.IgnoreMissingComponents {
			continue
		}
		out.Components = append(out.Components, name)
	}
	for _, image := range spec.Images {
		addImage(out, image)
	}
	return out, nil
}

func selector(s *flux.Selector) *types.Selector {
	if s == nil {
		return nil
	}
	return &types.Selector{
		ResId:              resid.ResId{Gvk: resid.Gvk{Group: s.Group, Version: s.Version, Kind: s.Kind}, Name: s.Name, Namespace: s.Namespace},
		AnnotationSelector: s.AnnotationSelector, LabelSelector: s.LabelSelector,
	}
}

// addImage adds an image, or merges it with the entry of the same name.
func addImage(out *types.Kustomization, image flux.Image) {
	i := slices.IndexFunc(out.Images, func(have types.Image) bool { return have.Name == image.Name })
	if i < 0 {
		out.Images = append(out.Images, types.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest})
		return
	}
	have := &out.Images[i]
	if image.NewName != "" {
		have.NewName = image.NewName
	}
	if image.NewTag != "" || image.Digest != "" {
		have.NewTag, have.Digest = image.NewTag, image.Digest
	}
}

// below returns all YAML files under a folder, hidden ones too, and folders with a
// kustomization of their own instead of what is in them (fluxcd/pkg,
// kustomize/kustomize_generator.go, scanManifests). The tree has only what is part of
// the source; .git never is, and is not looked into.
func below(tree fs.FS, dir string) ([]string, error) {
	var out []string
	err := fs.WalkDir(tree, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		name := strings.TrimPrefix(p, dir+"/")
		switch {
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			if _, err := fs.Stat(tree, path.Join(p, fileOf(tree, p))); err == nil {
				out = append(out, name)
				return fs.SkipDir
			}
		case path.Ext(p) == ".yaml" || path.Ext(p) == ".yml":
			out = append(out, name)
		}
		return nil
	})
	return out, err
}
