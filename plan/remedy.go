package plan

import (
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

const admit = "change the object so that the cluster admits it, or have its administrators admit it"

// remedy returns advice on what to try when the API server has refused a step.
func remedy(r Refusal) string {
	switch {
	case r.Reason == "NotFound" && strings.Contains(r.Message, "namespaces"):
		return "create the namespace, or add --create-namespace"
	case strings.Contains(r.Message, "duplicate entries for key"): // only for a server-side apply
		return "give each item of the list its own key, or add --server-side=false, which sends the list as it is"
	case r.exceedsQuota():
		return roomier
	case r.Reason == "Forbidden" && ofQuota.MatchString(r.Message):
		return "set it in the chart, or have a LimitRange set a default"
	case r.unexpandable():
		return "set allowVolumeExpansion in its storage class, or keep the size"
	case byAdmission(r):
		return admit
	case r.Reason == "Forbidden" && strings.Contains(r.Message, "because it is being terminated"): // its deletion began after the namespace was read
		return "wait until the namespace is gone, or install into another one"
	case r.lacksPermission():
		return "ask for that permission, or use another identity (--as, --context)"
	case r.Reason == "Forbidden" && r.says(" not found", " was found"): // a service account, a PriorityClass
		return "create what it names, or correct the values or the chart"
	case r.Reason == "Forbidden":
		return admit
	case r.Reason == "Invalid" || r.Reason == "BadRequest":
		return "correct the values or the chart"
	default:
		return ""
	}
}

func (r Refusal) exceedsQuota() bool {
	return r.Reason == "Forbidden" && strings.Contains(r.Message, "exceeded quota")
}

// lacksPermission reports whether authorization refused the request. Admission refuses with the same status, in the
// words "pods "a" is forbidden: …" (Kubernetes 1.36, staging/src/k8s.io/apiserver/pkg/admission/errors.go,
// NewForbidden), and so do checks of rights: for escalation (pkg/registry/rbac, …/policybased/storage.go), of who may
// delete an owner (plugin/pkg/admission/gc/gc_admission.go), and of signers (plugin/pkg/admission/certificates).
func (r Refusal) lacksPermission() bool {
	if r.Reason != "Forbidden" || byAdmission(r) || r.exceedsQuota() {
		return false
	}
	return forbidden.MatchString(r.Message) || r.says("attempting to grant RBAC permissions", "must have cluster-admin privileges", "you can't ", "not permitted to ") || !r.says(" is forbidden: ")
}

// unexpandable reports whether the API server refuses a claim that grows because of its class (Kubernetes 1.36.3,
// plugin/pkg/admission/storage/persistentvolume/resize/admission.go).
func (r Refusal) unexpandable() bool {
	return r.Reason == "Forbidden" && r.says("must support resize")
}

// ofContent reports whether the request was refused for what the object says, whatever else there is.
func (r Refusal) ofContent() bool {
	return (r.Reason == "Invalid" || r.Reason == "BadRequest") && !byAdmission(r) && !r.taken()
}

// byAdmission reports whether an admission policy, an admission webhook, Pod Security, a LimitRange or a
// ResourceQuota that wants something named refused the request, according to the messages of Kubernetes 1.36
// (that of a LimitRange is in plugin/pkg/admission/limitranger/admission.go, that of a ResourceQuota in
// staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest).
func byAdmission(r Refusal) bool {
	return byPolicy(r) || r.says("violates PodSecurity", " usage per ", " ratio per ", "failed quota: ")
}

// byPolicy reports whether an admission policy or an admission webhook refused the request.
func byPolicy(r Refusal) bool {
	return r.says(kinds.ValidatingAdmissionPolicy.Kind, kinds.MutatingAdmissionPolicy.Kind, "admission webhook")
}

func (r Refusal) says(any ...string) bool {
	return slices.ContainsFunc(any, func(words string) bool { return strings.Contains(r.Message, words) })
}
