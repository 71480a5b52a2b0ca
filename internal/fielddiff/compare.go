// Package fielddiff lists the fields that differ between two documents of an object.
//
// It prints nothing and does not judge which differences matter.
package fielddiff

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// Op says what happened to a field.
type Op string

const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
)

// Change is one field that differs between two documents.
type Change struct {
	// Path names the field for people: "spec.containers[web].image". List items are named by merge
	// key, name or another identifying field if that is unique, and otherwise by index: in the list
	// that they are still in, or were in.
	Path string `json:"path"`
	// From and To are the whole values, nil if there is none. They belong to
	// the documents: copy them before changing them.
	From any `json:"from,omitempty"`
	To   any `json:"to,omitempty"`
	Op   Op  `json:"op"`
}

// Compare lists the fields that differ between two documents of one object: metadata first, then
// spec, then the rest by name. It ignores apiVersion, kind, status, what the server counts or
// stamps, and values that are written differently but mean the same (see apitypes.Equal). Maps are
// compared field by field; an item that is added to or removed from a list is one change, wherever
// it is in the list. Either document may be nil.
func Compare(before, after map[string]any) []Change {
	d := differ{}
	root := apitypes.Of(kindOf(after, before))
	for _, key := range documentOrder(before, after) {
		from, to := before[key], after[key]
		if key == "metadata" {
			if oneMap(from, to) {
				continue
			}
			from, to = visibleMetadata(from), visibleMetadata(to)
		}
		d.field(jsontree.Join("", key), from, to, root.Child(key))
	}
	return d.changes
}

// At lists the fields that differ between two values of the field at path;
// node is what is known about its type.
func At(path string, before, after any, node *apitypes.Node) []Change {
	d := differ{}
	d.field(path, before, after, node)
	return d.changes
}

func kindOf(docs ...map[string]any) schema.GroupVersionKind {
	for _, doc := range docs {
		apiVersion, _ := doc["apiVersion"].(string)
		kind, _ := doc["kind"].(string)
		if kind != "" {
			return schema.FromAPIVersionAndKind(apiVersion, kind)
		}
	}
	return schema.GroupVersionKind{}
}

func documentOrder(before, after map[string]any) []string {
	keys := slices.DeleteFunc(jsontree.Keys(before, after), serverfields.IsExcluded)
	slices.SortStableFunc(keys, func(a, b string) int {
		return cmp.Compare(rank(a), rank(b))
	})
	return keys
}

func rank(key string) int {
	switch key {
	case "metadata":
		return 0
	case "spec":
		return 1
	}
	return 2
}

// bookkeepings are annotations that tools and controllers write for their own
// use, and that say nothing about the object.
var bookkeepings = []string{
	corev1.LastAppliedConfigAnnotation,
	"deployment.kubernetes.io/revision",
	"deprecated.daemonset.template.generation",
}

// oneMap reports whether both are the same map, as they are where documents share memory.
func oneMap(a, b any) bool {
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	return isX && isY && jsontree.Identical(x, y)
}

func visibleMetadata(v any) any {
	meta, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(meta))
	for k, v := range meta {
		if serverfields.Assigned(k) {
			continue
		}
		if annotations, ok := v.(map[string]any); ok && k == "annotations" {
			v = visibleAnnotations(annotations)
		}
		out[k] = v
	}
	return out
}

func visibleAnnotations(annotations map[string]any) any {
	if !slices.ContainsFunc(bookkeepings, func(key string) bool { _, has := annotations[key]; return has }) {
		return annotations
	}
	out := make(map[string]any, len(annotations))
	for k, v := range annotations {
		if !slices.Contains(bookkeepings, k) {
			out[k] = v
		}
	}
	return out
}

type differ struct{ changes []Change }

func (d *differ) add(path string, from, to any) {
	op := Changed
	switch {
	case from == nil:
		op = Added
	case to == nil:
		op = Removed
	}
	d.changes = append(d.changes, Change{Path: path, From: from, To: to, Op: op})
}

func (d *differ) field(path string, from, to any, n *apitypes.Node) {
	if apitypes.Equal(from, to, n) {
		return
	}
	fm, fromMap := from.(map[string]any)
	tm, toMap := to.(map[string]any)
	fl, fromList := from.([]any)
	tl, toList := to.([]any)
	switch {
	case fromMap && toMap, fromMap && to == nil && len(fm) > 0, toMap && from == nil && len(tm) > 0:
		for _, key := range jsontree.Keys(fm, tm) {
			d.field(jsontree.Join(path, key), fm[key], tm[key], n.Child(key))
		}
	case fromList && toList, fromList && to == nil && ofMaps(fl), toList && from == nil && ofMaps(tl):
		d.list(path, fl, tl, n)
	default:
		d.add(path, from, to)
	}
}
