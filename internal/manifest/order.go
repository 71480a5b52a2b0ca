package manifest

// installOrder is the order of kinds in which Helm 4.3.1 sends objects.
// Kinds that are not listed come last, by name.
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

// uninstallOrder is the order in which Helm 4.3.1 removes them. It is not the
// exact reverse: HorizontalPodAutoscaler stays behind StatefulSet.
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

// less orders two kinds by ranks; unknown kinds are last, by name.
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

// InstallLess says whether kind a is sent before kind b.
func InstallLess(a, b string) bool { return less(installOrder, a, b) }

// UninstallLess says whether kind a is removed before kind b.
func UninstallLess(a, b string) bool { return less(uninstallOrder, a, b) }
