// Package generate makes small charts and command lines at random, for
// comparing two tools on what no chart of the world happens to contain: values
// trees with nulls, aliases, conditions, tags, globals and import-values; odd
// YAML scalars and keys through toYaml and fromYaml; --set and its kin.
//
// The same seed gives the same chart. It does not run anything.
package generate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Made is a chart as files, and the flags to render it with.
type Made struct {
	Files map[string]string
	Args  []string
}

// maker draws from one seed.
type maker struct {
	*rand.Rand
	files map[string]string
}

// Chart makes the chart of a seed.
func Chart(seed uint64) Made {
	m := &maker{rand.New(rand.NewPCG(seed, 0)), map[string]string{}}
	m.chart("", "root", 0)
	return Made{Files: m.files, Args: m.args()}
}

// Write puts the files of a chart into a folder.
func (c Made) Write(dir string) error {
	for name, text := range c.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) one(of ...string) string { return of[m.IntN(len(of))] }
func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

// chart makes one chart below a folder and its subcharts.
func (m *maker) chart(folder, name string, depth int) {
	var deps []string
	if depth < 2 {
		for _, sub := range []string{"alpha", "beta"} {
			if m.chance(60 - 20*depth) {
				deps = append(deps, m.dependency(sub))
				m.chart(folder+"charts/"+sub+"/", sub, depth+1)
			}
		}
	}
	meta := fmt.Sprintf("apiVersion: v2\nname: %s\nversion: 0.1.%d\n", name, m.IntN(3))
	if depth > 0 && m.chance(10) {
		meta += "type: library\n"
	}
	if len(deps) > 0 {
		meta += "dependencies:\n" + strings.Join(deps, "")
	}
	m.files[folder+"Chart.yaml"] = meta
	m.files[folder+"values.yaml"] = m.values(0)
	m.files[folder+"templates/dump.yaml"] = dump
	if m.chance(70) {
		m.files[folder+"templates/scalars.yaml"] = m.scalars()
	}
	m.files[folder+"templates/_lib.tpl"] = fmt.Sprintf("{{- define \"shared\" }}%s{{ end -}}\n{{- define \"own.%s\" }}{{ .Values.b }}{{ end -}}\n", name, name)
}

// dump shows what a chart sees, whatever it is.
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
	fmt.Fprintf(&b, "- name: %s\n  version: %q\n  repository: \"\"\n", name, m.one("0.1.x", ">=0.0.0", "*"))
	if m.chance(35) {
		fmt.Fprintf(&b, "  condition: %s\n", m.one("a", "b.enabled", name+".enabled", "global.on,"+name+".enabled", "no.such,b.c"))
	}
	if m.chance(35) {
		fmt.Fprintf(&b, "  tags: [%s]\n", m.one("t1", "t1, t2", "t2"))
	}
	if m.chance(25) {
		fmt.Fprintf(&b, "  alias: %s\n", m.one("gamma", "delta", name))
	}
	if m.chance(35) {
		fmt.Fprintf(&b, "  import-values: %s\n", m.one("[data]", "[{child: a, parent: b}]", "[{child: b.c, parent: imported}]", "[data, {child: exports.data, parent: .}]", "[{child: ., parent: all}]"))
	}
	return b.String()
}
