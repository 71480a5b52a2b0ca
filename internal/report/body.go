package report

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// digest describes a created object in a few words: "replicas 3, image shop/web:2.0". It is empty
// for unknown kinds.
func digest(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	var facts []string
	for _, d := range kinds.Named(u.GetKind()).Details {
		facts = append(facts, detail(u, d))
	}
	return joinFacts(facts)
}

// detail returns one fact about an object, "" if the object does not have it.
func detail(u *unstructured.Unstructured, d kinds.Detail) string {
	path := strings.Split(d.Path, ".")
	switch d.Show {
	case kinds.Value:
		return fact(u, d.Label, path...)
	case kinds.Images:
		return images(u, path...)
	case kinds.Ports:
		return ports(u, path...)
	case kinds.DataKeys:
		return dataKeys(u)
	case kinds.Names:
		return each(u, d.Label, d.Key, path...)
	case kinds.Reference:
		return fact(u, "", append(path, "kind")...) + fact(u, "", append(path, "name")...)
	case kinds.Rules:
		rules, _ := field(u, path...).([]any)
		return Count(len(rules), "rule", "rules")
	}
	return ""
}

func joinFacts(facts []string) string {
	var told []string
	for _, f := range facts {
		if f = strings.TrimSpace(f); f != "" {
			told = append(told, f)
		}
	}
	return strings.Join(told, ", ")
}

func field(u *unstructured.Unstructured, path ...string) any {
	v, _, err := unstructured.NestedFieldNoCopy(u.Object, path...)
	if err != nil {
		return nil
	}
	return v
}

// fact returns a field's value after a label, "" if the field is missing.
func fact(u *unstructured.Unstructured, label string, path ...string) string {
	v := field(u, path...)
	if v == nil {
		return ""
	}
	return label + " " + cut(value(v), 60)
}

// items returns the maps in a list.
func items(u *unstructured.Unstructured, path ...string) []map[string]any {
	all, _ := field(u, path...).([]any)
	var out []map[string]any
	for _, item := range all {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func images(u *unstructured.Unstructured, pod ...string) string {
	var names []string
	for _, c := range items(u, append(pod, "containers")...) {
		if image, ok := c["image"].(string); ok {
			names = append(names, cutMiddle(escape.Line(image), 60))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "image " + names[0]
	}
	return "images " + list(names, 3)
}

func ports(u *unstructured.Unstructured, path ...string) string {
	var all []string
	for _, p := range items(u, path...) {
		port := value(p["port"])
		if target := p["targetPort"]; target != nil && value(target) != port {
			port += "→" + value(target)
		}
		all = append(all, port)
	}
	if len(all) == 0 {
		return ""
	}
	return "port " + list(all, 4)
}

// each returns the values that a list's items have under key, after a label.
func each(u *unstructured.Unstructured, label, key string, path ...string) string {
	var names []string
	for _, item := range items(u, path...) {
		if name, ok := item[key].(string); ok && name != "" {
			names = append(names, escape.Line(name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return label + " " + list(names, 3)
}

func dataKeys(u *unstructured.Unstructured) string {
	var names []string
	for _, part := range []string{"data", "stringData", "binaryData"} {
		if m, ok := u.Object[part].(map[string]any); ok {
			for _, key := range keys(m) {
				if name := escape.Line(key); !slices.Contains(names, name) { // a key of data may be in stringData, too
					names = append(names, name)
				}
			}
		}
	}
	if len(names) == 0 {
		return "empty"
	}
	return fmt.Sprintf("%s %s", strings.Fields(Count(len(names), "key", "keys"))[1], list(names, 4))
}

// body returns the YAML of the object that is to be shown in full, nil if none is.
func (e entry) body() []string {
	if e.creates == nil {
		return nil
	}
	raw, err := yaml.Marshal(e.creates.Object)
	if err != nil {
		return []string{"(can't be shown: " + escape.Line(err.Error()) + ")"}
	}
	return escape.Lines(string(raw))
}
