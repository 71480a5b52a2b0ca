package apitypes

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// union is a group of fields of which an object may have only one. The API server
// fills in a member when it is given none, and rejects two: if a chart asks for a
// different one than live has, live's has to go, whoever has written it.
type union struct {
	// discriminator is the field whose value says which member there is; "" where the member
	// itself says so.
	discriminator string
	// members are the union's fields, with the discriminator's value that each belongs to.
	members map[string]string
}

// aliases maps old names of fields to new ones. The API server keeps both equal, and reads
// the old one when the new one is gone (k8s.io/api 0.37, core/v1, PodSpec.DeprecatedServiceAccount).
var aliases = map[string]string{"serviceAccount": "serviceAccountName"}

// unionOf returns the union in a Go type, nil if it has none. The sources are
// https://github.com/kubernetes/api/tree/v0.37.2 and, for CRDs,
// https://github.com/kubernetes/apiextensions-apiserver/tree/v0.37.2: in types.go of
// each group and version, the fields' comments say what goes with what. Unions in
// lists that are replaced as a whole need no entry, nor does a Service's type: the
// API server drops what belongs to the old one on its own (see
// dropTypeDependentFields in
// https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/registry/core/service/strategy.go).
func unionOf(t reflect.Type) *union {
	switch t {
	case reflect.TypeFor[appsv1.DeploymentStrategy](),
		reflect.TypeFor[appsv1.StatefulSetUpdateStrategy](),
		reflect.TypeFor[appsv1.DaemonSetUpdateStrategy]():
		return &union{discriminator: "type", members: map[string]string{"rollingUpdate": "RollingUpdate"}}
	case reflect.TypeFor[corev1.Volume]():
		return oneOf(fieldNames(reflect.TypeFor[corev1.VolumeSource]())...)
	case reflect.TypeFor[corev1.Probe]():
		return oneOf("exec", "httpGet", "tcpSocket", "grpc")
	case reflect.TypeFor[corev1.LifecycleHandler]():
		return oneOf("exec", "httpGet", "tcpSocket", "sleep")
	case reflect.TypeFor[corev1.EnvVar]():
		return oneOf("value", "valueFrom")
	case reflect.TypeFor[corev1.EnvVarSource]():
		return oneOf("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
	case reflect.TypeFor[corev1.PodResourceClaim]():
		return oneOf("resourceClaimName", "resourceClaimTemplateName")
	case reflect.TypeFor[corev1.SeccompProfile](), reflect.TypeFor[corev1.AppArmorProfile]():
		return &union{discriminator: "type", members: map[string]string{"localhostProfile": "Localhost"}}
	case reflect.TypeFor[policyv1.PodDisruptionBudgetSpec]():
		return oneOf("minAvailable", "maxUnavailable")
	case reflect.TypeFor[networkingv1.IngressBackend]():
		return oneOf("service", "resource")
	case reflect.TypeFor[networkingv1.ServiceBackendPort]():
		return oneOf("name", "number")
	case reflect.TypeFor[admissionv1.WebhookClientConfig](), reflect.TypeFor[apiextensionsv1.WebhookClientConfig]():
		return oneOf("url", "service")
	case reflect.TypeFor[admissionv1.ParamRef]():
		return oneOf("name", "selector")
	case reflect.TypeFor[apiextensionsv1.CustomResourceConversion]():
		return &union{discriminator: "strategy", members: map[string]string{"webhook": "Webhook"}}
	case reflect.TypeFor[flowcontrolv1.PriorityLevelConfigurationSpec]():
		return &union{discriminator: "type", members: map[string]string{"limited": "Limited", "exempt": "Exempt"}}
	case reflect.TypeFor[flowcontrolv1.LimitResponse]():
		return &union{discriminator: "type", members: map[string]string{"queuing": "Queue"}}
	}
	return nil
}

// oneOf returns a union without a discriminator.
func oneOf(members ...string) *union {
	u := &union{members: make(map[string]string, len(members))}
	for _, m := range members {
		u.members[m] = m
	}
	return u
}

// fieldNames returns the JSON names of a struct's fields.
func fieldNames(t reflect.Type) []string {
	names := make([]string, 0, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// others returns the members other than the one that target asks for; none when target
// does not say which.
func (u *union) others(target map[string]any) map[string]string {
	if u == nil {
		return nil
	}
	others := maps.Clone(u.members)
	given := func(member, _ string) bool { return target[member] != nil }
	if u.discriminator != "" {
		given = func(_, value string) bool { return target[u.discriminator] == value }
		if target[u.discriminator] == nil || target[u.discriminator] == "" {
			return nil
		}
		maps.DeleteFunc(others, given)
		return others
	}
	maps.DeleteFunc(others, given)
	if len(others) == len(u.members) {
		return nil
	}
	return others
}

// Excluded returns the fields of live, sorted, that can't coexist with what target says:
// the other members of a union, and old names of fields that stored had and target drops.
func (n *Node) Excluded(stored, live, target map[string]any) []string {
	var found []string
	if n == nil || n.form != FormStruct {
		return nil
	}
	for alias, name := range aliases {
		if n.fields[alias] != nil && n.fields[name] != nil && live[alias] != nil && stored[name] != nil && target[alias] == nil && target[name] == nil {
			found = append(found, alias)
		}
	}
	for member := range n.union.others(target) {
		if live[member] != nil && target[member] == nil {
			found = append(found, member)
		}
	}
	slices.Sort(found)
	return found
}
