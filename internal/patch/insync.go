package patch

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// InSync reports whether the three documents agree: live has everything in target, and stored has
// nothing that target dropped. Then ThreeWay would return an empty patch, and the API server need
// not be asked. In doubtful cases it returns false. It copies nothing but Secrets with stringData,
// and is fast enough for thousands of objects.
func InSync(stored, live, target *unstructured.Unstructured) bool {
	if stored == nil || live == nil || target == nil {
		return false
	}
	version := target.GetAPIVersion()
	if stored.GetAPIVersion() != version || live.GetAPIVersion() != version {
		return false
	}
	root := apitypes.Of(target.GroupVersionKind())
	s, t := serverfields.WithoutStringData(stored).Object, serverfields.WithoutStringData(target).Object
	return inSyncDocs(s, live.Object, t, root) && (stored == target || !addsNull(s, t))
}

// addsNull reports whether target has a null where stored has nothing: it removes the field from
// live.
func addsNull(stored, target any) bool {
	switch tv := target.(type) {
	case map[string]any:
		sv, _ := stored.(map[string]any)
		for k, v := range tv {
			if was, ok := sv[k]; v == nil && !ok || addsNull(was, v) {
				return true
			}
		}
	case []any:
		sv, _ := stored.([]any)
		for i, v := range tv {
			if i >= len(sv) || addsNull(sv[i], v) {
				return true
			}
		}
	}
	return false
}

func inSyncDocs(stored, live, target map[string]any, root *apitypes.Node) bool {
	for k, tv := range target {
		if serverfields.IsExcluded(k) {
			continue
		}
		n, lv, sv := root.Child(k), live[k], stored[k]
		if k == "metadata" {
			if !inSyncMetadata(sv, lv, tv, n) {
				return false
			}
			continue
		}
		if !apitypes.Equal(sv, tv, n) || !apitypes.Covers(lv, tv, n) {
			return false
		}
	}
	for k, sv := range stored {
		if _, ok := target[k]; !ok && !serverfields.IsExcluded(k) && !apitypes.Zero(sv, root.Child(k)) {
			return false
		}
	}
	return true
}

func inSyncMetadata(stored, live, target any, n *apitypes.Node) bool {
	sv, _ := stored.(map[string]any)
	lv, isLive := live.(map[string]any)
	tv, isTarget := target.(map[string]any)
	if !isLive || !isTarget {
		return false
	}
	for k, v := range tv {
		if !serverfields.Assigned(k) && (!apitypes.Equal(sv[k], v, n.Child(k)) || !apitypes.Covers(lv[k], v, n.Child(k))) {
			return false
		}
	}
	for k, v := range sv {
		if _, ok := tv[k]; !ok && !serverfields.Assigned(k) && !apitypes.Zero(v, n.Child(k)) {
			return false
		}
	}
	return true
}
