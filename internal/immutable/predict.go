// Package immutable says which fields of an object can't be changed, from the
// rules of the API server's validation and from its refusals.
//
// It does not decide whether an object is recreated because of them.
package immutable

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// Field is a field that can't be changed on a live object.
type Field struct {
	Path string `json:"path"`
	// Why is one plain sentence: "spec.selector is immutable".
	Why string `json:"why"`
}

// Predict returns the fields of target that the API server will refuse to change on live. It is for
// plans without a server dry run. Only fields that target sets are compared, since what it omits
// may be a default. Kinds that are not built in have no immutable fields.
func Predict(live, target *unstructured.Unstructured) []Field {
	return PredictChange(live, target, target)
}

// PredictChange is Predict where it is known what the change would leave, after: a merge leaves a ConfigMap or
// Secret alone that somebody has marked as immutable by hand, and Predict takes what target omits for removed.
func PredictChange(live, target, after *unstructured.Unstructured) []Field {
	if live == nil || target == nil || after == nil {
		return nil
	}
	gvk := target.GroupVersionKind()
	if live.GroupVersionKind().GroupKind() != gvk.GroupKind() {
		return nil
	}
	c := immutables{
		live:   live.Object,
		target: serverfields.WithoutStringData(target).Object,
		after:  serverfields.WithoutStringData(after).Object,
		root:   apitypes.Of(gvk),
	}
	for _, rule := range rulesOf(gvk.GroupKind()) {
		rule(&c)
	}
	return c.found
}

// Narrow replaces each field that a refusal names with the fields below it that differ between live
// and after, the object that was refused: for a StatefulSet, a Pod or a PersistentVolumeClaim the
// API server only says "spec". A field with no known differences below it stays.
func Narrow(fields []string, live, after *unstructured.Unstructured) []string {
	if live == nil || after == nil || live.GroupVersionKind().GroupKind() != after.GroupVersionKind().GroupKind() {
		return fields
	}
	gvk := after.GroupVersionKind()
	whole := serverfields.WithoutStringData(after).Object
	c := immutables{live: live.Object, target: whole, after: whole, root: apitypes.Of(gvk), complete: true}
	for _, rule := range rulesOf(gvk.GroupKind()) {
		rule(&c)
	}
	var narrow []string
	for _, field := range fields {
		known := len(narrow)
		for _, f := range c.found {
			if strings.HasPrefix(f.Path, field+".") && !slices.Contains(narrow, f.Path) {
				narrow = append(narrow, f.Path)
			}
		}
		if len(narrow) == known {
			narrow = append(narrow, field)
		}
	}
	return narrow
}

// immutables collects the fields of target that can't be changed on live.
type immutables struct {
	live, target map[string]any
	// after is what the change would leave.
	after map[string]any
	root  *apitypes.Node
	found []Field
	// complete says that target is the whole object, so whatever it omits is removed.
	complete bool
}

func (c *immutables) refuse(path, why string) {
	c.found = append(c.found, Field{Path: path, Why: why})
}

// rule finds the changes that one rule of the API server's validation refuses.
type rule func(*immutables)

// own holds the functions for the kinds that kinds.Immutable marks as ByRule.
// Groups matter: a Job of another group is not Kubernetes' own.
var own = map[schema.GroupKind]rule{
	kinds.Job:                   job,
	kinds.PersistentVolumeClaim: claim,
	kinds.Pod:                   podSpec,
	kinds.Service:               clusterIP,
}

// rulesOf returns the rules for a kind.
func rulesOf(gk schema.GroupKind) []rule {
	known := kinds.Of(gk).Immutable
	rules := []rule{fixed(known.Fields...)}
	if known.Spec {
		rules = append(rules, allBut("spec", known.Mutable...))
	}
	if len(known.Sealed) > 0 {
		rules = append(rules, sealed(known.Sealed...))
	}
	if f, ok := own[gk]; ok {
		rules = append(rules, f)
	}
	return rules
}

// at looks up a dotted path in both documents. given reports whether target sets it to something
// other than a zero value.
func (c *immutables) at(path string) (live, target any, n *apitypes.Node, given bool) {
	live, target, n = c.live, c.target, c.root
	for key := range strings.SplitSeq(path, ".") {
		lm, _ := live.(map[string]any)
		tm, ok := target.(map[string]any)
		if !ok {
			return nil, nil, nil, false
		}
		n = n.Child(key)
		live = lm[key]
		if target, given = tm[key]; !given {
			return nil, nil, nil, false
		}
	}
	return live, target, n, target != nil && !apitypes.Zero(target, n)
}

func (c *immutables) differs(path string) bool {
	live, target, n, given := c.at(path)
	return given && !apitypes.Covers(live, target, n)
}

// fixed refuses changes to fields that can't change once the object exists.
func fixed(paths ...string) rule {
	return func(c *immutables) {
		for _, path := range paths {
			if c.differs(path) || exactlyMatched(path) && c.shrinks(path) {
				c.refuse(path, path+" is immutable")
			}
		}
	}
}

// exactlyMatched reports whether the server adds nothing to the field on its
// own, so omitting a part of it is a change, too.
func exactlyMatched(path string) bool {
	switch path {
	case "spec.selector", "parameters":
		return true
	}
	return false
}

func (c *immutables) shrinks(path string) bool {
	live, target, n, given := c.at(path)
	return given && !apitypes.Equal(live, target, n)
}

// allBut refuses changes to the fields at path other than the mutable ones,
// and names each single field that differs.
func allBut(path string, mutable ...string) rule {
	return func(c *immutables) {
		live, target, n, given := c.at(path)
		fields, ok := target.(map[string]any)
		if !given || !ok {
			return
		}
		was, _ := live.(map[string]any)
		dropped := was
		if !c.complete {
			dropped = nil
		}
		for _, key := range jsontree.Keys(fields, dropped) {
			field, at := path+"."+key, n.Child(key)
			wanted, given := fields[key]
			if slices.Contains(mutable, key) || given && !c.differs(field) {
				continue
			}
			for _, change := range fielddiff.At(field, was[key], withDefaults(was[key], wanted, at), at) {
				c.refuse(change.Path, change.Path+" is immutable")
			}
		}
	}
}

// withDefaults returns target with the known defaults that the API server has added to live, also
// in items of lists that are replaced as a whole.
func withDefaults(live, target any, n *apitypes.Node) any {
	switch tv := target.(type) {
	case map[string]any:
		lv, _ := live.(map[string]any)
		out := maps.Clone(tv)
		for k, v := range lv {
			if given, ok := tv[k]; ok {
				out[k] = withDefaults(v, given, n.Child(k))
			} else if apitypes.Defaulted(k, v, n) {
				out[k] = v
			}
		}
		return out
	case []any:
		lv, _ := live.([]any)
		out := slices.Clone(tv)
		for i, item := range tv {
			if was := namesake(lv, item, i); was != nil {
				out[i] = withDefaults(was, item, n.Item())
			}
		}
		return out
	}
	return target
}

// namesake returns the list's item with the same name as item, or, if item has no
// name, the one at index at.
func namesake(list []any, item any, at int) any {
	for _, nameOf := range []func(any) any{
		func(item any) any { return jsontree.KeyOf(item, "name") },
		func(item any) any {
			m, _ := item.(map[string]any)
			return jsontree.KeyOf(m["metadata"], "name")
		},
	} {
		if name := nameOf(item); name != nil {
			i := slices.IndexFunc(list, func(other any) bool { return nameOf(other) == name })
			if i < 0 {
				return nil
			}
			return list[i]
		}
	}
	if at < len(list) {
		return list[at]
	}
	return nil
}
