package patch

import "github.com/kubectl-release/kubectl-release/internal/jsontree"

// jsonMergePatch returns the RFC 7386 patch that sets in live what target says and removes what
// stored had and target dropped. Helm 4.3.1 compares only stored and target (pkg/kube/client.go,
// createPatch), and so does not correct drift in custom resources.
func jsonMergePatch(stored, live, target map[string]any) map[string]any {
	out := map[string]any{}
	for k, tv := range target {
		lv, inLive := live[k]
		tm, isMap := tv.(map[string]any)
		lm, liveMap := lv.(map[string]any)
		switch {
		case isMap && liveMap:
			sm, _ := stored[k].(map[string]any)
			if sub := jsonMergePatch(sm, lm, tm); len(sub) > 0 {
				out[k] = sub
			}
		case !inLive && tv == nil:
		case !inLive || !jsontree.Same(lv, tv):
			out[k] = tv
		}
	}
	for k := range stored {
		_, wanted := target[k]
		if _, inLive := live[k]; inLive && !wanted {
			out[k] = nil
		}
	}
	return out
}

// applyJSONMerge applies an RFC 7386 patch to doc, which it may change.
func applyJSONMerge(doc, patch any) any {
	body, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, ok := doc.(map[string]any)
	if !ok {
		out = map[string]any{}
	}
	for k, v := range body {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = applyJSONMerge(out[k], v)
	}
	return out
}
