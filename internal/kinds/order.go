package kinds

// installOrder is the order of kinds in which Helm 4.3.1 sends objects: InstallOrder in
// https://github.com/helm/helm/blob/v4.3.1/pkg/release/v1/util/kind_sorter.go.
var installOrder = rank([]string{
	"PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange",
	"PodSecurityPolicy", "PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList",
	"ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
	"CustomResourceDefinition", "ClusterRole", "ClusterRoleList", "ClusterRoleBinding",
	"ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service",
	"DaemonSet", "Pod", "ReplicationController", "ReplicaSet", "Deployment",
	"HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob", "IngressClass", "Ingress",
	"APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
})

// uninstallOrder is the order in which Helm 4.3.1 removes them: UninstallOrder in the
// same file. It is not the exact reverse: Service comes before the workloads.
var uninstallOrder = rank([]string{
	"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService", "Ingress",
	"IngressClass", "Service", "CronJob", "Job", "StatefulSet", "HorizontalPodAutoscaler",
	"Deployment", "ReplicaSet", "ReplicationController", "Pod", "DaemonSet", "RoleBindingList",
	"RoleBinding", "RoleList", "Role", "ClusterRoleBindingList", "ClusterRoleBinding",
	"ClusterRoleList", "ClusterRole", "CustomResourceDefinition", "PersistentVolumeClaim",
	"PersistentVolume", "StorageClass", "ConfigMap", "SecretList", "Secret", "ServiceAccount",
	"PodDisruptionBudget", "PodSecurityPolicy", "LimitRange", "ResourceQuota", "NetworkPolicy",
	"Namespace", "PriorityClass",
})

func rank(kinds []string) map[string]int {
	ranks := make(map[string]int, len(kinds))
	for i, k := range kinds {
		ranks[k] = i
	}
	return ranks
}

// less reports whether a comes before b by rank; unknown kinds are last, by name.
func less(ranks map[string]int, a, b string) bool {
	ra, knownA := ranks[a]
	rb, knownB := ranks[b]
	switch {
	case knownA && knownB:
		return ra < rb
	case knownA != knownB:
		return knownA
	default:
		return a < b
	}
}

// InstallLess reports whether kind a is sent before kind b. Groups don't count: Helm
// knows kinds by name alone (lessByKind in the same file).
func InstallLess(a, b string) bool { return less(installOrder, a, b) }

// UninstallLess reports whether kind a is removed before kind b.
func UninstallLess(a, b string) bool { return less(uninstallOrder, a, b) }

// Tier is a group of kinds that do not need each other. When a tier is installed, the
// tiers below it exist; it is gone by the time they are removed.
type Tier int

const (
	// NoTier is for kinds that are in neither of Helm's orders, except for RuntimeClass, which Pods need: they come
	// last.
	NoTier Tier = iota
	// Foundations: what objects are put into.
	Foundations
	// Inputs: what workloads read, mount and talk to.
	Inputs
	// Definitions: what defines kinds.
	Definitions
	// Roles and Bindings: who may do what.
	Roles
	Bindings
	// Workloads: what runs.
	Workloads
	// Classes: what routes refer to.
	Classes
	// Routes: what leads to workloads from outside.
	Routes
	// Webhooks: what may refuse any other object.
	Webhooks
	afterWebhooks
)

// Tiers cut Helm's two orders into waves. They are not the reverse of each other: a
// Service can be created without its workloads, but it is removed with them.
type Tiers struct{ install, uninstall Tier }

// one returns the tiers of a kind that is removed in the reverse of the order in which
// it is sent.
func one(t Tier) Tiers { return Tiers{t, t} }

// withWorkloads returns the tiers of a kind that is removed in one tier with what it
// leads to: neither waits until the other is gone.
func withWorkloads(t Tier) Tiers { return Tiers{t, Workloads} }

// Waves is the number of waves: Tiers give numbers from 0 to Waves-1.
const Waves = int(afterWebhooks) + 1

// Install returns the number of the wave in which objects of the kind are sent.
func (t Tiers) Install() int {
	if t.install == NoTier {
		return int(afterWebhooks)
	}
	return int(t.install)
}

// Uninstall returns the number of the wave in which they are removed.
func (t Tiers) Uninstall() int {
	if t.uninstall == NoTier {
		return int(afterWebhooks)
	}
	return int(afterWebhooks - t.uninstall)
}
