package patch

import (
	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// pruneMap reduces the stored document to what live still has, so that the patch does not remove
// missing fields. A stored zero value stood for the server's default, so dropping it changes
// nothing; false is kept, since it is a value of its own.
func (m *merge) pruneMap(stored, live map[string]any, p fieldPath) map[string]any {
	out := make(map[string]any, len(stored))
	for k, sv := range stored {
		at := p.child(k)
		_, isBool := sv.(bool)
		if lv, ok := live[k]; ok && (isBool || !apitypes.Zero(sv, at.node)) {
			out[k] = m.prune(sv, lv, at)
		}
	}
	return out
}

func (m *merge) prune(stored, live any, p fieldPath) any {
	switch sv := stored.(type) {
	case map[string]any:
		if lv, ok := live.(map[string]any); ok {
			return m.pruneMap(sv, lv, p)
		}
	case []any:
		if lv, ok := live.([]any); ok && p.node != nil && p.node.Merges && !m.sentWhole(p) {
			return m.pruneList(sv, lv, p)
		}
	}
	return stored
}

func (m *merge) pruneList(stored, live []any, p fieldPath) []any {
	out := []any{}
	lives := jsontree.Finder(live, p.node.MergeKey)
	for _, item := range stored {
		if p.node.MergeKey == "" {
			if apitypes.Contains(live, item) {
				out = append(out, jsontree.Number(item))
			}
			continue
		}
		if lv := lives(jsontree.KeyOf(item, p.node.MergeKey)); lv != nil {
			out = append(out, m.prune(item, lv, p.item()))
		}
	}
	return out
}
