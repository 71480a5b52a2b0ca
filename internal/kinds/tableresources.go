package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// network are the kinds that route traffic to pods, or keep it from them.
var network = []Kind{
	{
		GroupKind: Service, Tiers: withWorkloads(Inputs), Readiness: ByRule,
		Immutable: Immutable{ByRule: true}, Naming: Naming{Form: Label},
		Details: []Detail{{Show: Value, Path: "spec.type"}, {Show: Ports, Path: "spec.ports"}},
	},
	{
		GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}, Tiers: withWorkloads(Routes),
		Details: []Detail{{Show: Names, Label: "host", Path: "spec.rules", Key: "host"}},
	},
	{
		GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}, Tiers: withWorkloads(Classes), ClusterScoped: true,
		Readiness: AtOnce, Immutable: Immutable{Fields: []string{"spec.controller"}},
	},
	{GroupKind: NetworkPolicy, Tiers: one(Inputs), Readiness: AtOnce},
	{GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "IPAddress"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "ServiceCIDR"}, ClusterScoped: true},
}

// storage is where data is, and how it gets there.
var storage = []Kind{
	{
		GroupKind: PersistentVolumeClaim, Tiers: one(Inputs), Readiness: ByRule, Stateful: true,
		Holds: "the data of its volume (unless that has the reclaim policy Retain)", Immutable: Immutable{ByRule: true},
		Details: []Detail{
			{Show: Value, Path: "spec.resources.requests.storage"},
			{Show: Value, Label: "class", Path: "spec.storageClassName"},
		},
	},
	{
		GroupKind: PersistentVolume, Tiers: one(Inputs), ClusterScoped: true, Stateful: true,
		Holds: "the data of its volume",
		// All but the administrative fields say where the data lives.
		Immutable: Immutable{Spec: true, Mutable: []string{
			"capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName",
			"mountOptions", "nodeAffinity", "volumeAttributesClassName",
		}},
	},
	{
		GroupKind: StorageClass, Tiers: one(Inputs), ClusterScoped: true, Readiness: AtOnce,
		Immutable: Immutable{Fields: []string{"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"}},
	},
	{
		GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "CSIDriver"}, ClusterScoped: true,
		Immutable: Immutable{Fields: []string{"spec.attachRequired", "spec.volumeLifecycleModes"}},
	},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "CSINode"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttachment"}, ClusterScoped: true, Immutable: Immutable{Spec: true}},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}, ClusterScoped: true},
}

// policies say how pods are placed, run and kept running.
var policies = []Kind{
	{
		GroupKind: PodDisruptionBudget, Tiers: one(Inputs),
		Details: []Detail{
			{Show: Value, Label: "minAvailable", Path: "spec.minAvailable"},
			{Show: Value, Label: "maxUnavailable", Path: "spec.maxUnavailable"},
		},
	},
	{
		GroupKind: PriorityClass, Tiers: one(Foundations), ClusterScoped: true,
		Readiness: AtOnce, Immutable: Immutable{Fields: []string{"value", "preemptionPolicy"}},
	},
	{
		GroupKind: RuntimeClass, Tiers: one(Inputs), ClusterScoped: true,
		Immutable: Immutable{Fields: []string{"handler"}},
	},
}

// others are kinds of which only the scope is known.
var others = []Kind{
	{GroupKind: MutatingAdmissionPolicy, ClusterScoped: true},
	{GroupKind: MutatingAdmissionPolicyBinding, ClusterScoped: true},
	{GroupKind: ValidatingAdmissionPolicy, ClusterScoped: true},
	{GroupKind: ValidatingAdmissionPolicyBinding, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "authentication.k8s.io", Kind: "SelfSubjectReview"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "authentication.k8s.io", Kind: "TokenReview"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "authorization.k8s.io", Kind: "SelfSubjectAccessReview"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "authorization.k8s.io", Kind: "SelfSubjectRulesReview"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "authorization.k8s.io", Kind: "SubjectAccessReview"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceClass"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourcePoolStatusRequest"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"}, ClusterScoped: true},
}
