package patch

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// Emptied returns JSON pointers (RFC 6901) to maps and lists of live that are empty in sent and in
// after, which is what live is to become. A server-side apply of sent replaces a map or list whose
// last entry it removes by null (structured-merge-diff v6, typed/remove.go, removingWalker). That
// is not the same, and is refused if a custom resource's schema wants a map. Fields for which the
// API server treats null as empty are left out, and so is everything in lists.
func Emptied(live, after, sent *unstructured.Unstructured) []string {
	if live == nil || after == nil || sent == nil {
		return nil
	}
	return emptied(live.Object, after.Object, sent.Object, apitypes.Of(sent.GroupVersionKind()), "")
}

func emptied(live, after, sent any, n *apitypes.Node, pointer string) []string {
	switch sv := sent.(type) {
	case map[string]any:
		lv, _ := live.(map[string]any)
		av, _ := after.(map[string]any)
		if len(sv) == 0 && len(lv) > 0 && len(av) == 0 && !n.DropsZero() {
			return []string{pointer}
		}
		var found []string
		for _, k := range jsontree.Keys(sv, nil) {
			at := pointer + "/" + pointerEscapes.Replace(k)
			found = append(found, emptied(lv[k], av[k], sv[k], n.Child(k), at)...)
		}
		return found
	case []any:
		lv, _ := live.([]any)
		av, _ := after.([]any)
		if n == nil && len(sv) == 0 && len(lv) > 0 && len(av) == 0 {
			return []string{pointer}
		}
	}
	return nil
}

var (
	pointerEscapes   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// Emptying returns the JSON patch (RFC 6902) that removes the content of the maps and lists at
// these pointers; nil if they are empty already.
func Emptying(live *unstructured.Unstructured, pointers []string) []map[string]any {
	var operations []map[string]any
	for _, pointer := range pointers {
		var value any = live.Object
		for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			m, _ := value.(map[string]any)
			value = m[pointerUnescapes.Replace(key)]
		}
		switch v := value.(type) {
		case map[string]any:
			if len(v) > 0 {
				operations = append(operations, map[string]any{"op": "replace", "path": pointer, "value": map[string]any{}})
			}
		case []any:
			if len(v) > 0 {
				operations = append(operations, map[string]any{"op": "replace", "path": pointer, "value": []any{}})
			}
		}
	}
	return operations
}
