package plan

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// remedy is the next thing to try after the API server has refused a step.
func remedy(step *Step, r Refusal) string {
	switch {
	case r.Reason == "NotFound" && strings.Contains(r.Message, "namespaces"):
		return "create the namespace, or add --create-namespace"
	case r.exceedsQuota():
		return roomier
	case byAdmission(r):
		return "make the object fit what the cluster admits, or have its administrators admit it"
	case r.Reason == "Forbidden" && strings.Contains(r.Message, "because it is being terminated"): // since the namespace was looked at
		return "wait until the namespace is gone, or install into another one"
	case r.Reason == "Forbidden":
		return permit(step, r)
	case r.Reason == "Invalid":
		return "correct the values or the chart"
	default:
		return ""
	}
}

func (r Refusal) exceedsQuota() bool {
	return r.Reason == "Forbidden" && strings.Contains(r.Message, "exceeded quota")
}

// byAdmission says whether an admission policy, an admission webhook or pod
// security refuses, by the words of Kubernetes 1.36.
func byAdmission(r Refusal) bool {
	for _, words := range []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy", "admission webhook", "violates PodSecurity"} {
		if strings.Contains(r.Message, words) {
			return true
		}
	}
	return false
}

// forbidden matches what the API server says for want of a permission
// (Kubernetes 1.36): cannot patch resource "deployments" in API group "apps" in
// the namespace "shop".
var forbidden = regexp.MustCompile(`cannot (\w+) resource "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]*)")?`)

// permit names the permission that is missing. A server-side apply that creates
// takes two.
func permit(step *Step, r Refusal) string {
	m := forbidden.FindStringSubmatch(r.Message)
	if m == nil {
		return "ask for that permission, or use another identity (--as, --context)"
	}
	verbs := []string{m[1]}
	if step.Op == OpCreate && step.PatchType == types.ApplyPatchType {
		verbs = []string{"create", "patch"}
	}
	return roleWith(Permission{Group: m[3], Resource: m[2], Namespace: m[4]}, verbs)
}
