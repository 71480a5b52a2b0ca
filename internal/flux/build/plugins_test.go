package build

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func plugin(kind, fields string) string {
	return fmt.Sprintf("apiVersion: builtin\nkind: %s\nmetadata: {name: it}\n%s\n", kind, fields)
}

// Generators, transformers and validators that are part of kustomize work, from files and as texts.
func TestPluginsOfKustomize(t *testing.T) {
	got, _, err := Objects(tree(map[string]string{
		"prod/kustomization.yaml": "resources: [a.yaml]\ngenerators: [g.yaml]\nvalidators: [v.yaml]\ntransformers:\n- t.yaml\n- |\n  " +
			strings.ReplaceAll(plugin("PatchTransformer", `patch: '[{"op": "add", "path": "/data/url", "value": "https://example.com/?a=b"}]'`+"\ntarget: {name: a}"), "\n", "\n  "),
		"prod/a.yaml": configMap("a"), "prod/value": "1",
		"prod/g.yaml": plugin("ConfigMapGenerator", "files: [key=value]\nliterals: ['url=https://example.com/']\noptions: {disableNameSuffixHash: true}"),
		"prod/t.yaml": plugin("PrefixTransformer", "prefix: p-\nfieldSpecs: [{path: metadata/name}]"),
		"prod/v.yaml": plugin("ImageTagTransformer", "imageTag: {name: none, newTag: x}"),
	}), kustomize("prod"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, o := range got {
		all = append(all, fmt.Sprint(o["metadata"].(map[string]any)["name"], o["data"]))
	}
	if text := strings.Join(all, " "); text != "p-amap[image:web url:https://example.com/?a=b] p-itmap[key:1 url:https://example.com/]" {
		t.Error(text)
	}
}

// Whatever a tree contains, no program is run (kustomize would run git) and no server is asked.
func TestNothingIsRunOrFetched(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.URL.Path) }))
	defer server.Close()
	bin := t.TempDir()
	ran := filepath.Join(bin, "ran")
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho \"$@\" >> "+ran+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	const repo = "file:///nonexistent//x?ref=--upload-pack=touch"
	const scp = "evil@host.example:org/repo"
	doc := plugin("PrefixTransformer", "prefix: a")
	for _, entries := range []string{
		"transformers: [t]", "generators: [t]", "validators: [t]", "resources: [t]", "components: [t]", "transformers: [/t]", "transformers: [/far.yaml]",
		"transformers: ['" + repo + "']", "validators: ['" + scp + "']", "generators: ['" + server.URL + "/a']", "transformers: [\"" + scp + "\\n\"]",
		"transformers: [pt.yaml]", "transformers: [list.yaml]", "generators: [gen.yaml]", "generators: [env.yaml]", "generators: [helm.yaml]", "generators: [broken.yaml]",
		"transformers: [values.yaml]", "transformers: [replacements.yaml]", "transformers: [paths.yaml]", "transformers: [json.yaml]", "transformers: [exec.yaml]",
		"generators: [\"" + strings.ReplaceAll(plugin("ConfigMapGenerator", "files: ['x="+server.URL+"/a']"), "\n", "\\n") + "\"]",
		"transformers: [\"" + strings.ReplaceAll("'"+scp+"': 1\n"+doc+"---\n"+doc, "\n", "\\n") + "\"]",
		"transformers: [\"" + strings.ReplaceAll(scp+": 1\n"+doc+"---\n"+doc, "\n", "\\n") + "\"]",
		"resources: ['" + scp + "']", "resources: [\"" + scp + "\\n\"]", "resources: ['GIT::" + scp + "']", "components: ['" + scp + "']", "components: ['web@host.example/org/repo']",
		"resources: ['file:/nonexistent/x?ref=--upload-pack=touch']", "components: [GitHub.com/org/repo]", "resources: [\"github.com:org/repo\\n\"]",
		"patches: [{path: '" + server.URL + "/a'}]", "patchesStrategicMerge: ['" + server.URL + "/a']", "patchesJson6902: [{path: '" + server.URL + "/a', target: {name: a, kind: ConfigMap, version: v1}}]",
		"replacements: [{path: '" + server.URL + "/a'}]", "openapi: {path: '" + server.URL + "/a'}", "crds: ['" + server.URL + "/a']", "configurations: ['" + server.URL + "/a']",
		"configMapGenerator: [{name: a, env: 'HTTP" + server.URL[4:] + "/a'}]", "secretGenerator: [{name: a, envs: ['" + server.URL + "/a']}]",
		"helmCharts: [{name: a, repo: '" + server.URL + "'}]", "helmChartInflationGenerator: [{chartName: a, chartRepoUrl: '" + server.URL + "'}]",
	} {
		all := map[string]string{
			"prod/kustomization.yaml": "resources: [a.yaml]\n" + entries, "prod/a.yaml": configMap("a"), "far.yaml": plugin("PatchTransformer", "path: "+server.URL+"/a"),
			"prod/t/kustomization.yaml": "resources: ['" + repo + "', p.yaml]\npatches: [{patch: '[{op: add, path: /path, value: \"" + server.URL + "/a\"}]', target: {kind: PatchTransformer}}]",
			"prod/t/p.yaml":             plugin("PatchTransformer", "path: x"),
			"prod/pt.yaml":              plugin("PatchTransformer", "PATH: "+server.URL+"/a"),
			"prod/list.yaml":            "apiVersion: v1\nkind: List\nitems: [{apiVersion: builtin, kind: PatchTransformer, metadata: {name: a}, path: '" + server.URL + "/a'}]\n",
			"prod/gen.yaml":             plugin("ConfigMapGenerator", "files: ['x="+server.URL+"/a']"),
			"prod/env.yaml":             plugin("SecretGenerator", "env: "+server.URL+"/a"),
			"prod/helm.yaml":            plugin("HelmChartInflationGenerator", "name: a\nrepo: "+server.URL),
			"prod/broken.yaml":          "{",
			"prod/values.yaml":          plugin("ValueAddTransformer", "targetFilePath: "+server.URL+"/a"),
			"prod/replacements.yaml":    plugin("ReplacementTransformer", "replacements: [{path: '"+server.URL+"/a'}]"),
			"prod/paths.yaml":           plugin("PatchStrategicMergeTransformer", "paths: ['"+server.URL+"/a']"),
			"prod/json.yaml":            plugin("PatchJson6902Transformer", "path: "+server.URL+"/a\ntarget: {name: a}"),
			"prod/exec.yaml":            "apiVersion: example.com/v1\nkind: Exec\nmetadata: {name: a, annotations: {config.kubernetes.io/function: 'exec: {path: git}'}}\n",
		}
		// A tree may have names that kustomize takes for repositories all the same.
		for _, name := range []string{scp, scp + "\n", "web@host.example/org/repo", "file:/nonexistent/x?ref=--upload-pack=touch", "GitHub.com/org/repo", "github.com:org/repo\n", "GIT::" + scp} {
			all["prod/"+name+"/kustomization.yaml"] = "resources: [b.yaml]"
			all["prod/"+name+"/b.yaml"] = configMap("b")
		}
		_, omitted, err := Objects(tree(all), kustomize("prod"))
		if err == nil && len(omitted) == 0 {
			t.Errorf("%s: built", entries)
		}
		if log, err := os.ReadFile(ran); err == nil || len(asked) > 0 {
			t.Errorf("%s: ran git with %q, asked a server for %q", entries, log, asked)
			asked = nil
			if err := os.Remove(ran); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
}
