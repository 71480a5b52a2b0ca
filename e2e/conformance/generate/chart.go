// Package generate makes small charts and command lines at random, to compare
// two tools on what real charts do not happen to contain: values trees with
// nulls, aliases, conditions, tags, globals and import-values; odd YAML scalars,
// keys and documents; --set and similar flags.
//
// The same kind and seed give the same chart. It does not run anything.
package generate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Made is a chart in the folder chart, the files that its flags name in the
// folder flags, and the flags to render it with.
type Made struct {
	Files map[string]string
	// args contain $DIR for the folder that Files are written to.
	args []string
}

// Kinds returns the kinds of charts that Make can make:
//
//	set   a simple chart, and --set and similar flags, both by their grammar and against it
//	tree  a tree of charts, values files and a few flags
//	yaml  scalars, keys and documents, through every function that reads or writes YAML
func Kinds() []string { return []string{"set", "tree", "yaml"} }

// maker makes random choices from one seed.
type maker struct {
	*rand.Rand
	files map[string]string
	args  []string
}

// Make makes the chart for a kind and a seed. It returns an error if there is no such kind.
func Make(kind string, seed uint64) (Made, error) {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, uint64(slices.Index(Kinds(), kind)))), files: map[string]string{}}
	m.flagFiles()
	switch kind {
	case "set":
		m.set()
	case "tree":
		m.tree()
	case "yaml":
		m.yaml()
	default:
		return Made{}, fmt.Errorf("make a chart of kind %q: the kinds are %s", kind, strings.Join(Kinds(), ", "))
	}
	return Made{Files: m.files, args: m.args}, nil
}

// Write writes the files to a folder and returns the chart's path in it and
// the flags to render it with.
func (c Made) Write(dir string) (chart string, args []string, err error) {
	for name, text := range c.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", nil, err
		}
	}
	for _, a := range c.args {
		args = append(args, strings.ReplaceAll(a, "$DIR", dir))
	}
	return filepath.Join(dir, "chart"), args, nil
}

func (m *maker) one(of ...string) string { return of[m.IntN(len(of))] }
func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

// tree makes a chart with subcharts, up to two values files and some flags.
func (m *maker) tree() {
	m.chart("chart/", "root", 0)
	for range m.IntN(3) {
		m.valuesFile(m.values(0))
	}
	for range m.IntN(3) {
		flag := m.one("--set", "--set", "--set-string", "--set-json", "--set-literal")
		m.flag(flag, m.treeKey()+"="+m.treeValue(flag))
	}
}

// treeKey returns a path that means something to the charts of a tree.
func (m *maker) treeKey() string {
	parts := make([]string, 1+m.IntN(3))
	for i := range parts {
		parts[i] = m.one("a", "b", "c", "alpha", "beta", "gamma", "global", "tags", "t1", "t2", "on", "enabled", "exports", "a[0]", "b[1]")
	}
	return strings.Join(parts, ".")
}

func (m *maker) treeValue(flag string) string {
	if flag == "--set-json" {
		return m.one("1", "null", "[1,null]", `{"a":{"b":null}}`, `{"global":{"on":null}}`, "{}", "true", "false")
	}
	return m.one("1", "true", "false", "null", "null", "x", "{a,b}", "{}", "")
}

// chart makes one chart in a folder, and its subcharts.
func (m *maker) chart(folder, name string, depth int) {
	var deps []string
	for _, sub := range []string{"alpha", "beta"} {
		if depth < 2 && m.chance(60-20*depth) {
			deps = append(deps, m.dependency(sub))
			if m.chance(15) {
				deps = append(deps, m.dependency(sub)) // once more, perhaps under another alias
			}
			m.chart(folder+"charts/"+sub+"/", sub, depth+1)
		}
	}
	if m.chance(5) {
		deps = nil // in charts/, but not declared
	}
	version := 2 - m.IntN(8)/7
	meta := fmt.Sprintf("apiVersion: v%d\nname: %s\nversion: 0.1.%d\n", version, name, m.IntN(3))
	if depth > 0 && m.chance(10) {
		meta += "type: library\n"
	}
	list := "dependencies:\n" + strings.Join(deps, "")
	switch {
	case len(deps) == 0:
	case version == 1:
		m.files[folder+"requirements.yaml"] = list
	default:
		meta += list
	}
	m.files[folder+"Chart.yaml"] = meta
	if m.chance(95) {
		m.files[folder+"values.yaml"] = m.values(0)
	}
	m.files[folder+"templates/dump.yaml"] = dump
	m.files[folder+"templates/_lib.tpl"] = fmt.Sprintf("{{- define \"shared\" }}%s{{ end -}}\n{{- define \"own.%s\" }}{{ .Values.b }}{{ end -}}\n", name, name)
}

// dump is a template that shows everything that a chart sees.
const dump = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Chart.Name | quote }}
  annotations: {{ toJson (dict "shared" (include "shared" .) "template" .Template.Name "root" (.Chart.IsRoot | toString)) }}
data:
  values: |
{{ toYaml .Values | indent 4 }}
  values.json: {{ toJson .Values | quote }}
  pretty: |
{{ toYamlPretty .Values | indent 4 }}
  back: {{ fromYaml (toYaml .Values) | toJson | quote }}
  again: {{ fromJson (toJson .Values) | toYaml | quote }}
  subcharts: {{ keys .Subcharts | sortAlpha | join "," | quote }}
  dependencies: {{ toJson .Chart.Dependencies | quote }}
{{- range $k, $v := .Values }}
  {{ printf "k-%s" $k | quote }}: {{ printf "%v %T" $v $v | quote }}
{{- end }}
`

func (m *maker) dependency(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- name: %s\n  version: %q\n  repository: \"\"\n", name, m.one("0.1.x", ">=0.0.0", "*", "", "^0.1", "~0.1.1", ">=0.1.0 <0.1.2", "0.1.0 || 0.1.2"))
	if m.chance(40) {
		fmt.Fprintf(&b, "  condition: %q\n", m.one("a", "b.enabled", name+".enabled", name+".enabled", "global.on,"+name+".enabled", "no.such,b.c", " a.b", ",", "a.,enabled", "global", name, "tags.t1", "gamma.enabled"))
	}
	if m.chance(35) {
		fmt.Fprintf(&b, "  tags: [%s]\n", m.one("t1", "t1, t2", "t2", "t3", "t1, t1", `""`))
	}
	if m.chance(25) {
		fmt.Fprintf(&b, "  alias: %s\n", m.one("gamma", "delta", name, "alpha", "beta"))
	}
	if m.chance(40) {
		items := make([]string, 1+m.IntN(2))
		for i := range items {
			items[i] = m.one("data", "a", "nope", "{child: a, parent: b}", "{child: b.c, parent: imported}", "{child: exports.data, parent: .}", "{child: ., parent: all}", "{child: exports, parent: a.b}",
				"{child: global, parent: global}", "{child: alpha, parent: alpha}", "{child: alpha.a, parent: beta}", "{child: a, parent: global.a}", "{child: no, parent: c}", "{child: a}", "{child: a, parent: "+name+"}", "1", "null")
		}
		fmt.Fprintf(&b, "  import-values: [%s]\n", strings.Join(items, ", "))
	}
	return b.String()
}
