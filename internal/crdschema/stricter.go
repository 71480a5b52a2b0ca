package crdschema

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// stricter reports whether after rejects values of the field itself that before accepted, as far as
// single keywords show that: allOf, anyOf, oneOf and not may mean either. The keywords are those of
// https://github.com/kubernetes/apiextensions-apiserver/blob/v0.36.3/pkg/apis/apiextensions/v1/types_jsonschema.go.
func stricter(before, after map[string]any) bool {
	switch {
	case missing(before["required"], after["required"]), missingRules(before, after):
		return true
	case after["enum"] != nil && (before["enum"] == nil || missing(after["enum"], before["enum"])):
		return true
	case before["type"] != nil && after["type"] != nil && before["type"] != after["type"]:
		return true
	}
	for _, keyword := range []string{"nullable", "x-kubernetes-int-or-string"} {
		if before[keyword] == true && after[keyword] != true {
			return true
		}
	}
	for _, keyword := range []string{"exclusiveMaximum", "exclusiveMinimum", "uniqueItems"} {
		if before[keyword] != true && after[keyword] == true {
			return true
		}
	}
	for _, keyword := range []string{"pattern", "format", "multipleOf"} {
		if after[keyword] != nil && !same(before[keyword], after[keyword]) {
			return true
		}
	}
	list, _ := after["x-kubernetes-list-type"].(string)
	if (list == "set" || list == "map") && before["x-kubernetes-list-type"] != list { // duplicates are no longer allowed
		return true
	}
	return narrower(before, after)
}

// narrower reports whether a limit is new or tighter than before.
func narrower(before, after map[string]any) bool {
	for _, unit := range []string{"imum", "Length", "Items", "Properties"} {
		if tighter(before["max"+unit], after["max"+unit], -1) || tighter(before["min"+unit], after["min"+unit], 1) {
			return true
		}
	}
	return false
}

// tighter reports whether a limit is new, or has moved in the given direction (-1 for maxima, 1 for
// minima). A minimum of 0 that is new is no limit.
func tighter(before, after any, direction float64) bool {
	to, limited := number(after)
	from, was := number(before)
	switch {
	case !limited:
		return false
	case !was:
		return direction < 0 || to != 0
	}
	return (to-from)*direction > 0
}

func number(v any) (float64, bool) {
	switch n := jsontree.Number(v).(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// missing reports whether list has an item that is not among in.
func missing(in, list any) bool {
	have, _ := in.([]any)
	items, _ := list.([]any)
	return slices.ContainsFunc(items, func(item any) bool {
		return !slices.ContainsFunc(have, func(other any) bool { return same(item, other) })
	})
}

// missingRules reports whether after has a CEL rule that before does not have.
func missingRules(before, after map[string]any) bool {
	return len(rules(after).Difference(rules(before))) > 0
}

func rules(schema map[string]any) sets.Set[string] {
	list, _ := schema["x-kubernetes-validations"].([]any)
	out := sets.New[string]()
	for _, item := range list {
		if rule, _ := object(item)["rule"].(string); rule != "" {
			out.Insert(rule)
		}
	}
	return out
}
