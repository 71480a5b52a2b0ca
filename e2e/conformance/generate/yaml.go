package generate

import (
	"fmt"
	"strings"
)

// yaml makes a chart with documents as files, read by fromYaml and similar functions; a
// values file; scalars and keys, parsed and written by a template; and
// now and then a template that is such a document itself.
func (m *maker) yaml() {
	m.files["chart/Chart.yaml"] = "apiVersion: v2\nname: root\nversion: 0.1.0\n"
	m.files["chart/templates/_lib.tpl"] = "{{ define \"shared\" }}{{ end }}"
	m.files["chart/templates/dump.yaml"] = dump
	m.files["chart/templates/scalars.yaml"] = m.scalars()
	m.files["chart/templates/documents.yaml"] = documents
	for i := range 8 {
		m.files[fmt.Sprintf("chart/documents/%d.yaml", i)] = m.document()
	}
	m.files["chart/values.yaml"] = m.values(0)
	switch m.IntN(4) {
	case 0:
		m.files["chart/values.yaml"] = m.document()
	case 1:
		m.valuesFile(m.document())
	case 2:
		m.files["chart/templates/object.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: object}\ndata:\n  " + strings.ReplaceAll(m.document(), "\n", "\n  ") + "\n"
	}
}

// documents is a template that reads every file in documents/ in all ways that there are.
const documents = `apiVersion: v1
kind: ConfigMap
metadata:
  name: documents
data:
{{- range $path, $_ := .Files.Glob "documents/*" }}
{{- $text := $.Files.Get $path }}
  {{ $path }}.table: {{ fromYaml $text | toJson | quote }}
  {{ $path }}.list: {{ fromYamlArray $text | toJson | quote }}
  {{ $path }}.yaml: {{ fromYaml $text | toYaml | quote }}
  {{ $path }}.pretty: {{ fromYaml $text | toYamlPretty | quote }}
  {{ $path }}.json: {{ fromJson $text | toYaml | quote }}
  {{ $path }}.toml: {{ fromToml $text | toYaml | quote }}
  {{ $path }}.text: {{ toYaml $text | quote }}
{{- end }}
`

// document returns a YAML document, usually one that can be parsed: block style, with
// anchors, merges, comments, odd keys and odd line ends.
func (m *maker) document() string {
	if m.chance(30) {
		return m.soup()
	}
	text := "base: &x {a: 1, b: null}\nlist: &l [1, two]\n" + m.block(0)
	switch m.IntN(12) {
	case 0:
		return strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		return "\ufeff" + text
	case 2:
		return "---\n" + text + m.one("...\n", "---\n", "--- # end\n", "---\nsecond: 1\n", "# end")
	case 3:
		return strings.TrimSuffix(text, "\n")
	}
	return text
}

// block returns a table in block style.
func (m *maker) block(depth int) string {
	indent := strings.Repeat("  ", depth)
	var b strings.Builder
	for range 1 + m.IntN(4) {
		key := m.one("a", "b", "c", `"d"`, "'e e'", "f.g/h", "1", "0", "01", "1.5", "1e3", "-0", "0x1F", "y", "no", "true", "~", "null", `""`, "2001-01-01", "12:30", "é", "=", "[1, 2]", "? x\n"+indent, "!!str 1", "&k key", "a b", "a#b", "-a")
		b.WriteString(indent + key + ":")
		switch m.IntN(10) {
		case 0, 1:
			if depth < 3 {
				b.WriteString(m.one("", " !!map", " # note", " &y") + "\n" + m.block(depth+1))
				continue
			}
			b.WriteString("\n")
		case 2:
			b.WriteString(m.one(" *x", " *l", "\n"+indent+"  <<: *x", "\n"+indent+"  <<: [*x, {b: 2}]\n"+indent+"  b: 3") + "\n")
		case 3:
			for range 1 + m.IntN(3) {
				b.WriteString("\n" + indent + m.one("- ", "- ", "-   ", "- - ") + m.scalar())
			}
			b.WriteString("\n")
		case 4:
			style := m.one("|", "|-", "|+", ">", ">-", ">+", "|2", ">2-")
			for i := range 1 + m.IntN(3) {
				if i == 0 {
					b.WriteString(" " + style)
				}
				b.WriteString("\n" + m.one("", indent+"  ", indent+"  ", indent+"   ") + m.one("", "text", "a: b", "# no comment", "- x", "\ttab", "trailing "))
			}
			b.WriteString("\n" + m.one("", "\n", "\n\n"))
		case 5:
			b.WriteString(" " + m.one("!!str 1", "!!int 1", "!!float 1", "!!binary aGk=", "!!str yes", "!!null x", "!x 1", "!!timestamp 2001-01-01", "! 1", "!!bool yes", "!!int 0o7") + "\n")
		case 6:
			b.WriteString(" " + m.table(1) + m.one("", " # note") + "\n")
		default:
			b.WriteString(" " + m.scalar() + m.one("", "", " # note", "  ") + "\n")
		}
	}
	return b.String()
}

// soup strings together what YAML parsers are known to disagree about.
func (m *maker) soup() string {
	var b strings.Builder
	for range 1 + m.IntN(10) {
		if m.chance(50) {
			b.WriteString(m.one("\n", "\n", "\n  ", "\n- ", "") + m.one("a", "b", "c", "x", `"k"`, "12", "1.5", "y", "no", "true", "null", "~", "0o7", "<<") + ": ")
		}
		b.WriteString(m.one("a", "b", "y", "n", "no", "yes", "on", "Off", "true", "~", "null", ": ", ": ", ": ", "\n", "\n", "\n", "\n  ", "\n    ", "- ", "- - ", "[", "]", "{", "}", ", ", "&x ", "&x {a: 1}\n", "*x", "<<: *x", "<<: [*x, *x]",
			"012", "0o17", "0x1F", "0b11", "0o8", "1_000", "9007199254740993", "18446744073709551615", "99999999999999999999999", "1e3", "1.5", ".inf", "-.inf", ".nan", "2001-01-01", "2001-12-14t21:59:43.10-05:00",
			"!!str ", "!!binary ", "!!int ", "!!float ", "!!timestamp ", "!!null ", "!!map ", "!x ", "aGk=", "/w==", `"\xff"`, `"\x41\u00e9\N"`, "'q'", "'it''s'", "|\n  x\n", "|+\n  x\n\n", ">-\n  z\n  y\n", "|2\n   x\n", "#c", " #c\n",
			"---\n", "--- #x\n", "...\n", "\r\n", "\t", "1:30", "190:20:30", "? ", "? a\n: b\n", "é", "\ufeff", "=", "!!set ", "-0.0", "-0", "+1", "08", "1e400", "%TAG", "\x01", "\x85", "\u2028", "{a: b, c}", "[a, , b]", "\"a\n  b\"", "@x", "`", "a: b: c"))
	}
	return b.String()
}

// scalars returns a template that parses and writes odd scalars and keys.
func (m *maker) scalars() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: scalars\ndata:\n")
	for i := range 6 {
		text := fmt.Sprintf("k: %s\n%s: [%s, {x: %s}]\n", m.scalar(), m.scalar(), m.scalar(), m.scalar())
		fmt.Fprintf(&b, "  y%d: {{ $y := fromYaml %s }}{{ toJson $y | quote }}\n", i, quote(text))
		fmt.Fprintf(&b, "  z%d: {{ toYaml $y | quote }}\n", i)
		fmt.Fprintf(&b, "  p%d: {{ toYamlPretty $y | quote }}\n", i)
		fmt.Fprintf(&b, "  t%d: {{ toToml $y | quote }}\n", i)
		fmt.Fprintf(&b, "  v%d: {{ printf \"%%v %%T\" $y.k $y.k | quote }}\n", i)
		fmt.Fprintf(&b, "  l%d: {{ fromYamlArray %s | toJson | quote }}\n", i, quote("["+m.scalar()+", "+m.scalar()+"]"))
		fmt.Fprintf(&b, "  j%d: {{ fromJson %s | toYaml | quote }}\n", i, quote(`{"a": `+m.one("1", "1.0", "1e3", `"x"`, "null", "[1, 2.5]", "12345678901234567890", `{"b": "yes"}`)+`}`))
	}
	return b.String()
}

// quote returns a text as a string literal of the template language.
func quote(text string) string { return fmt.Sprintf("%q", text) }
