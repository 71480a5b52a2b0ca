package build

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// bomb returns an object in which aliases stand for 11 million texts, in 400 bytes.
func bomb() string {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\na0: &a0 x\n"
	for i := range 7 {
		text += fmt.Sprintf("a%d: &a%[1]d [%s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return text
}

// large returns an object in which aliases stand for 6100 entries.
func large(name string) string {
	return configMap(name) + "a: &a [" + strings.Repeat("1, ", 60) + "]\nb: [" + strings.Repeat("*a, ", 100) + "]\n"
}

// block returns a text as a YAML block.
func block(text string) string { return "|\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n" }

func TestABuildIsLimited(t *testing.T) {
	all := map[string]string{"l0/kustomization.yaml": "resources: [a.yaml]", "l0/a.yaml": strings.Repeat("---\n", 1000) + configMap("a")}
	for i := range 3 { // each reads the one below it twice
		all[fmt.Sprintf("l%d/kustomization.yaml", i+1)] = fmt.Sprintf("resources: [../a%d, ../b%[1]d]", i+1)
		all[fmt.Sprintf("a%d/kustomization.yaml", i+1)] = fmt.Sprintf("namePrefix: a\nresources: [../l%d]", i)
		all[fmt.Sprintf("b%d/kustomization.yaml", i+1)] = fmt.Sprintf("namePrefix: b\nresources: [../l%d]", i)
	}
	const worth, read = "YAML aliases stand for more than 10000 entries", "more than 5000 YAML documents"
	conf := "{x: '1', a: &a [" + strings.Repeat("1, ", 100) + "], b: [" + strings.Repeat("*a, ", 100) + "]}"
	for _, c := range []struct{ why, file, fails string }{
		{"a bomb", "resources: [bomb.yaml]", worth},
		{"twice a part of it", "resources: [a.yaml]\npatches: [{path: large.yaml}, {path: large.yaml}]", worth},
		{"in a patch", "resources: [a.yaml]\npatches:\n- patch: " + block(bomb()), worth},
		{"in a strategic merge patch", "resources: [a.yaml]\npatchesStrategicMerge:\n- " + block(bomb()), worth},
		{"in a patch of a text", "resources: [a.yaml]\ntransformers:\n- " + block(plugin("PatchTransformer", "patch: "+block(bomb()))), worth},
		{"in a base", "resources: [../base]", worth},
		{"an alias within what it stands for", "resources: [circle.yaml]", worth},
		{"a base of 1000 documents, read 8 times", "resources: [../l3]", read},
		{"a file of 5001 documents", "resources: [many.yaml]", read},
		{"few aliases", "resources: [few.yaml]", ""},
		{"many aliases in texts that are not parsed", "resources: [values.yaml]\npatches: [{path: values.yaml}, {patch: " + strconv.Quote(configMap("a")+"more: "+strconv.Quote(large("a"))) + "}]", ""},
		{"in a file of transformers", "resources: [a.yaml]\ntransformers: [list.yaml]", worth},
		{"a bomb that is no YAML", "configMapGenerator: [{name: a, files: [script]}]", ""},
		{"in a text that begins as JSON", "resources: [conf.yaml]\nreplacements: [{source: {kind: ConfigMap, name: bomb, fieldPath: data.v}, targets: [{select: {name: bomb}, fieldPaths: [data.conf.x]}]}]", worth},
		{"in such a file, before what is no YAML", "configMapGenerator: [{name: a, files: [conf.json]}]", worth},
		{"in such a literal", "configMapGenerator: [{name: a, literals: [" + strconv.Quote("conf='"+conf+"'") + "]}]", worth},
		{"in such a line", "configMapGenerator: [{name: a, envs: [conf.env]}]", worth},
	} {
		all["prod/kustomization.yaml"], all["prod/a.yaml"], all["prod/bomb.yaml"] = c.file, configMap("a"), bomb()
		all["prod/conf.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata: {v: two, conf: " + strconv.Quote("\n"+conf) + "}\n"
		all["prod/conf.json"], all["prod/conf.env"] = conf+"\n---\n{", "A=b\n conf="+conf+"\n"
		all["prod/script"] = "echo *a && {\n" + bomb()
		all["prod/circle.yaml"] = configMap("a") + "a: &a [*a]\n"
		all["prod/few.yaml"] = configMap("a") + "a: &a [1, 2]\nb: *a\n"
		all["base/kustomization.yaml"] = "patches:\n- patch: " + block(bomb())
		all["prod/values.yaml"] = configMap("a") + "more: " + strconv.Quote(large("a")) + "\nless: " + strconv.Quote(large("b")) + "\n"
		all["prod/list.yaml"] = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: builtin, kind: PatchTransformer, metadata: {name: it}, patch: " + strings.ReplaceAll(strconv.Quote(bomb()), "&", `\x26`) + "}\n"
		all["prod/large.yaml"] = large("a")
		all["prod/many.yaml"] = strings.Repeat("---\n", 5001)
		_, _, err := Objects(tree(all), kustomize("prod"))
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %v, want %q", c.why, err, c.fails)
		}
	}
}

func TestPostRenderersAreLimited(t *testing.T) {
	patch := flux.PostRenderer{Kustomize: &flux.KustomizeRenderer{Patches: []flux.Patch{{Patch: bomb()}}}}
	for why, c := range map[string]struct {
		text      string
		renderers []flux.PostRenderer
	}{"rendered": {large("a") + "---\n# Source: b\n" + large("b"), nil}, "patch": {configMap("a"), []flux.PostRenderer{patch}}} {
		hr := &flux.HelmRelease{Spec: flux.HelmReleaseSpec{PostRenderers: c.renderers}}
		if _, err := PostRender(hr, "---\n# Source: a\n"+c.text); err == nil || !strings.Contains(err.Error(), "YAML aliases stand for more than 10000 entries") {
			t.Errorf("%s: %v", why, err)
		}
	}
}
