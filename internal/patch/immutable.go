package patch

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ImmutableField is a field that can't be changed on a live object.
type ImmutableField struct {
	Path string `json:"path"`
	// Why is one plain sentence: "spec.selector is immutable".
	Why string `json:"why"`
}

// Immutable predicts which of target's fields the API server will refuse to
// change on live (rules of Kubernetes 1.36's validation). It is for plans
// without a server dry run. Only fields that target sets are looked at, since
// what it leaves out may be a default; kinds that are not built in have none.
func Immutable(live, target *unstructured.Unstructured) []ImmutableField {
	if live == nil || target == nil {
		return nil
	}
	gvk := target.GroupVersionKind()
	if live.GroupVersionKind().GroupKind() != gvk.GroupKind() {
		return nil
	}
	c := immutables{
		live:   live.Object,
		target: merged(target),
		root:   builtin().kind(gvk),
	}
	for _, rule := range immutableRules(gvk.Group, gvk.Kind) {
		rule(&c)
	}
	return c.found
}

type immutables struct {
	live, target map[string]any
	root         *node
	found        []ImmutableField
}

func (c *immutables) refuse(path, why string) {
	c.found = append(c.found, ImmutableField{Path: path, Why: why})
}

// rule looks for changes of one kind of immutable field.
type rule func(*immutables)

// immutableRules is the dispatch table. Groups matter: a Job of another group
// is not Kubernetes' own.
func immutableRules(group, kind string) []rule {
	switch group + "/" + kind {
	case "apps/Deployment", "apps/DaemonSet", "apps/ReplicaSet":
		return []rule{fixed("spec.selector")}
	case "apps/StatefulSet":
		return []rule{allBut("spec", "replicas", "ordinals", "template", "updateStrategy",
			"revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds")}
	case "batch/Job":
		return []rule{fixed("spec.completions", "spec.selector", "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
			"spec.managedBy", "spec.successPolicy", "spec.completionMode", "spec.podReplacementPolicy"), jobTemplate}
	case "/Service":
		return []rule{clusterIP}
	case "/PersistentVolumeClaim":
		return []rule{claim}
	case "/PersistentVolume":
		return []rule{volumeSource}
	case "/ConfigMap":
		return []rule{sealed("data", "binaryData")}
	case "/Secret":
		return []rule{fixed("type"), sealed("data")}
	case "rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRoleBinding":
		return []rule{fixed("roleRef")}
	case "storage.k8s.io/StorageClass":
		return []rule{fixed("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode")}
	case "storage.k8s.io/CSIDriver":
		return []rule{fixed("spec.attachRequired", "spec.volumeLifecycleModes")}
	case "storage.k8s.io/VolumeAttachment":
		return []rule{allBut("spec")}
	case "networking.k8s.io/IngressClass":
		return []rule{fixed("spec.controller")}
	case "scheduling.k8s.io/PriorityClass":
		return []rule{fixed("value", "preemptionPolicy")}
	case "node.k8s.io/RuntimeClass":
		return []rule{fixed("handler")}
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return []rule{fixed("spec.group", "spec.scope", "spec.names.plural", "spec.names.kind")}
	case "/Pod":
		return []rule{podSpec}
	}
	return nil
}

// at looks up a dotted path in both documents.
func (c *immutables) at(path string) (live, target any, n *node, given bool) {
	live, target, n = c.live, c.target, c.root
	for key := range strings.SplitSeq(path, ".") {
		lm, _ := live.(map[string]any)
		tm, ok := target.(map[string]any)
		if !ok {
			return nil, nil, nil, false
		}
		n = n.child(key)
		live = lm[key]
		if target, given = tm[key]; !given {
			return nil, nil, nil, false
		}
	}
	return live, target, n, target != nil && !zero(target, n)
}

func (c *immutables) differs(path string) bool {
	live, target, n, given := c.at(path)
	return given && !covers(live, target, n)
}

// fixed fields can't change once the object exists.
func fixed(paths ...string) rule {
	return func(c *immutables) {
		for _, path := range paths {
			if c.differs(path) || exactlyMatched(path) && c.shrinks(path) {
				c.refuse(path, path+" is immutable")
			}
		}
	}
}

// exactlyMatched says that the server adds nothing to the field by itself, so
// that leaving a part of it out is a change, too.
func exactlyMatched(path string) bool {
	switch path {
	case "spec.selector", "parameters":
		return true
	}
	return false
}

func (c *immutables) shrinks(path string) bool {
	live, target, n, given := c.at(path)
	return given && !equal(live, target, n)
}

// allBut says that of an object's fields only some can change.
func allBut(path string, mutable ...string) rule {
	return func(c *immutables) {
		_, target, _, given := c.at(path)
		fields, ok := target.(map[string]any)
		if !given || !ok {
			return
		}
		for _, key := range keysOf(fields, nil) {
			field := path + "." + key
			if !contains(anys(mutable), key) && c.differs(field) {
				c.refuse(field, field+" is immutable")
			}
		}
	}
}
