package patch

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
)

// InApplyOrder orders the items of a merged object's lists as a server-side apply of sent leaves
// them: in the order of sent, with items that only live has in their old places
// (structured-merge-diff v6, typed/merge.go, visitListItems). A strategic merge patch orders them
// differently, and for the variables of a container the order matters. Lists of kinds that are not
// built in stay as they are. merged is not changed.
func InApplyOrder(merged, live, sent *unstructured.Unstructured) *unstructured.Unstructured {
	root := apitypes.Of(sent.GroupVersionKind())
	ordered, _ := inOrder(merged.Object, live.Object, sent.Object, root).(map[string]any)
	return &unstructured.Unstructured{Object: ordered}
}

func inOrder(merged, live, sent any, n *apitypes.Node) any {
	switch merged := merged.(type) {
	case map[string]any:
		lv, _ := live.(map[string]any)
		sv, ok := sent.(map[string]any)
		if !ok || n == nil {
			return merged
		}
		out := make(map[string]any, len(merged))
		for k, v := range merged {
			out[k] = inOrder(v, lv[k], sv[k], n.Child(k))
		}
		return out
	case []any:
		lv, _ := live.([]any)
		sv, ok := sent.([]any)
		if !ok || n == nil || !n.Merges {
			return merged
		}
		return itemsInOrder(merged, lv, sv, n)
	}
	return merged
}

func itemsInOrder(merged, live, sent []any, n *apitypes.Node) []any {
	mergedByID, liveByID, sentByID := named(merged, n), named(live, n), named(sent, n)
	out := make([]any, 0, len(merged))
	for _, id := range applyOrder(namesOf(live, n), namesOf(sent, n)) {
		if item, ok := mergedByID[id]; ok {
			out = append(out, inOrder(item, liveByID[id], sentByID[id], n.Item()))
			delete(mergedByID, id)
		}
	}
	for _, id := range namesOf(merged, n) {
		if item, ok := mergedByID[id]; ok {
			out = append(out, item)
		}
	}
	return out
}

// namesOf returns the identities of the items of a list, or of a set of scalars.
func namesOf(list []any, n *apitypes.Node) []string {
	names := make([]string, len(list))
	seen := map[string]int{}
	for i, item := range list {
		if n.Keyed() {
			names[i] = nextIdentity(item, n.MergeKey, seen)
		} else {
			names[i] = fmt.Sprint(item)
		}
	}
	return names
}

func named(list []any, n *apitypes.Node) map[string]any {
	out := make(map[string]any, len(list))
	for i, name := range namesOf(list, n) {
		out[name] = list[i]
	}
	return out
}

// applyOrder merges two lists of names, in each of which names are unique.
func applyOrder(live, sent []string) []string {
	inLive, inSent := set(live), set(sent)
	shared := slices.DeleteFunc(slices.Clone(sent), func(name string) bool { return !inLive[name] })
	placed := map[string]bool{}
	out := make([]string, 0, len(live)+len(sent))
	place := func(name string) {
		out = append(out, name)
		placed[name] = true
		if len(shared) > 0 && shared[0] == name {
			shared = shared[1:]
		}
	}
	for len(live) > 0 || len(sent) > 0 {
		if len(live) > 0 {
			name := live[0]
			switch {
			case !inSent[name] && !placed[name]: // only live has it
				place(name)
				live = live[1:]
				continue
			case len(sent) > 0 && len(shared) > 0 && shared[0] != name: // it comes later in sent
				live = live[1:]
				continue
			case placed[name], len(sent) > 0 && sent[0] == name:
				live = live[1:]
			}
		}
		if len(sent) > 0 {
			place(sent[0])
			sent = sent[1:]
		}
	}
	return out
}

func set(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}
