package readiness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// field returns the value at a path; nil when it, or a map on the path, is missing.
func field(obj map[string]any, path ...string) any {
	var v any = obj
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

func text(obj map[string]any, path ...string) string {
	s, _ := field(obj, path...).(string)
	return s
}

// number returns the whole number at a path, def when there is none.
func number(obj map[string]any, def int64, path ...string) int64 {
	switch v := field(obj, path...).(type) {
	case int64:
		return v
	case int:
		return int64(v)
	case float64:
		return int64(v)
	}
	return def
}

func count(obj map[string]any, path ...string) int {
	list, _ := field(obj, path...).([]any)
	return len(list)
}

// condition is one entry of status.conditions.
type condition struct {
	status, reason, message string
	// fields is the whole entry.
	fields map[string]any
}

func conditionOf(obj map[string]any, kind string) (condition, bool) {
	list, _ := field(obj, "status", "conditions").([]any)
	for _, item := range list {
		m, ok := item.(map[string]any)
		if ok && text(m, "type") == kind {
			return condition{text(m, "status"), text(m, "reason"), text(m, "message"), m}, true
		}
	}
	return condition{}, false
}

// explain returns the condition's message, else its reason.
func (c condition) explain(otherwise string) string {
	switch {
	case c.message != "":
		return c.message
	case c.reason != "":
		return c.reason
	}
	return otherwise
}

// unobserved reports whether the controller has not seen this generation yet, so that the status
// belongs to an older one.
func unobserved(obj *unstructured.Unstructured) (Result, bool) {
	generation := obj.GetGeneration()
	observed := number(obj.Object, 0, "status", "observedGeneration")
	if observed >= generation {
		return Result{}, false
	}
	return progressing("revision not observed yet (generation %d, observed %d)", generation, observed), true
}

// allowance resolves a number or percentage of total. An invalid value counts as total, as in Helm
// 4.3.1 (pkg/kube/ready.go, daemonSetReady).
func allowance(v any, total int64, roundUp bool) int64 {
	var value intstr.IntOrString
	switch v := v.(type) {
	case int64:
		value = intstr.FromInt32(int32(v))
	case float64:
		value = intstr.FromInt32(int32(v))
	case string:
		value = intstr.FromString(v)
	default:
		return total
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&value, int(total), roundUp)
	if err != nil {
		return total
	}
	return min(max(int64(n), 0), total)
}

func replicas(n int64) string {
	if n == 1 {
		return "1 replica is"
	}
	return fmt.Sprintf("%d replicas are", n)
}
