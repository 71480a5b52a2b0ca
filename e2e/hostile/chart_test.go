//go:build cluster

package hostile

import (
	"fmt"
	"strings"
)

// hostileYAML returns charts whose YAML is deeply nested, explodes, or is not YAML.
func hostileYAML() map[string]hostile {
	deep := "a: " + strings.Repeat("[", 100_000)
	tables := "a: " + strings.Repeat("{a: ", 5000) + "1" + strings.Repeat("}", 5000)
	v1 := strings.Replace(plainChart, "v2", "v1", 1)
	in := func(name, text, says string) hostile {
		return hostile{Chart: map[string]string{name: text}, Names: name, Says: says}
	}
	return map[string]hostile{
		"values that nest without end":            in("values.yaml", deep, ""),
		"values that nest too deeply":             in("values.yaml", tables, ""),
		"values with an alias bomb":               in("values.yaml", aliasBomb(), ""),
		"values with long text many times":        in("values.yaml", "a: &a \""+strings.Repeat("x", 1_000_000)+"\"\nb: ["+strings.Repeat("*a,", 100_000)+"]\n", ""),
		"values that are malformed":               in("values.yaml", "a: [\n", "line"),
		"values that are a list":                  in("values.yaml", "- a\n", ""),
		"values that are binary":                  in("values.yaml", "\x00\x01\x02", ""),
		"values with too many entries":            in("values.yaml", strings.Repeat("a: 1\n", 500_000), "entries"),
		"values that are too large":               in("values.yaml", "a: \""+strings.Repeat("x", 5<<20)+"\"", "limit"),
		"values with too many documents":          in("values.yaml", strings.Repeat("---\n", 100_000), "documents"),
		"values with tables for keys":             in("values.yaml", "? {a: 1}\n: b\n", ""),
		"a Chart.yaml that nests without end":     in("Chart.yaml", deep, ""),
		"a Chart.yaml with an alias bomb":         in("Chart.yaml", plainChart+aliasBomb(), ""),
		"a Chart.yaml that is malformed":          in("Chart.yaml", "name: [\n", "line"),
		"a Chart.yaml that is empty":              in("Chart.yaml", "", ""),
		"a Chart.yaml that is null":               in("Chart.yaml", "null\n", ""),
		"a Chart.yaml of a separator":             in("Chart.yaml", "---\n", ""),
		"a Chart.yaml that is a list":             in("Chart.yaml", "[]", ""),
		"a Chart.yaml that is text":               in("Chart.yaml", "web", ""),
		"a requirements.yaml with an alias bomb":  {Chart: map[string]string{"Chart.yaml": v1, "requirements.yaml": aliasBomb()}, Names: "requirements.yaml"},
		"a requirements.yaml without end":         {Chart: map[string]string{"Chart.yaml": v1, "requirements.yaml": deep}, Names: "requirements.yaml"},
		"a lock that nests without end":           in("Chart.lock", deep, ""),
		"a lock that is malformed":                in("Chart.lock", "a: [\n", "line"),
		"a .helmignore with an unknown pattern":   in(".helmignore", "a/**\n", "line 1"),
		"a .helmignore with a broken pattern":     in(".helmignore", "[a\n", "line 1"),
		"a dependency that is null":               in("Chart.yaml", plainChart+"dependencies: [null]\n", ""),
		"a dependency that is text":               in("Chart.yaml", plainChart+"dependencies: [a]\n", ""),
		"dependencies that are a table":           in("Chart.yaml", plainChart+"dependencies: {a: 1}\n", ""),
		"a dependency that is missing":            {Chart: map[string]string{"Chart.yaml": plainChart + "dependencies: [{name: gone, version: \"1\"}]\n"}, Says: "gone"},
		"a dependency with a path for an alias":   in("Chart.yaml", plainChart+"dependencies: [{name: a, version: \"1\", alias: \"../x\"}]\n", ""),
		"a dependency twice":                      in("Chart.yaml", plainChart+"dependencies: [{name: a, version: \"1\"}, {name: a, version: \"1\"}]\n", ""),
		"a maintainer that is null":               in("Chart.yaml", plainChart+"maintainers: [null]\n", ""),
		"subcharts that nest without end":         {Chart: nested(40), Says: "nest deeper"},
		"subcharts with large values together":    {Chart: wide(25, "a: \""+strings.Repeat("x", 3_900_000)+"\"\n"), Names: "values.yaml", Says: "the YAML of the chart and its subcharts is larger"},
		"many subcharts with many global values":  {Chart: wide(1000, "a: {b: {c: 1}}\n"), Names: "chart web", Says: "global values in all"},
		"many versions of one subchart":           {Chart: versions(1100, 200), Names: "chart web", Says: "compared with its dependencies"},
		"import-values that copy without end":     {Chart: importing(), Names: "web"},
		"many subcharts that are switched":        {Chart: switching("", 400), Says: "stop"},
		"the same with large globals":             {Chart: switching("global: ", 400), Names: "chart web", Says: "are looked up in more than"},
		"a subchart whose values are a bomb":      {Chart: map[string]string{"charts/a/Chart.yaml": rename("a"), "charts/a/values.yaml": aliasBomb()}, Names: "values.yaml", Says: "charts/a"},
		"a CRD file with a bomb, which is a file": {Chart: map[string]string{"crds/x.yaml": aliasBomb(), "templates/x.yaml": "{{ fail `stop` }}"}, Says: "stop"},
	}
}

