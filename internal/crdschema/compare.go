// Package crdschema says what replacing a CustomResourceDefinition with another one would mean for
// its custom resources: which fields differ, what is validated more strictly, and what would be
// dropped. It also finds what a definition surely does not allow in a custom resource.
//
// It compares structural schemas keyword by keyword; it is no validator, and does not evaluate rules.
package crdschema

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// Difference is how two definitions differ. Paths begin with the version, as in "v1 spec.replicas";
// list items are "[]", map values "{}".
type Difference struct {
	// Fields is the number of schema fields that were added, removed or changed, plus the number of
	// other fields of the definition that differ. Descriptions, labels and annotations don't count.
	Fields int
	// Display is how many of these only change how custom resources are listed and named: printer
	// columns, short names, categories.
	Display int
	// Tightens are the fields that are validated more strictly.
	Tightens []string
	// Drops are the fields and versions that no longer exist: the API server prunes such fields
	// when an object is written, and refuses requests for such versions.
	Drops []string
}

// Compare returns how the definition to differs from the definition from. What the API server fills
// in is not a difference. Both may have any apiVersion of apiextensions.k8s.io; malformed parts
// count as absent.
func Compare(from, to *unstructured.Unstructured) Difference {
	d := &Difference{}
	before, after := withDefaults(from.Object["spec"]), withDefaults(to.Object["spec"])
	d.count(before, after, specNode(), "versions")
	d.versions(byName(before["versions"]), byName(after["versions"]))
	return *d
}

// withDefaults returns a definition's spec with what the API server adds, according to
// https://github.com/kubernetes/apiextensions-apiserver/blob/v0.36.3/pkg/apis/apiextensions/v1/defaults.go.
func withDefaults(v any) map[string]any {
	spec := maps.Clone(object(v))
	if spec == nil {
		return map[string]any{}
	}
	names := maps.Clone(object(spec["names"]))
	for key, value := range defaultNames(names) {
		if names != nil && (names[key] == nil || names[key] == "") {
			names[key] = value
		}
	}
	spec["names"] = names
	spec["conversion"] = withoutCA(spec["conversion"])
	if spec["preserveUnknownFields"] == false {
		delete(spec, "preserveUnknownFields")
	}
	return spec
}

func defaultNames(names map[string]any) map[string]any {
	kind, _ := names["kind"].(string)
	return map[string]any{"listKind": kind + "List", "singular": strings.ToLower(kind)}
}

// WithoutDefaults returns a definition's spec without what the API server would add to the rest, and without
// the CA bundle that others inject.
func WithoutDefaults(v any) map[string]any {
	spec := maps.Clone(object(v))
	names := maps.Clone(object(spec["names"]))
	for key, value := range defaultNames(names) {
		if names[key] == value {
			delete(names, key)
		}
	}
	if names != nil {
		spec["names"] = names
	}
	conversion := withoutCA(spec["conversion"])
	if same(conversion, map[string]any{"strategy": "None"}) {
		delete(spec, "conversion")
	} else {
		spec["conversion"] = conversion
	}
	return spec
}

// withoutCA returns how a definition converts versions, without the CA bundle
// for its webhook, which cert-manager and the like inject.
func withoutCA(v any) any {
	conversion, _ := jsontree.Copy(v).(map[string]any)
	if conversion == nil {
		return map[string]any{"strategy": "None"}
	}
	delete(object(object(conversion["webhook"])["clientConfig"]), "caBundle")
	return conversion
}

// specNode returns what the Go type of a definition says about its spec, schemaNode what it says
// about a schema.
func specNode() *apitypes.Node {
	return apitypes.Of(kinds.CustomResourceDefinition.WithVersion("v1")).Child("spec")
}

func schemaNode() *apitypes.Node {
	return specNode().Child("versions").Item().Child("schema").Child("openAPIV3Schema")
}

// count counts the fields that differ, except for those in apart, which are compared separately,
// and unknown ones, which the API server drops.
func (d *Difference) count(before, after map[string]any, n *apitypes.Node, apart ...string) {
	for _, key := range jsontree.Keys(before, after) {
		if known := n.Child(key); known != nil && !slices.Contains(apart, key) && !apitypes.Equal(before[key], after[key], known) {
			d.Fields++
			if key == "additionalPrinterColumns" || key == "names" {
				d.Display++
			}
		}
	}
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
		d.count(was, is, specNode().Child("versions").Item(), "schema", "name")
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

// schema compares two schemas of one field, and those of the fields below it.
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
	if otherKeywords(before, after) {
		d.Fields++
	}
	if stricter(before, after) {
		d.Tightens = append(d.Tightens, strings.TrimSpace(path))
	}
	if losesUnknown(before, after) {
		d.Drops = append(d.Drops, strings.TrimSpace(path))
	}
}

// below compares the items of a list or the values of a map, if both definitions have a schema for
// them.
func (d *Difference) below(path string, before, after any) {
	was, is := object(before), object(after)
	if was != nil && is != nil {
		d.schema(path, was, is)
	}
}

// losesUnknown reports whether fields that are not in the schema used to be kept and no longer are.
func losesUnknown(before, after map[string]any) bool {
	open := func(s map[string]any) bool {
		extra, given := s["additionalProperties"]
		return s["x-kubernetes-preserve-unknown-fields"] == true || given && extra != false
	}
	return open(before) && !open(after)
}

// otherKeywords reports whether the schemas differ for the field itself. Descriptions are ignored,
// and nested schemas are compared separately.
func otherKeywords(before, after map[string]any) bool {
	n := schemaNode()
	return slices.ContainsFunc(jsontree.Keys(before, after), func(key string) bool {
		switch key {
		case "properties", "description", "title", "example", "externalDocs":
			return false
		case "items", "additionalProperties":
			if object(before[key]) != nil && object(after[key]) != nil {
				return false
			}
		}
		return n.Child(key) != nil && !apitypes.Equal(before[key], after[key], n.Child(key))
	})
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
