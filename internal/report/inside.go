package report

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
	yamlnode "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/plan"
)

// maxJSON and maxYAML limit the size, in bytes, of texts whose content is compared. YAML takes some
// fifty times as long to parse.
const (
	maxJSON = 4 << 20
	maxYAML = 128 << 10
)

// inside returns the changes within a text that is a JSON or YAML document before and after:
// "data[app.json] panels[0].pluginVersion". It is nil for other texts, and if only layout differs, or comments
// or spellings do, too.
func inside(c plan.Change) []plan.Change {
	from, _ := c.From.(string)
	to, _ := c.To.(string)
	if c.Sensitive || from == "" || to == "" {
		return nil
	}
	before, after := documentIn(from), documentIn(to)
	if before == nil || after == nil {
		return nil
	}
	fields := fielddiff.At("", before, after, nil)
	if (!looksJSON(from) || !looksJSON(to)) && differBeyond(fields, from, to) {
		return nil
	}
	var out []plan.Change
	for _, in := range fields {
		if in.Path == "" { // a list has become a map, or the reverse
			return nil
		}
		within := c
		within.Path, within.From, within.To = c.Path+" "+in.Path, in.From, in.To
		within.Sensitive = isHidden(in.From) || isHidden(in.To)
		out = append(out, within)
	}
	return out
}

// documentIn parses the map or list in a text; nil for any other text.
func documentIn(text string) any {
	switch {
	case looksJSON(text):
		return jsonIn(text)
	case len(text) > maxYAML, !severalLines(text), !strings.Contains(text, ":"), strings.Contains("\n"+text, "\n---"):
		return nil // --- may separate documents
	}
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil
	}
	return jsonIn(string(raw))
}

func looksJSON(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

func jsonIn(text string) any {
	if len(text) > maxJSON {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // as documented
		return nil
	}
	// Which value of a key that is given twice counts depends on who reads it.
	if twice, err := strictjson.UnmarshalStrict([]byte(text), new(any), strictjson.DisallowDuplicateFields); err != nil || len(twice) > 0 {
		return nil
	}
	switch v.(type) {
	case map[string]any, []any:
		return v
	}
	return nil
}

// differBeyond reports whether two YAML texts differ in more than these fields: in comments, such as #cloud-config,
// or in how a value is written, such as yes and true, which programs may read differently.
func differBeyond(fields []fielddiff.Change, from, to string) bool {
	if !slices.Equal(comments(from), comments(to)) {
		return true
	}
	shown := map[string]bool{}
	for _, field := range fields {
		shown[field.Path] = true
	}
	var before, after yamlnode.Node
	if yamlnode.Unmarshal([]byte(from), &before) != nil || yamlnode.Unmarshal([]byte(to), &after) != nil {
		return true
	}
	return slices.ContainsFunc(fielddiff.At("", spelled(&before), spelled(&after), nil), func(c fielddiff.Change) bool { return !shown[c.Path] })
}

// comments returns what may be comments: the rest of each line from the first "#" after a blank on.
func comments(text string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", " ")) {
		if at := strings.Index(" "+line, " #"); at >= 0 {
			out = append(out, strings.TrimSpace(line[at:]))
		}
	}
	return out
}

// spelled returns a document's values as they are written, and the names of aliases.
func spelled(n *yamlnode.Node) any {
	switch {
	case n.Kind == yamlnode.DocumentNode:
		return spelled(n.Content[0])
	case n.Kind == yamlnode.MappingNode:
		out := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			out[n.Content[i].Value] = spelled(n.Content[i+1])
		}
		return out
	case n.Kind == yamlnode.SequenceNode:
		out := []any{}
		for _, item := range n.Content {
			out = append(out, spelled(item))
		}
		return out
	case n.Kind == yamlnode.AliasNode:
		return "*" + n.Value
	case n.Style&yamlnode.TaggedStyle != 0:
		return n.Tag + " " + n.Value
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!int", n.Tag == "!!float":
		return json.Number(n.Value)
	}
	return n.Value
}