// nested returns subcharts within subcharts.
func nested(depth int) map[string]string {
	files := map[string]string{}
	for i := range depth {
		files[strings.Repeat("charts/a/", i+1)+"Chart.yaml"] = rename("a")
	}
	return files
}

// wide returns that many subcharts, each with the same values, and a template that
// ends the run once they have all been merged.
func wide(n int, values string) map[string]string {
	files := map[string]string{"templates/x.yaml": "{{ fail `stop` }}", "values.yaml": "global: {" + strings.Repeat("a: 1, ", 1) + "b: 2}\n"}
	var global strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&global, "a%d: 1,", i)
	}
	if n > 100 {
		files["values.yaml"] = "global: {" + global.String() + "}\n"
	}
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		files["charts/"+name+"/Chart.yaml"] = rename(name)
		files["charts/"+name+"/values.yaml"] = values
	}
	return files
}

// versions returns a chart with dependencies in versions that none of its subcharts of that name has.
func versions(dependencies, subcharts int) map[string]string {
	declared := plainChart + "dependencies:\n"
	for i := range dependencies {
		declared += fmt.Sprintf("- {name: a, version: 7.%d.1, alias: b%d}\n", i, i)
	}
	files := map[string]string{"Chart.yaml": declared}
	for i := range subcharts {
		files[fmt.Sprintf("charts/a%d/Chart.yaml", i)] = strings.Replace(rename("a"), "1.0.0", fmt.Sprintf("0.0.%d", i), 1)
	}
	return files
}

// importing returns a chart that imports everything from its subchart, over and over.
func importing() map[string]string {
	var imports, values strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&imports, "  - {child: x, parent: %s}\n", fmt.Sprintf("p%d", i)+strings.Repeat(".p", 300))
		fmt.Fprintf(&values, "  k%d: {a: 1}\n", i)
	}
	return map[string]string{
		"Chart.yaml":           plainChart + "dependencies:\n- name: a\n  version: \"*\"\n  import-values:\n" + imports.String(),
		"charts/a/Chart.yaml":  rename("a"),
		"charts/a/values.yaml": "x:\n" + values.String(),
	}
}

// switching returns a chart with many values, below what head begins, and that many subcharts, each with a
// subchart of its own that a condition switches.
func switching(head string, n int) map[string]string {
	files := map[string]string{
		"values.yaml":      head + "{a: [" + strings.Repeat("1,", 60_000) + "]}\n",
		"templates/x.yaml": "{{ fail `stop` }}",
	}
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		files["charts/"+name+"/Chart.yaml"] = rename(name) + "dependencies: [{name: x, version: \"*\", condition: x.on}]\n"
		files["charts/"+name+"/charts/x/Chart.yaml"] = rename("x")
	}
	files["Chart.yaml"] = plainChart + "dependencies: []\n"
	return files
}

