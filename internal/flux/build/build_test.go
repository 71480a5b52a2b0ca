package build

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func configMap(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {image: web}\n", name)
}

func kustomize(path string) *flux.Kustomization {
	return &flux.Kustomization{
		Metadata: flux.Metadata{Namespace: "flux-system", Name: "apps"}, Spec: flux.KustomizationSpec{Path: path, Prune: true},
	}
}

// Check 49 of FLUX.md, the part without substitution.
func TestCheck49OverlaysComponentsAndSpec(t *testing.T) {
	files := tree(map[string]string{
		"base/kustomization.yaml":  "resources: [app.yaml]\nconfigMapGenerator: [{name: made, literals: [a=b], options: {disableNameSuffixHash: true}}]\n",
		"base/app.yaml":            configMap("app"),
		"prod/kustomization.yaml":  "resources: [../base]\npatches: [{patch: '- {op: add, path: /data/prod, value: \"1\"}', target: {kind: ConfigMap, name: app}}]\n",
		"extra/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [more.yaml]\n",
		"extra/more.yaml":          configMap("more"),
	})
	k := kustomize("./prod")
	k.Spec.TargetNamespace, k.Spec.NamePrefix = "web", "p-"
	k.Spec.Components, k.Spec.IgnoreMissingComponents = []string{"../extra", "../gone"}, true
	k.Spec.Patches = []flux.Patch{{Patch: `- {op: add, path: /data/spec, value: "2"}`, Target: &flux.Selector{Kind: "ConfigMap", Name: ".*app"}}}
	k.Spec.CommonMetadata = &flux.CommonMetadata{Labels: map[string]string{"team": "a"}}
	got, _, err := Objects(files, k)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]map[string]any{}
	for _, o := range got {
		o = Mark(o, k)
		names[o["metadata"].(map[string]any)["name"].(string)] = o
	}
	app := names["p-app"]
	if len(got) != 3 || app == nil || names["p-made"] == nil || names["p-more"] == nil {
		t.Fatalf("%v", got)
	}
	want := "map[image:web prod:1 spec:2] map[labels:map[kustomize.toolkit.fluxcd.io/name:apps kustomize.toolkit.fluxcd.io/namespace:flux-system team:a] name:p-app namespace:web]"
	if text := fmt.Sprint(app["data"], " ", app["metadata"]); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

