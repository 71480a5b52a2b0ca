package redact

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// pattern selects fields that hold secrets: one of plan.Options.Sensitive.
type pattern struct {
	// objects selects objects as manifest.Selects does; "" is every object and the values,
	// onlyValues the values only.
	objects string
	parts   []string
}

// onlyValues is the prefix of patterns for values.
const onlyValues = "values"

// CheckPattern checks a pattern of plan.Options.Sensitive: "PATH" or "OBJECT:PATH". PATH is a field
// as the plan prints it: "data.token", "spec.template.spec.containers[web].env[API].value"; its
// parts may have wildcards, and it includes everything below the field. A field within a text, such as
// "data[app.json] db.host", stands for the whole text. OBJECT is "KIND",
// "KIND/NAME", where NAME may have wildcards, or "values".
func CheckPattern(text string) error {
	_, err := parsePattern(text)
	return err
}

func parsePattern(text string) (pattern, error) {
	p := pattern{parts: jsontree.SplitPath(text)}
	// A colon within brackets or after an escaped dot belongs to the path.
	if i := strings.IndexByte(text, ':'); i >= 0 && !strings.ContainsAny(text[:i], "[") && !strings.Contains(text[:i], "\\") {
		p.objects, p.parts = text[:i], jsontree.SplitPath(text[i+1:])
		if p.objects == "" {
			return pattern{}, fmt.Errorf("%q names no object before the colon", text)
		}
	}
	if len(p.parts) == 0 {
		return pattern{}, fmt.Errorf("%q names no field", text)
	}
	for _, part := range append([]string{p.objects}, p.parts...) {
		if _, err := path.Match(flat(part), ""); err != nil {
			return pattern{}, fmt.Errorf("%q is not a pattern: %w", text, err)
		}
	}
	return p, nil
}

// flat lets a wildcard match the slashes of keys such as helm.sh/chart.
func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

func matchesPart(pattern, key string) bool {
	ok, err := path.Match(flat(pattern), flat(key))
	return err == nil && ok
}

// sensitives returns the patterns that a plan was made with. Invalid ones were refused earlier.
func sensitives(p *plan.Plan) []pattern {
	var out []pattern
	for _, text := range p.Options.Sensitive {
		for _, text := range slices.Compact([]string{text, withoutInside(text)}) {
			if parsed, err := parsePattern(text); err == nil {
				out = append(out, parsed)
			}
		}
	}
	return out
}

// withoutInside returns a pattern up to the blank after which a plan names what has changed inside a text, as in
// "data[app.json] db.host". The names of some fields of values have blanks, too.
func withoutInside(text string) string {
	bracket := false
	for i := range len(text) {
		switch text[i] {
		case '[', ']':
			bracket = text[i] == '['
		case ' ':
			if !bracket {
				return text[:i]
			}
		}
	}
	return text
}

// at returns a copy of v in which the value at the path is rewritten.
func at(v any, parts []string, rewrite func(any) any) any {
	if len(parts) == 0 {
		return rewrite(v)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if matchesPart(parts[0], key) {
				value = at(value, parts[1:], rewrite)
			}
			out[key] = value
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, item := range v {
			if isItem(parts[0], i, item) {
				out[i] = at(item, parts[1:], rewrite)
			}
		}
		return out
	}
	return v
}

// isItem reports whether the part selects a list's item, by its index or by its name in the plan.
func isItem(part string, index int, item any) bool {
	if matchesPart(part, strconv.Itoa(index)) {
		return true
	}
	fields, ok := item.(map[string]any)
	if !ok {
		return false
	}
	protocol, ok := fields["protocol"].(string)
	if !ok {
		protocol = "TCP"
	}
	for _, key := range append(fielddiff.IdentityFields(), "containerPort", "port", "mountPath", "devicePath", "ip", "topologyKey") {
		if text, ok := jsontree.ScalarText(fields[key]); ok && (matchesPart(part, text) || matchesPart(part, text+"/"+protocol)) {
			return true
		}
	}
	metadata, _ := fields["metadata"].(map[string]any)
	name, ok := metadata["name"].(string)
	return ok && matchesPart(part, name)
}

// atChange rewrites the part of a change that the pattern selects: all of it if the field is at or
// below the pattern's path, else the values within.
func atChange(c plan.Change, parts []string, rewrite func(any) any) plan.Change {
	own := jsontree.SplitPath(c.Path)
	for i := range min(len(own), len(parts)) {
		if !matchesPart(parts[i], own[i]) {
			return c
		}
	}
	rest := parts[min(len(own), len(parts)):]
	if len(rest) == 1 && matchesPart(rest[0], "value") && shortened(c) {
		rest = nil
	}
	c.From, c.To = at(jsontree.Plain(c.From), rest, rewrite), at(jsontree.Plain(c.To), rest, rewrite)
	return c
}

// shortened reports whether a change is that of the value of a list's item, which fielddiff shows as
// env[API], not env[API].value.
func shortened(c plan.Change) bool {
	for _, v := range []any{c.From, c.To} {
		if _, text := v.(string); !text && v != nil {
			return false
		}
	}
	return strings.HasSuffix(c.Path, "]")
}

// hide returns a copy of the plan in which rewrite was applied to every field that its patterns
// select.
func hide(p *plan.Plan, rewrite func(any) any) *plan.Plan {
	patterns := sensitives(p)
	if len(patterns) == 0 {
		return p
	}
	out := *p
	out.Stages = slices.Clone(p.Stages)
	for i := range out.Stages {
		out.Stages[i].Waves = slices.Clone(out.Stages[i].Waves)
		for j := range out.Stages[i].Waves {
			out.Stages[i].Waves[j].Steps = slices.Clone(out.Stages[i].Waves[j].Steps)
		}
	}
	out.Values = slices.Clone(p.Values)
	for _, pattern := range patterns {
		for i := range out.Values {
			if pattern.objects == "" || pattern.objects == onlyValues {
				out.Values[i] = atChange(out.Values[i], pattern.parts, rewrite)
			}
		}
		out.Steps(func(_ plan.StageName, s *plan.Step) {
			if pattern.objects == "" || manifest.Selects([]string{pattern.objects}, s.Object) {
				hideStep(s, pattern.parts, rewrite)
			}
		})
	}
	return &out
}

func hideStep(s *plan.Step, parts []string, rewrite func(any) any) {
	for _, u := range []**unstructured.Unstructured{&s.Body, &s.Before, &s.After} {
		if *u != nil {
			object, _ := at((*u).Object, parts, rewrite).(map[string]any)
			*u = &unstructured.Unstructured{Object: object}
		}
	}
	s.Changes = slices.Clone(s.Changes)
	for i := range s.Changes {
		s.Changes[i] = atChange(s.Changes[i], parts, rewrite)
	}
	if fields, ok := patchFields(s.Patch); ok {
		if raw, err := json.Marshal(at(fields, parts, rewrite)); err == nil {
			s.Patch = raw
		}
	}
}

// collectSensitive adds the values that the patterns select, which are masked wherever else they
// appear.
func collectSensitive(p *plan.Plan, found *secrets) {
	hide(p, func(v any) any {
		found.addTree(v, false)
		return v
	})
}