// tagged returns a Chart.yaml with a dependency that has many tags and conditions.
func tagged(n int) string {
	var tags, conditions strings.Builder
	for i := range n {
		fmt.Fprintf(&tags, "t%d,", i)
		fmt.Fprintf(&conditions, "c%d.on,", i)
	}
	return plainChart + "dependencies:\n- name: a\n  version: \"*\"\n  tags: [" + tags.String() + "]\n  condition: " + conditions.String() + "a.on\n"
}

// hostileMetadata returns charts whose names and texts control a terminal, or lead
// outside the chart.
func hostileMetadata() map[string]hostile {
	chart := func(old, with string) hostile {
		return hostile{Chart: map[string]string{"Chart.yaml": strings.Replace(plainChart, old, with, 1)}, Names: "Chart.yaml"}
	}
	text := func(field, expression string) hostile {
		return hostile{Chart: map[string]string{"Chart.yaml": plainChart + field, "templates/x.yaml": expression}, Names: "web/templates/x.yaml"}
	}
	return map[string]hostile{
		"a name that is a path":               chart("name: web", "name: ../web"),
		"a name of two parts":                 chart("name: web", "name: a/b"),
		"a version with escapes":              chart("1.0.0", `"1.0.0\e[31m"`),
		"an apiVersion with escapes":          chart("v2", `"v9\e[31m"`),
		"a type with escapes":                 chart("version", `type: "\e]0;x\a"`+"\nversion"),
		"a kubeVersion with escapes":          {Chart: map[string]string{"Chart.yaml": plainChart + `kubeVersion: "\e[31m"` + "\n"}, Says: "kubeVersion"},
		"a home page with escapes":            text(`home: "\e]8;;http://x\a"`+"\n", "{{ fail .Chart.Home }}"),
		"a description with escapes":          text(`description: "\u009b31m"`+"\n", "{{ fail .Chart.Description }}"),
		"a message with escapes":              text("", `{{ fail "\x1b[31mred" }}`),
		"a required value with escapes":       text("", `{{ required "\x1b[2J" nil }}`),
		"an unknown field with escapes":       text("", `{{ index (dict) "\x1b[31m" | fail }}`),
		"a dependency with escapes":           {Chart: map[string]string{"Chart.yaml": plainChart + `dependencies: [{name: "\e[31m", version: "1"}]` + "\n"}, Says: "dependenc"},
		"values that warn with escapes":       {Chart: map[string]string{"values.yaml": `"\e[31m": 1` + "\n" + `"\e[31m": 2` + "\n", "templates/x.yaml": "{{ fail `stop` }}"}, Says: "stop"},
		"an object's kind with escapes":       {Chart: template("kind: \"\\e[31m\"\n- a\n"), Names: "templates/x.yaml"},
		"many tags and conditions":            {Chart: map[string]string{"Chart.yaml": tagged(20_000), "charts/a/Chart.yaml": rename("a"), "templates/x.yaml": "{{ fail `stop` }}"}, Says: "stop"},
		"a template's file name with escapes": {Chart: map[string]string{"templates/\x1b[31m.yaml": "{{ fail `stop` }}"}, Names: ".yaml"},
	}
}