func TestAFolderWithoutKustomizationIsAllThatIsBelow(t *testing.T) {
	got, _, err := Objects(tree(map[string]string{
		"prod/a.yaml": configMap("a"), "prod/sub/b.yml": configMap("b"), "prod/.hidden/c.yaml": configMap("c"), "prod/.e.yaml": configMap("e"), "prod/README.md": "text", "prod/.git/f.yaml": configMap("f"),
		"prod/own/kustomization.yaml": "namePrefix: own-\nresources: [d.yaml]\n", "prod/own/d.yaml": configMap("d"),
	}), kustomize("prod"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range got {
		names = append(names, o["metadata"].(map[string]any)["name"].(string))
	}
	if text := strings.Join(names, " "); text != "e c a own-d b" {
		t.Error(text)
	}
}

// What only adds objects is left out, and named; the rest is built.
func TestRemoteResourcesAreLeftOut(t *testing.T) {
	for _, c := range []struct{ file, omitted, has string }{
		{"resources: ['https://example.com/app.yaml', a.yaml]", "https://example.com/app.yaml of the kustomization in prod", "a"},
		{"resources: ['github.com/owner/repo/path']", "github.com/owner/repo/path of the kustomization in prod", ""},
		{"resources: ['git@example.com:owner/repo', a.yaml]", "git@example.com:owner/repo of the kustomization in prod", "a"},
		{"bases: ['../base?ref=main']\nresources: [a.yaml]", "../base?ref=main of the kustomization in prod", "a"},
		{"configMapGenerator: [{name: x, files: ['k=https://example.com/x']}, {name: z, options: {disableNameSuffixHash: true}}]\nresources: [a.yaml]", "the generator of x, which needs https://example.com/x, of the kustomization in prod", "a z"},
		{"secretGenerator: [{name: x, envs: ['https://example.com/x']}]\nresources: [a.yaml]", "the generator of x, which needs https://example.com/x, of the kustomization in prod", "a"},
		{"resources: [../base, a.yaml]", "https://example.com/nested of the kustomization in base", "b a"},
		{"components: [../extra]", "https://example.com/extra of the kustomization in extra", ""},
		{"resources: [../empty, a.yaml]", "https://example.com/empty of the kustomization in empty", "a"},
	} {
		got, omitted, err := Objects(tree(map[string]string{
			"prod/kustomization.yaml": c.file, "prod/a.yaml": configMap("a"), "base/b.yaml": configMap("b"),
			"base/kustomization.yaml": "resources: ['https://example.com/nested', b.yaml]", "empty/kustomization.yaml": "resources: ['https://example.com/empty']",
			"extra/kustomization.yaml": "kind: Component\nnamePrefix: a-\nresources: ['https://example.com/extra']",
		}), kustomize("prod"))
		if err != nil || strings.Join(omitted, "; ") != c.omitted {
			t.Errorf("%s: left out %q, %v", c.file, omitted, err)
		}
		var names []string
		for _, o := range got {
			names = append(names, o["metadata"].(map[string]any)["name"].(string))
		}
		if has := strings.Join(names, " "); has != c.has {
			t.Errorf("%s: built %q, want %q", c.file, has, c.has)
		}
	}
}

// A component from which something remote is left out still changes what others add.
func TestAComponentWithSomethingRemoteStays(t *testing.T) {
	got, omitted, err := Objects(tree(map[string]string{
		"prod/kustomization.yaml":  "resources: [a.yaml]\ncomponents: [../extra, ../crds]\n",
		"prod/a.yaml":              configMap("a"),
		"extra/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: ['https://example.com/more']\npatches: [{patch: '- {op: add, path: /data/patched, value: \"1\"}', target: {kind: ConfigMap}}]\n",
		"crds/kustomization.yaml":  "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: ['https://example.com/crds']\n",
	}), kustomize("prod"))
	if err != nil || len(omitted) != 2 || len(got) != 1 {
		t.Fatal(got, omitted, err)
	}
	if data := fmt.Sprint(got[0]["data"]); data != "map[image:web patched:1]" {
		t.Error(data)
	}
}

// What is left out of a base is named once, however many overlays share the base.
func TestABaseThatIsOnlyRemoteCanBeShared(t *testing.T) {
	got, omitted, err := Objects(tree(map[string]string{
		"prod/kustomization.yaml": "resources: [../one, ../two]\n",
		"one/kustomization.yaml":  "resources: [../base, a.yaml]\n", "one/a.yaml": configMap("a"),
		"two/kustomization.yaml": "resources: [../base, b.yaml]\n", "two/b.yaml": configMap("b"),
		"base/kustomization.yaml": "resources: ['https://example.com/app']\n",
	}), kustomize("prod"))
	if err != nil || len(got) != 2 || strings.Join(omitted, "; ") != "https://example.com/app of the kustomization in base" {
		t.Error(got, omitted, err)
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	for _, c := range []struct{ file, fails string }{
		{"components: ['https://example.com/app']", "is remote, which is not fetched, and other objects depend on it"},
		{"patches: [{path: 'https://example.com/patch.yaml'}]", "is remote, which is not fetched, and other objects depend on it"},
		{"configMapGenerator: [{name: a, behavior: merge, files: ['k=https://example.com/a']}]", "is remote, which is not fetched, and other objects depend on it"},
		{"resources: ['https://example.com/app.yaml', ../out.yaml]\npatches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: there}}'}]", "without https://example.com/app.yaml of the kustomization in prod, which is remote and not fetched: "},
		{"resources: [gone.yaml]", "gone.yaml of the kustomization in prod is not in the repository"},
		{"resources: ['../../out.yaml']", "is not in the repository"},
		{"helmCharts: [{name: a}]", "renders charts"},
	} {
		_, _, err := Objects(tree(map[string]string{
			"prod/kustomization.yaml": c.file, "out.yaml": configMap("out"),
		}), kustomize("prod"))
		if err == nil || !strings.Contains(err.Error(), c.fails) || !strings.Contains(err.Error(), "flux-system/apps") {
			t.Errorf("%s: %v, want %s", c.file, err, c.fails)
		}
	}
}

func TestAPathThatIsNotThere(t *testing.T) {
	if _, _, err := Objects(tree(nil), kustomize("gone")); err == nil || !strings.Contains(err.Error(), "path gone is not a folder") {
		t.Error(err)
	}
	if _, _, err := Objects(tree(nil), &flux.Kustomization{Spec: flux.KustomizationSpec{Path: "gone"}}); err == nil || !strings.HasPrefix(err.Error(), "build the folder gone: ") {
		t.Error(err) // where Flux begins
	}
}

// Checks 19 and 20 of FLUX.md, what the traces do not cover: the origin labels win over those of
// the chart, of post-renderers and of the common metadata, and with nohooks, hooks stay as they are.
func TestCheck19And20OriginLabelsWinAndHooksStay(t *testing.T) {
	const hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-upgrade}}"
	const text = "---\n# Source: a\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {helm.toolkit.fluxcd.io/name: chart}}\n---\n# Source: hook\n" + hook + "\n"
	hr := &flux.HelmRelease{Metadata: flux.Metadata{Namespace: "apps", Name: "web"}}
	hr.Spec.CommonMetadata = &flux.CommonMetadata{Labels: map[string]string{"helm.toolkit.fluxcd.io/namespace": "common", "team": "a"}}
	hr.Spec.PostRenderers = []flux.PostRenderer{{Kustomize: &flux.KustomizeRenderer{Patches: []flux.Patch{{
		Patch: `- {op: add, path: /metadata/labels, value: {helm.toolkit.fluxcd.io/name: patch}}`, Target: &flux.Selector{Kind: "ConfigMap"},
	}}}}}
	for strategy, hooks := range map[string]int{"": 2, "combined": 2, "separate": 2, "nohooks": 1} {
		hr.Spec.PostRenderStrategy = strategy
		got, err := PostRender(hr, text)
		if err != nil {
			t.Fatal(err)
		}
		for label, n := range map[string]int{"helm.toolkit.fluxcd.io/name: web\n": hooks, "helm.toolkit.fluxcd.io/namespace: apps\n": hooks, "team: a\n": hooks} {
			if strings.Count(got, label) != n {
				t.Errorf("%s: %d times %q in\n%s", strategy, strings.Count(got, label), label, got)
			}
		}
		if same := strings.Contains(got, hook); same != (strategy == "nohooks") {
			t.Errorf("%s: the hook is as it was: %t\n%s", strategy, same, got)
		}
	}
}
