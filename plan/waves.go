package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// installTiers cut Helm's install order into waves: kinds of one tier do not
// need each other, kinds of a later one may need those before. Kinds that are
// not listed come last.
var installTiers = [][]string{
	{"PriorityClass", "Namespace"},
	{"NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy", "PodDisruptionBudget", "ServiceAccount", "Secret", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "Service"},
	{"CustomResourceDefinition"},
	{"ClusterRole", "Role"},
	{"ClusterRoleBinding", "RoleBinding"},
	{"DaemonSet", "Pod", "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob"},
	{"IngressClass"},
	{"Ingress", "APIService"},
	{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"},
}

// uninstallTiers cut Helm's uninstall order. Services and what is behind them go
// in one tier: nobody waits for the one to be gone before the other is deleted.
var uninstallTiers = [][]string{
	{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"},
	{"APIService", "Ingress", "IngressClass", "Service", "CronJob", "Job", "StatefulSet", "HorizontalPodAutoscaler", "Deployment", "ReplicaSet", "ReplicationController", "Pod", "DaemonSet"},
	{"RoleBinding", "ClusterRoleBinding"},
	{"Role", "ClusterRole"},
	{"CustomResourceDefinition"},
	{"PersistentVolumeClaim", "PersistentVolume", "StorageClass", "ConfigMap", "Secret", "ServiceAccount", "PodDisruptionBudget", "PodSecurityPolicy", "LimitRange", "ResourceQuota", "NetworkPolicy"},
	{"Namespace", "PriorityClass"},
}

func tier(tiers [][]string, kind string) int {
	for i, kinds := range tiers {
		if slices.Contains(kinds, kind) {
			return i
		}
	}
	return len(tiers)
}

// waves groups steps by tier and keeps Helm's order of kinds within each wave.
// Empty waves do not appear.
func waves(steps []Step, tiers [][]string, less func(a, b string) bool) []Wave {
	byTier := make([][]Step, len(tiers)+1)
	for _, s := range steps {
		t := tier(tiers, s.Object.Kind)
		byTier[t] = append(byTier[t], s)
	}
	var out []Wave
	for _, group := range byTier {
		if len(group) == 0 {
			continue
		}
		slices.SortStableFunc(group, func(a, b Step) int {
			switch {
			case less(a.Object.Kind, b.Object.Kind):
				return -1
			case less(b.Object.Kind, a.Object.Kind):
				return 1
			default:
				return 0
			}
		})
		out = append(out, Wave{Steps: group})
	}
	return out
}

func installWaves(steps []Step) []Wave {
	return waves(steps, installTiers, manifest.InstallLess)
}

func uninstallWaves(steps []Step) []Wave {
	return waves(steps, uninstallTiers, manifest.UninstallLess)
}

// oneByOne gives every step a wave of its own.
func oneByOne(steps []Step) []Wave {
	out := make([]Wave, len(steps))
	for i, s := range steps {
		out[i] = Wave{Steps: []Step{s}}
	}
	return out
}
