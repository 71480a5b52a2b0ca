package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// core are the core group's kinds other than those for workloads, network and storage.
var core = []Kind{
	{
		GroupKind: Namespace, Tiers: one(Foundations), ClusterScoped: true,
		Holds: "everything in it", Naming: Naming{Form: Label},
	},
	{
		GroupKind: ConfigMap, Tiers: one(Inputs), Readiness: AtOnce, InChart: true,
		Immutable: Immutable{Sealed: []string{"data", "binaryData"}},
		Details:   []Detail{{Show: DataKeys}},
	},
	{
		GroupKind: Secret, Tiers: one(Inputs), Readiness: AtOnce, InChart: true,
		Immutable: Immutable{Fields: []string{"type"}, Sealed: []string{"data"}},
		Details:   []Detail{{Show: DataKeys}},
	},
	{GroupKind: ServiceAccount, Tiers: one(Inputs), Readiness: AtOnce, InChart: true},
	{GroupKind: ResourceQuota, Tiers: one(Inputs), Readiness: AtOnce},
	{GroupKind: LimitRange, Tiers: one(Inputs), Readiness: AtOnce},
	{GroupKind: schema.GroupKind{Kind: "Node"}, ClusterScoped: true},
	{GroupKind: schema.GroupKind{Kind: "ComponentStatus"}, ClusterScoped: true},
}

// definitions are the kinds that bring kinds.
var definitions = []Kind{
	{
		GroupKind: CustomResourceDefinition, Tiers: one(Definitions), Readiness: ByRule, NamesAPI: true,
		Holds:     "every object of its kind",
		Immutable: Immutable{Fields: []string{"spec.group", "spec.scope", "spec.names.plural", "spec.names.kind"}},
		Details: []Detail{
			{Show: Value, Path: "spec.names.kind"},
			{Show: Names, Label: "versions", Path: "spec.versions", Key: "name"},
		},
	},
	{GroupKind: APIService, Tiers: withWorkloads(Routes), Readiness: ByRule, NamesAPI: true},
}

const rbac = "rbac.authorization.k8s.io"

var (
	role    = []Detail{{Show: Rules, Path: "rules"}}
	binding = []Detail{{Show: Reference, Path: "roleRef"}, {Show: Names, Label: "for", Path: "subjects", Key: "name"}}
)

// access are the kinds that say who may do what, and what is refused to everybody.
var access = []Kind{
	{
		GroupKind: ClusterRole, Tiers: one(Roles), ClusterScoped: true,
		Readiness: AtOnce, InChart: true, Naming: Naming{Form: PathSegment}, Details: role,
	},
	{
		GroupKind: Role, Tiers: one(Roles),
		Readiness: AtOnce, InChart: true, Naming: Naming{Form: PathSegment}, Details: role,
	},
	{
		GroupKind: ClusterRoleBinding, Tiers: one(Bindings), ClusterScoped: true,
		Readiness: AtOnce, InChart: true, Naming: Naming{Form: PathSegment}, Details: binding,
		Immutable: Immutable{Fields: []string{"roleRef"}},
	},
	{
		GroupKind: RoleBinding, Tiers: one(Bindings),
		Readiness: AtOnce, InChart: true, Naming: Naming{Form: PathSegment}, Details: binding,
		Immutable: Immutable{Fields: []string{"roleRef"}},
	},
	{GroupKind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}, Tiers: one(Webhooks), Readiness: AtOnce},
	{GroupKind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}, Tiers: one(Webhooks), Readiness: AtOnce},
	{
		GroupKind:     schema.GroupKind{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"},
		ClusterScoped: true, Naming: Naming{Form: AnyName},
	},
}
