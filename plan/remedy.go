package plan

import (
	"strings"
)

// remedy returns advice on what to try when the API server has refused a step.
func remedy(r Refusal) string {
	switch {
	case r.Reason == "NotFound" && strings.Contains(r.Message, "namespaces"):
		return "create the namespace, or add --create-namespace"
	case strings.Contains(r.Message, "duplicate entries for key"): // only for a server-side apply
		return "give each item of the list its own key, or add --server-side=false, which sends the list as it is"
	case r.exceedsQuota():
		return roomier
	case byAdmission(r):
		return "change the object so that the cluster admits it, or have its administrators admit it"
	case r.Reason == "Forbidden" && strings.Contains(r.Message, "because it is being terminated"): // its deletion began after the namespace was read
		return "wait until the namespace is gone, or install into another one"
	case r.Reason == "Forbidden":
		return "ask for that permission, or use another identity (--as, --context)"
	case r.Reason == "Invalid":
		return "correct the values or the chart"
	default:
		return ""
	}
}

func (r Refusal) exceedsQuota() bool {
	return r.Reason == "Forbidden" && strings.Contains(r.Message, "exceeded quota")
}

// byAdmission reports whether an admission policy, an admission webhook or Pod Security refused the
// request, according to the messages of Kubernetes 1.36.
func byAdmission(r Refusal) bool {
	for _, words := range []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy", "admission webhook", "violates PodSecurity"} {
		if strings.Contains(r.Message, words) {
			return true
		}
	}
	return false
}