// hostileSchemas returns values schemas that lead outside the chart or never end.
func hostileSchemas() map[string]hostile {
	in := func(schema, says string) hostile {
		return hostile{Chart: map[string]string{"values.schema.json": schema}, Names: "values.schema.json", Says: says}
	}
	ref := func(to string) hostile { return in(fmt.Sprintf(`{"properties": {"a": {"$ref": %q}}}`, to), to) }
	doubling := `{"$ref": "#/$defs/a40", "$defs": {"a0": {"type": "object"}`
	for i := range 40 {
		doubling += fmt.Sprintf(`, "a%d": {"allOf": [{"$ref": "#/$defs/a%d"}, {"$ref": "#/$defs/a%d"}]}`, i+1, i, i)
	}
	doubling += "}}"
	branches := `{"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [{"required": ["z"], "properties": {"a": {"$ref": "#/$defs/n"}}}, {"required": ["z"], "properties": {"a": {"$ref": "#/$defs/n"}}}]}}}`
	with := func(schema, values, says string) hostile {
		h := in(schema, says)
		h.Chart["values.yaml"] = values
		return h
	}
	return map[string]hostile{
		"http":                             ref("http://127.0.0.1:1/x.json"),
		"https":                            ref("https://127.0.0.1:1/x.json"),
		"a file":                           ref("file:///etc/passwd"),
		"a file without end":               ref("file:///dev/zero"),
		"a path without end":               in(`{"properties": {"a": {"$ref": "/dev/zero"}}}`, "dev/zero"),
		"a relative path":                  in(`{"properties": {"a": {"$ref": "../../x.json"}}}`, "x.json"),
		"a base that is a file":            in(`{"$id": "file:///dev/zero", "$ref": "x"}`, ""),
		"a schema's schema over http":      in(`{"$schema": "http://127.0.0.1:1/x"}`, "127.0.0.1"),
		"a schema's schema in a file":      in(`{"$schema": "file:///dev/zero"}`, "dev/zero"),
		"a schema that is itself":          in(`{"$ref": "#"}`, ""),
		"a schema that is malformed":       in(`{`, ""),
		"a schema with a type of 1":        in(`{"type": 1}`, ""),
		"a schema that nests without end":  in(strings.Repeat(`{"a":`, 100_000), ""),
		"a schema that doubles":            in(doubling, "takes too long"),
		"alternatives that double":         with(branches, strings.Repeat("{a: ", 40)+"{}"+strings.Repeat("}", 40), "takes too long"),
		"a very long enumeration":          in(`{"properties": {"a": {"enum": [`+strings.Repeat("1,", 20_000)+`1]}}}`, "lists are too long"),
		"long enumerations of many values": with(`{"properties": {"a": {"items": {"enum": [`+numbers(1000)+`]}}}}`, "a: ["+strings.Repeat("-2,", 100_000)+"-2]\n", "enumerates too much"),
	}
}

// numbers returns the first n numbers, separated by commas.
func numbers(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint(i)
	}
	return strings.Join(words, ", ")
}

// hostileFlags returns values flags that ask for too much.
func hostileFlags() map[string]hostile {
	flag := func(names, says string, args ...string) hostile {
		return hostile{Chart: template("a: 1\n"), Args: args, Names: names, Says: says}
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "a%d[65535]=1,", i)
	}
	return map[string]hostile{
		"a huge index":                   flag("--set", "99999999999", "--set", "a[99999999999]=1"),
		"an index over the limit":        flag("--set", "65536", "--set", "a[65537]=1"),
		"many high indices":              flag("--set", "entries in all", "--set", many.String()+"b=1"),
		"a negative index":               flag("--set", "negative", "--set", "a[-1]=1"),
		"a huge index of text":           flag("--set-string", "99999999999", "--set-string", "a[99999999999]=1"),
		"a huge index of literal text":   flag("--set-literal", "99999999999", "--set-literal", "a[99999999999]=1"),
		"a key that nests":               flag("--set", "nests deeper", "--set", strings.Repeat("a.", 50_000)+"a=1"),
		"JSON that nests":                flag("--set-json", "", "--set-json", "a="+strings.Repeat("[", 60_000)),
		"a JSON document that nests":     flag("--set-json", "", "--set-json", strings.Repeat(`{"a":`, 20_000)),
		"a list without end":             flag("--set", "must end with }", "--set", "a={"+strings.Repeat(",", 100_000)),
		"a file without end":             flag("/dev/zero", "larger than 32 MiB", "--set-file", "a=/dev/zero"),
		"values without end":             flag("/dev/zero", "larger than 32 MiB", "-f", "/dev/zero"),
		"terminal escapes in a key":      flag("--set", "[31m", "--set", "a\x1b[31m[-1]=1"),
		"terminal escapes in a file":     flag("values file", `\x1b[31m`, "-f", "\x1b[31m"),
		"a table where there is a value": flag("--set", "not a table", "--set", "a=1,a.b=2"),
	}
}
