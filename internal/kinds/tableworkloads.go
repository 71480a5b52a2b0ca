package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// workloads are what runs.
var workloads = []Kind{
	{
		GroupKind: Pod, Tiers: one(Workloads), Readiness: ByRule, RunsToItsEnd: true, InChart: true,
		Immutable: Immutable{ByRule: true},
		Details:   []Detail{{Show: Images, Path: "spec"}},
	},
	{
		GroupKind: Job, Tiers: one(Workloads), Readiness: ByRule, RunsToItsEnd: true, InChart: true,
		Immutable: Immutable{ByRule: true, Fields: []string{
			"spec.selector", "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
			"spec.managedBy", "spec.successPolicy", "spec.completionMode",
		}},
		Pods: "parallelism",
		// The name is a label of its pods.
		Naming:  Naming{Max: 63},
		Details: []Detail{{Show: Images, Path: podTemplate}},
	},
	{
		GroupKind: schema.GroupKind{Group: "batch", Kind: "CronJob"}, Tiers: one(Workloads),
		// The names of its Jobs are eleven characters longer.
		Naming: Naming{Max: 52},
		Details: []Detail{
			{Show: Value, Label: "schedule", Path: "spec.schedule"},
			{Show: Images, Path: "spec.jobTemplate.spec.template.spec"},
		},
	},
	{
		GroupKind: Deployment, Tiers: one(Workloads), Readiness: ByRule,
		Immutable: Immutable{Fields: []string{"spec.selector"}},
		Pods:      "replicas", RollsOut: true, SelectsPods: true, Details: replicasAndImages,
	},
	{
		GroupKind: StatefulSet, Tiers: one(Workloads), Readiness: ByRule, Stateful: true,
		Holds: "its volume claims and their data",
		Immutable: Immutable{Spec: true, Mutable: []string{
			"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
			"persistentVolumeClaimRetentionPolicy", "minReadySeconds",
		}},
		Pods: "replicas", RollsOut: true, SelectsPods: true,
		// The label controller-revision-hash is eleven characters longer.
		Naming:  Naming{Advised: 52},
		Details: replicasAndImages,
	},
	{
		GroupKind: DaemonSet, Tiers: one(Workloads), Readiness: ByRule,
		Immutable: Immutable{Fields: []string{"spec.selector"}},
		RollsOut:  true, SelectsPods: true, Details: replicasAndImages,
	},
	{
		GroupKind: ReplicaSet, Tiers: one(Workloads), Readiness: ByRule,
		Immutable: Immutable{Fields: []string{"spec.selector"}},
		Pods:      "replicas", SelectsPods: true, Details: replicasAndImages,
	},
	{GroupKind: ReplicationController, Tiers: one(Workloads), Readiness: ByRule, Pods: "replicas"},
	{
		GroupKind: HorizontalPodAutoscaler, Tiers: one(Workloads),
		Details: []Detail{
			{Show: Value, Label: "min", Path: "spec.minReplicas"},
			{Show: Value, Label: "max", Path: "spec.maxReplicas"},
		},
	},
}

// legacy are kinds that are no longer served in these groups.
var legacy = []Kind{
	{GroupKind: schema.GroupKind{Group: "extensions", Kind: "Deployment"}, Readiness: ByRule},
	{GroupKind: schema.GroupKind{Group: "extensions", Kind: "DaemonSet"}, Readiness: ByRule},
	{GroupKind: schema.GroupKind{Group: "extensions", Kind: "ReplicaSet"}, Readiness: ByRule},
	{GroupKind: schema.GroupKind{Group: "policy", Kind: "PodSecurityPolicy"}, Tiers: one(Inputs), ClusterScoped: true},
}
