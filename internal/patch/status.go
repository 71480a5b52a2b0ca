package patch

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ImmutableFromStatus reads an API server's refusal and gives the fields that
// it calls immutable; none when it refused for other reasons. A refusal that
// mixes reasons gives the immutable fields only.
//
// The wordings are those of Kubernetes 1.36: "field is immutable", "field is
// immutable when `immutable` is set", "Forbidden: updates to statefulset spec
// for fields other than …", "may not change once set", "spec is immutable after
// creation", "pod updates may not change fields other than".
func ImmutableFromStatus(status metav1.Status) []ImmutableField {
	if status.Code != 0 && status.Code != 422 && status.Code != 403 {
		return nil
	}
	var found []ImmutableField
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if saysImmutable(cause.Message) {
				found = append(found, ImmutableField{Path: cause.Field, Why: firstLine(cause.Message)})
			}
		}
		if len(status.Details.Causes) > 0 {
			return found
		}
	}
	// Aggregated APIs and admission webhooks answer with a message alone.
	if saysImmutable(status.Message) {
		found = append(found, ImmutableField{Path: pathIn(status.Message), Why: firstLine(status.Message)})
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

// pathIn finds the field in `Kind "name" is invalid: spec.selector: Invalid …`.
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

func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}
