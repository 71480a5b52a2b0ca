package immutable

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FromStatus returns the fields that an API server's refusal calls immutable; none if it refused
// only for other reasons.
//
// There is no machine-readable reason for this, so it looks for the wordings in
// https://github.com/kubernetes/kubernetes/tree/v1.36.3/pkg/apis (GROUP/validation) and
// apimachinery's ValidateImmutableField
// (https://github.com/kubernetes/apimachinery/blob/v0.36.3/pkg/api/validation/objectmeta.go).
func FromStatus(status metav1.Status) []Field {
	if status.Code != 0 && status.Code != 422 && status.Code != 403 {
		return nil
	}
	var found []Field
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if why, _, _ := strings.Cut(cause.Message, "\n"); saysImmutable(cause.Message) {
				found = append(found, Field{Path: cause.Field, Why: why})
			}
		}
		if len(status.Details.Causes) > 0 {
			return found
		}
	}
	// Aggregated APIs and admission webhooks answer with only a message.
	if why, _, _ := strings.Cut(status.Message, "\n"); saysImmutable(status.Message) {
		found = append(found, Field{Path: pathIn(status.Message), Why: why})
	}
	return found
}

func saysImmutable(message string) bool {
	m := strings.ToLower(message)
	for _, wording := range []string{
		"immutable",
		"forbidden: updates to ",
		"updates to statefulset spec for fields other than",
		"pod updates may not change fields other than",
		"may not change once set",
		"cannot change roleref",
		"may not be changed",
		"updates to parameters are forbidden",
		"updates to provisioner are forbidden",
		"may not be changed in an update",
		"can not be less than previous value",
		"cannot be changed",
	} {
		if strings.Contains(m, wording) {
			return true
		}
	}
	return false
}

// pathIn returns the field in `Kind "name" is invalid: spec.selector: Invalid …`.
func pathIn(message string) string {
	if _, rest, ok := strings.Cut(message, "is invalid: "); ok {
		message = rest
	}
	path, _, ok := strings.Cut(message, ": ")
	if !ok || strings.ContainsAny(path, " \t\n") {
		return ""
	}
	return path
}
