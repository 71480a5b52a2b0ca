package patch

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// merge is the state of one three-way merge. Its documents are canonical copies.
type merge struct {
	gvk                  schema.GroupVersionKind
	root                 *apitypes.Node
	stored, live, target map[string]any
	// hasStored says that there is a stored document.
	hasStored bool
	// whole are the lists that strategic merge can't match item by item, by their field path; they
	// are merged here and sent whole.
	whole map[string]bool
	// allWhole sends every list whole, since JSON merge has no merge keys.
	allWhole bool
}

func newMerge(stored, live, target *unstructured.Unstructured) *merge {
	gvk := target.GroupVersionKind()
	m := &merge{
		gvk:       gvk,
		root:      apitypes.Of(gvk),
		stored:    prepare(stored),
		live:      prepare(live),
		target:    prepare(target),
		hasStored: stored != nil,
	}
	m.stored = withRivals(m.stored, m.live, m.target, m.root)
	m.whole = map[string]bool{}
	for _, doc := range []map[string]any{m.stored, m.live, m.target} {
		var f finder
		for _, d := range f.in(doc, m.root) {
			m.whole[d.field] = true
		}
		for _, field := range f.long {
			m.whole[field] = true
		}
	}
	return m
}

func (m *merge) patch() (Patch, error) {
	if _, ok := apitypes.Strategic(m.gvk); ok {
		if p, ok := m.strategic(); ok {
			return p, nil
		}
		// Free-form JSON in a built-in kind can't be merged strategically. A JSON merge patch has
		// the same effect if lists are sent whole.
	}
	m.allWhole = true
	target := m.normalized()
	return m.checked(types.MergePatchType, jsonMergePatch(m.prunedStored(), m.live, target))
}

func (m *merge) normalized() map[string]any {
	return m.normalizeMap(m.target, m.live, m.stored, fieldPath{node: m.root})
}

func (m *merge) prunedStored() map[string]any {
	return m.pruneMap(m.stored, m.live, fieldPath{node: m.root})
}

// checked returns an empty patch if the patch would change nothing.
func (m *merge) checked(kind types.PatchType, body map[string]any) (Patch, error) {
	after, err := applyBody(m.gvk, shallowCopy(m.live, body), kind, jsontree.Copy(body).(map[string]any))
	if err != nil {
		return Patch{}, err
	}
	if jsontree.Same(after, m.live) {
		return Patch{Type: kind}, nil
	}
	return encode(kind, body)
}

// fieldPath is the position of a merge in a document: the field's type, and its path without list
// items ("spec.containers.ports").
type fieldPath struct {
	node  *apitypes.Node
	field string
}

func (p fieldPath) child(key string) fieldPath {
	if p.field == "" {
		return fieldPath{node: p.node.Child(key), field: key}
	}
	return fieldPath{node: p.node.Child(key), field: p.field + "." + key}
}

func (p fieldPath) item() fieldPath { return fieldPath{node: p.node.Item(), field: p.field} }

func (m *merge) sentWhole(p fieldPath) bool { return m.allWhole || m.whole[p.field] }

// normalizeMap normalises target to live: values that mean the same are replaced by live's, and
// fields that the API server would drop are dropped.
func (m *merge) normalizeMap(target, live, stored map[string]any, p fieldPath) map[string]any {
	out := make(map[string]any, len(target))
	for k, tv := range target {
		at := p.child(k)
		lv, inLive := live[k]
		sv, inStored := stored[k]
		if !apitypes.Zero(tv, at.node) {
			out[k] = m.normalize(tv, lv, sv, at)
			continue
		}
		switch {
		case !inLive:
		case apitypes.Zero(lv, at.node):
			out[k] = lv
		case m.keepsZero(tv, at, inStored):
			out[k] = tv
		}
	}
	return out
}

// keepsZero reports whether a zero value takes part in the merge against a non-zero live value. It
// does not if the API server replaces it by a default, which live may have. False does, since no plain
// boolean defaults to true, and so do empty lists and maps. An explicit null
// removes the live value when it is new in target; later it stands for the default.
func (m *merge) keepsZero(v any, p fieldPath, inStored bool) bool {
	switch v.(type) {
	case nil:
		return m.hasStored && !inStored
	case bool, map[string]any:
		return true
	case []any:
		return !allocated(p.field) && (m.hasStored || !p.node.Keyed())
	}
	return p.node.ZeroIsDefault()
}

// allocated reports whether the field is a list of a Service that the API server fills in.
func allocated(field string) bool {
	return field == "spec.clusterIPs" || field == "spec.ipFamilies"
}

func (m *merge) normalize(target, live, stored any, p fieldPath) any {
	switch tv := target.(type) {
	case map[string]any:
		if p.node.Is(apitypes.FormStruct) && p.node.Replaces && apitypes.CoversAtomic(live, tv, p.node) {
			return live
		}
		lv, _ := live.(map[string]any)
		sv, _ := stored.(map[string]any)
		return m.normalizeMap(tv, lv, sv, p)
	case []any:
		lv, _ := live.([]any)
		sv, _ := stored.([]any)
		return m.normalizeList(tv, lv, sv, p)
	}
	if apitypes.Equal(target, live, p.node) {
		return live
	}
	return target
}
