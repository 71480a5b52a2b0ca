package report

import (
	"encoding/json"
	"io"
	"strings"

	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

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
// "data[app.json] panels[0].pluginVersion". It is nil for other texts, and if only layout or
// comments differ.
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
	var out []plan.Change
	for _, in := range fielddiff.At("", before, after, nil) {
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
	case strings.HasPrefix(strings.TrimSpace(text), "{"), strings.HasPrefix(strings.TrimSpace(text), "["):
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
