// Package crdschema says what it would mean for custom resources if their
// CustomResourceDefinition was replaced by another one: which fields differ, what is
// validated more strictly, and what would be dropped.
//
// It compares structural schemas keyword by keyword and judges no custom resources.
package crdschema

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// Difference is what two definitions differ in. Paths begin with the version, such as
// "v1 spec.replicas"; items of lists are "[]", values of maps "{}".
type Difference struct {
	// Fields is how many fields of the schemas were added, removed or changed, and how
	// many other fields of the definition differ. What only describes is not counted:
	// descriptions, labels and annotations.
	Fields int
	// Tightens are the fields that validate more strictly.
	Tightens []string
	// Drops are fields and versions that are not known any more: the API server prunes
	// such fields when an object is written, and refuses requests for such versions.
	Drops []string
}

// Compare says in what the definition to differs from the definition from. What the
// API server fills in is not a difference. Either may be of any apiVersion of
// apiextensions.k8s.io; what is not of their form counts as absent.
func Compare(from, to *unstructured.Unstructured) Difference {
	d := &Difference{}
	before, after := withDefaults(from.Object["spec"]), withDefaults(to.Object["spec"])
	for _, key := range jsontree.Keys(before, after) {
		if key != "versions" && !same(before[key], after[key]) {
			d.Fields++
		}
	}
	d.versions(byName(before["versions"]), byName(after["versions"]))
	return *d
}

// withDefaults is a definition's spec with what the API server adds, by
// https://github.com/kubernetes/apiextensions-apiserver/blob/v0.36.3/pkg/apis/apiextensions/v1/defaults.go.
func withDefaults(v any) map[string]any {
	spec := maps.Clone(object(v))
	if spec == nil {
		return map[string]any{}
	}
	names := maps.Clone(object(spec["names"]))
	kind, _ := names["kind"].(string)
	for key, value := range map[string]any{"listKind": kind + "List", "singular": strings.ToLower(kind)} {
		if names != nil && (names[key] == nil || names[key] == "") {
			names[key] = value
		}
	}
	spec["names"] = names
	if spec["conversion"] == nil {
		spec["conversion"] = map[string]any{"strategy": "None"}
	}
	if spec["preserveUnknownFields"] == false {
		delete(spec, "preserveUnknownFields")
	}
	return spec
}

func (d *Difference) versions(before, after map[string]map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was, is := before[name], after[name]
		if was["served"] == true && is["served"] != true {
			d.Drops = append(d.Drops, name)
		}
		if is == nil {
			d.Fields++
			continue
		}
		for _, key := range jsontree.Keys(was, is) {
			if key != "schema" && key != "name" && !same(was[key], is[key]) {
				d.Fields++
			}
		}
		d.schema(name+" ", schemaOf(was), schemaOf(is))
	}
	for name := range after {
		if before[name] == nil {
			d.Fields++
		}
	}
}

func schemaOf(version map[string]any) map[string]any {
	return object(object(version["schema"])["openAPIV3Schema"])
}

// schema compares two schemas of one field and all below.
func (d *Difference) schema(path string, before, after map[string]any) {
	was, is := object(before["properties"]), object(after["properties"])
	for _, key := range jsontree.Keys(was, is) {
		at := path + jsontree.Join("", key)
		if !strings.HasSuffix(path, " ") {
			at = jsontree.Join(path, key)
		}
		switch {
		case was[key] == nil:
			d.Fields++
		case is[key] == nil:
			d.Fields++
			d.Drops = append(d.Drops, at)
		default:
			d.schema(at, object(was[key]), object(is[key]))
		}
	}
	d.below(path+"[]", before["items"], after["items"])
	d.below(path+"{}", before["additionalProperties"], after["additionalProperties"])
	if !same(keywords(before), keywords(after)) {
		d.Fields++
	}
	if stricter(before, after) {
		d.Tightens = append(d.Tightens, strings.TrimSpace(path))
	}
	if losesUnknown(before, after) {
		d.Drops = append(d.Drops, strings.TrimSpace(path))
	}
}

// below compares what a list or a map holds, where both say it by a schema.
func (d *Difference) below(path string, before, after any) {
	was, is := object(before), object(after)
	if was != nil && is != nil {
		d.schema(path, was, is)
	}
}

// losesUnknown says whether fields that no schema names were kept and are not any more.
func losesUnknown(before, after map[string]any) bool {
	open := func(s map[string]any) bool {
		extra, given := s["additionalProperties"]
		return s["x-kubernetes-preserve-unknown-fields"] == true || given && extra != false
	}
	return open(before) && !open(after)
}

// keywords are what a schema says of the field itself and means something.
func keywords(s map[string]any) map[string]any {
	out := maps.Clone(s)
	maps.DeleteFunc(out, func(key string, v any) bool {
		switch key {
		case "properties", "description", "title", "example", "externalDocs":
			return true
		case "items", "additionalProperties":
			return object(v) != nil // compared apart
		}
		return false
	})
	return out
}

func same(a, b any) bool { return reflect.DeepEqual(jsontree.Plain(a), jsontree.Plain(b)) }

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func byName(v any) map[string]map[string]any {
	list, _ := v.([]any)
	out := map[string]map[string]any{}
	for _, item := range list {
		if name, _ := object(item)["name"].(string); name != "" {
			out[name] = object(item)
		}
	}
	return out
}
