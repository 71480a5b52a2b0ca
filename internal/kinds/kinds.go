// Package kinds is the table of what we know about Kubernetes kinds: order and tier,
// scope, whether an object runs to completion or holds data, which fields are
// immutable, how it becomes ready, what its name may be, and what a report says about
// it. It also reads what a CustomResourceDefinition says about the kind that it
// defines.
//
// It holds facts and decides nothing. Rules that need code are in the packages that
// apply them (internal/readiness, internal/immutable), whose tests check them against
// this table.
package kinds

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds that code refers to. Objects are matched against them by group and kind: a
// Secret or CustomResourceDefinition of another group is a custom resource.
var (
	APIService                       = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	ClusterRole                      = schema.GroupKind{Group: rbac, Kind: "ClusterRole"}
	ClusterRoleBinding               = schema.GroupKind{Group: rbac, Kind: "ClusterRoleBinding"}
	ConfigMap                        = schema.GroupKind{Kind: "ConfigMap"}
	CustomResourceDefinition         = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	DaemonSet                        = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	Deployment                       = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	HorizontalPodAutoscaler          = schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}
	Job                              = schema.GroupKind{Group: "batch", Kind: "Job"}
	Lease                            = schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}
	LimitRange                       = schema.GroupKind{Kind: "LimitRange"}
	MutatingAdmissionPolicy          = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}
	MutatingAdmissionPolicyBinding   = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}
	Namespace                        = schema.GroupKind{Kind: "Namespace"}
	NetworkPolicy                    = schema.GroupKind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
	PersistentVolume                 = schema.GroupKind{Kind: "PersistentVolume"}
	PersistentVolumeClaim            = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	Pod                              = schema.GroupKind{Kind: "Pod"}
	PodDisruptionBudget              = schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}
	PriorityClass                    = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	ReplicaSet                       = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	ReplicationController            = schema.GroupKind{Kind: "ReplicationController"}
	ResourceQuota                    = schema.GroupKind{Kind: "ResourceQuota"}
	Role                             = schema.GroupKind{Group: rbac, Kind: "Role"}
	RoleBinding                      = schema.GroupKind{Group: rbac, Kind: "RoleBinding"}
	RuntimeClass                     = schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}
	Secret                           = schema.GroupKind{Kind: "Secret"}
	ServiceAccount                   = schema.GroupKind{Kind: "ServiceAccount"}
	Service                          = schema.GroupKind{Kind: "Service"}
	StatefulSet                      = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	StorageClass                     = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	ValidatingAdmissionPolicy        = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}
	ValidatingAdmissionPolicyBinding = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}
)

// Kind is what is known about one kind. Its zero values apply to kinds about which
// nothing is known.
type Kind struct {
	schema.GroupKind
	// Tiers are when it is installed and removed with a release.
	Tiers Tiers
	// ClusterScoped: its objects are in no namespace, though those of other kinds in
	// its group may be. Scope also knows whole groups.
	ClusterScoped bool
	// Readiness is how to tell that an object is ready.
	Readiness Readiness
	// RunsToItsEnd: its objects run to completion.
	RunsToItsEnd bool
	// Holds is what else is lost when an object is deleted: "the data of its volume".
	// It is empty where nothing is.
	Holds string
	// Stateful: data may depend on an object's spec, so a change to it deserves a look.
	Stateful bool
	// InChart: everything an object holds comes from the chart, so nothing is lost when
	// it is deleted and created again.
	InChart bool
	// NamesAPI: the object's name is that of an API, so it can't be tried out under
	// another one.
	NamesAPI bool
	// Immutable are the fields that can't be changed.
	Immutable Immutable
	// Pods is the field of spec that says how many pods of spec.template there are, ""
	// where there is none.
	Pods string
	// RollsOut: it replaces its pods on its own when spec.template changes.
	RollsOut bool
	// SelectsPods: spec.selector has to match the pods of spec.template.
	SelectsPods bool
	// Naming is what the names of its objects have to look like.
	Naming Naming
	// Details say in a few words what an object is.
	Details []Detail
}

// Readiness says how to tell whether an object is ready.
type Readiness string

const (
	// ByConvention: by the conventions that kstatus knows.
	ByConvention Readiness = ""
	// AtOnce: it is ready as soon as it exists, and nothing waits for it.
	AtOnce Readiness = "at once"
	// ByRule: internal/readiness has a function for the kind.
	ByRule Readiness = "by rule"
)

// Immutable is what the Validate…Update function of a kind refuses to change
// (https://github.com/kubernetes/kubernetes/tree/v1.36.3/pkg/apis, in
// GROUP/validation/validation.go). Paths have dots.
type Immutable struct {
	// Fields can't change once the object exists.
	Fields []string
	// Spec: nothing in spec can change but Mutable, the names of fields in it.
	Spec    bool
	Mutable []string
	// Sealed can't change once the object says immutable: true.
	Sealed []string
	// ByRule: internal/immutable has a function for the kind, too.
	ByRule bool
}

// Of returns what is known about one of Kubernetes' own kinds; for others, the zero values.
func Of(gk schema.GroupKind) Kind {
	if k, ok := byGroupKind[gk]; ok {
		return k
	}
	return Kind{GroupKind: gk}
}

// Known reports whether a kind is one of Kubernetes' own, also if it is no longer served.
func Known(gk schema.GroupKind) bool {
	_, ok := byGroupKind[gk]
	return ok
}

// Named returns what is known about the kind of that name, regardless of the object's
// group. Helm uses the name alone (see InstallLess), and so do waves, hooks and the
// details of reports. What is waited for, lost, refused or masked is looked up with Of.
func Named(kind string) Kind {
	if k, ok := byName[kind]; ok {
		return k
	}
	return Kind{GroupKind: schema.GroupKind{Kind: kind}}
}

// All returns the rows of the table.
func All() []Kind { return slices.Clone(table) }

var (
	table       = slices.Concat(core, workloads, definitions, access, network, storage, policies, legacy, others)
	byGroupKind = firstBy(func(k Kind) schema.GroupKind { return k.GroupKind })
	byName      = firstBy(func(k Kind) string { return k.Kind })
)

// firstBy indexes the table; of several rows with one key it takes the first.
func firstBy[K comparable](key func(Kind) K) map[K]Kind {
	index := map[K]Kind{}
	for _, k := range table {
		if _, taken := index[key(k)]; !taken {
			index[key(k)] = k
		}
	}
	return index
}
