package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// Annotations that Helm reads from objects (Helm 4.3.1, pkg/release/v1/hook.go and
// pkg/kube/resource_policy.go).
const (
	HookAnnotation           = "helm.sh/hook"
	HookWeightAnnotation     = "helm.sh/hook-weight"
	HookDeleteAnnotation     = "helm.sh/hook-delete-policy"
	HookOutputLogAnnotation  = "helm.sh/hook-output-log-policy"
	ResourcePolicyAnnotation = "helm.sh/resource-policy"

	// ResourcePolicyKeep leaves an object in the cluster when the release lets go of it.
	ResourcePolicyKeep = "keep"

	// ManagedByLabel and the two annotations mark an object as belonging to a release.
	ManagedByLabel             = "app.kubernetes.io/managed-by"
	ManagedByHelm              = "Helm"
	ReleaseNameAnnotation      = "meta.helm.sh/release-name"
	ReleaseNamespaceAnnotation = "meta.helm.sh/release-namespace"
)

// Event is a moment at which a hook runs.
type Event string

const (
	PreInstall   Event = "pre-install"
	PostInstall  Event = "post-install"
	PreDelete    Event = "pre-delete"
	PostDelete   Event = "post-delete"
	PreUpgrade   Event = "pre-upgrade"
	PostUpgrade  Event = "post-upgrade"
	PreRollback  Event = "pre-rollback"
	PostRollback Event = "post-rollback"
	Test         Event = "test"
)

// parseEvent also knows Helm 2's name for the test event.
func parseEvent(s string) (Event, bool) {
	switch e := Event(s); e {
	case PreInstall, PostInstall, PreDelete, PostDelete, PreUpgrade, PostUpgrade, PreRollback, PostRollback, Test:
		return e, true
	case "test-success":
		return Test, true
	default:
		return "", false
	}
}

// Policy says when a hook's object is deleted or its log is shown.
type Policy string

const (
	HookSucceeded      Policy = "hook-succeeded"
	HookFailed         Policy = "hook-failed"
	BeforeHookCreation Policy = "before-hook-creation"
)

// Hook is an object that runs at events instead of belonging to the manifest. Its JSON
// form is that of Helm's release records.
type Hook struct {
	Name              string   `json:"name,omitempty"`
	Kind              string   `json:"kind,omitempty"`
	Path              string   `json:"path,omitempty"`
	Manifest          string   `json:"manifest,omitempty"`
	Events            []Event  `json:"events,omitempty"`
	Weight            int      `json:"weight,omitempty"`
	DeletePolicies    []Policy `json:"delete_policies,omitempty"`
	OutputLogPolicies []Policy `json:"output_log_policies,omitempty"`
}

// On reports whether the hook runs at the event.
func (h Hook) On(e Event) bool { return slices.Contains(h.Events, e) }

// Deletes reports whether the policy is among the hook's delete policies. Without any,
// Helm's default is before-hook-creation (Helm 4.3.1, pkg/action/hooks.go,
// hookSetDeletePolicy).
func (h Hook) Deletes(p Policy) bool {
	if len(h.DeletePolicies) == 0 {
		return p == BeforeHookCreation
	}
	return slices.Contains(h.DeletePolicies, p)
}

// Objects parses the hook's manifest: one object or, of a List, its items (Helm 4.3.1,
// pkg/kube/client.go, buildResourceList). Items are in install order of their kinds, since they run
// one after another.
func (h Hook) Objects() ([]Object, error) {
	objects, err := ParseDocument(h.Manifest, h.Path)
	if err != nil {
		return nil, fmt.Errorf("hook %s/%s: %w", h.Kind, h.Name, err)
	}
	sort.SliceStable(objects, func(i, j int) bool { return kinds.InstallLess(objects[i].Kind, objects[j].Kind) })
	return objects, nil
}

// Holds reports whether the object may be among the hook's: only parsing tells for a List.
func (h Hook) Holds(id ID) bool {
	return h.Name == id.Name && h.Kind == id.Kind || isList(h.Kind)
}

// CompareHooks orders hooks of one event as they run: by weight, then by name. A stable
// sort of the classified hooks keeps the install order of kinds after that.
func CompareHooks(a, b Hook) int {
	return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
}

// newHook reads the hook annotations of a document. ok is false when one of its
// events is unknown: Helm drops such an object.
func newHook(d Document, events string) (h Hook, ok bool) {
	h = Hook{Name: d.Head.Metadata.Name, Kind: d.Head.Kind, Path: d.Path, Manifest: d.Text}
	for name := range strings.SplitSeq(events, ",") {
		e, known := parseEvent(strings.ToLower(strings.TrimSpace(name)))
		if !known {
			return Hook{}, false
		}
		h.Events = append(h.Events, e)
	}
	weight, _ := d.Head.annotation(HookWeightAnnotation)
	if n, err := strconv.Atoi(weight); err == nil { // otherwise 0 (Helm 4.3.1, pkg/release/v1/util/manifest_sorter.go, calculateHookWeight)
		h.Weight = n
	}
	h.DeletePolicies = policies(d, HookDeleteAnnotation)
	h.OutputLogPolicies = policies(d, HookOutputLogAnnotation)
	return h, true
}

func policies(d Document, annotation string) []Policy {
	list, set := d.Head.annotation(annotation)
	if !set {
		return nil
	}
	var out []Policy
	for p := range strings.SplitSeq(list, ",") {
		out = append(out, Policy(strings.ToLower(strings.TrimSpace(p))))
	}
	return out
}
