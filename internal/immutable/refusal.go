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
			if why, _, _ := strings.Cut(cause.Message, "\n"); saysImmutable(cause.Message, denies(status.Code, cause.Message)) {
				found = append(found, Field{Path: cause.Field, Why: why})
			}
		}
		if len(status.Details.Causes) > 0 {
			return found
		}
	}
	// Aggregated APIs and admission webhooks answer with only a message.
	if why, _, _ := strings.Cut(status.Message, "\n"); saysImmutable(reasonIn(status.Message), denies(status.Code, status.Message)) {
		found = append(found, Field{Path: pathIn(reasonIn(status.Message)), Why: why})
	}
	return found
}

// denies reports whether an answer is about something else than validation. Admission policies and webhooks
// call other things immutable, too ("only immutable tags are allowed"), and in other answers with code 403 the
// word is part of a name. The wordings are those of
// https://github.com/kubernetes/apiserver/tree/v0.36.3/pkg/admission/plugin, in
// webhook/errors/statuserror.go and policy/validating/dispatcher.go.
func denies(code int32, message string) bool {
	return code == 403 || strings.Contains(message, "denied the request: ") || strings.Contains(message, "denied request: ")
}

// saysImmutable looks for the wordings of validation; where admission denies a request, only for that of
// ValidateImmutableField, which webhooks use.
func saysImmutable(message string, denied bool) bool {
	if denied {
		return strings.Contains(message, "field is immutable")
	}
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
		"can not be less than previous value", // without RecoverVolumeExpansionFailure, which is on by default from 1.32 on
		"can not be less than status.capacity",
		"cannot be changed",
	} {
		if strings.Contains(m, wording) {
			return true
		}
	}
	return false
}

// reasonIn returns what is said of the object in `Kind "name" is invalid: spec.selector: Invalid …`, or in
// `admission webhook "w" denied the request: spec.selector: Invalid …`.
func reasonIn(message string) string {
	for _, words := range []string{"is invalid: ", "denied the request: "} {
		if _, rest, ok := strings.Cut(message, words); ok {
			message = rest
		}
	}
	return message
}

// pathIn returns the field in `spec.selector: Invalid …`.
func pathIn(reason string) string {
	path, _, ok := strings.Cut(reason, ": ")
	if !ok || strings.ContainsAny(path, " \t\n") {
		return ""
	}
	return path
}
