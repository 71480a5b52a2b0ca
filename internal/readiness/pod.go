package readiness

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// pod is ready when its condition says so, or when it has succeeded.
func pod(obj *unstructured.Unstructured, _ Context) Result {
	switch text(obj.Object, "status", "phase") {
	case "Succeeded":
		return ready("it has succeeded")
	case "Failed":
		return failed("%s", podFailure(obj.Object))
	}
	c, ok := conditionOf(obj.Object, "Ready")
	if ok && c.status == "True" {
		return ready("it is ready")
	}
	if reason := waitingReason(obj.Object); reason != "" {
		return progressing("it is not ready: %s", reason)
	}
	if c, ok := conditionOf(obj.Object, "PodScheduled"); ok && c.status == "False" {
		return progressing("it is not scheduled: %s", c.explain("no reason given"))
	}
	if c.message != "" {
		return progressing("it is not ready: %s", c.message)
	}
	return progressing("it is not ready")
}

// podFailure says why a pod has failed: by its own message or reason, else by the first container
// that failed.
func podFailure(obj map[string]any) string {
	if message := text(obj, "status", "message"); message != "" {
		return "it has failed: " + message
	}
	if reason := text(obj, "status", "reason"); reason != "" {
		return "it has failed: " + reason
	}
	for _, c := range containers(obj) {
		ended, ok := field(c, "state", "terminated").(map[string]any)
		if ok && number(ended, 0, "exitCode") != 0 {
			return "it has failed: container " + text(c, "name") + " ended with " + exitText(ended)
		}
	}
	return "it has failed"
}

// waitingReason returns why a container waits, unless it is just being created: CrashLoopBackOff,
// ImagePullBackOff, CreateContainerConfigError.
func waitingReason(obj map[string]any) string {
	for _, c := range containers(obj) {
		waiting, _ := field(c, "state", "waiting").(map[string]any)
		switch reason := text(waiting, "reason"); reason {
		case "", "ContainerCreating", "PodInitializing":
		default:
			why := "container " + text(c, "name") + " is waiting: " + reason
			if message := text(waiting, "message"); message != "" {
				why += ": " + message
			}
			return why
		}
	}
	return ""
}

func containers(obj map[string]any) []map[string]any {
	var all []map[string]any
	for _, key := range []string{"initContainerStatuses", "containerStatuses"} {
		list, _ := field(obj, "status", key).([]any)
		for _, item := range list {
			if m, ok := item.(map[string]any); ok {
				all = append(all, m)
			}
		}
	}
	return all
}
