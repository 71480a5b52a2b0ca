package readiness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func exitText(terminated map[string]any) string {
	why := fmt.Sprintf("exit code %d", number(terminated, 0, "exitCode"))
	if reason := text(terminated, "reason"); reason != "" && reason != "Error" {
		why += " (" + reason + ")"
	}
	return why
}

// job is ready when it exists or, with WaitForJobs, when it is complete. A failed Job is failed in
// both cases: it does not recover.
func job(obj *unstructured.Unstructured, ctx Context) Result {
	r := jobEnd(obj)
	if r.State == Progressing && !ctx.WaitForJobs {
		return ready("jobs are not waited for")
	}
	return r
}

// jobEnd follows a Job to its end. Conditions decide
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions); the
// counts matter until the controller has written them.
func jobEnd(obj *unstructured.Unstructured) Result {
	if c, ok := conditionOf(obj.Object, "Failed"); ok && c.status == "True" {
		return failed("it has failed: %s", c.explain("no reason given"))
	}
	if c, ok := conditionOf(obj.Object, "FailureTarget"); ok && c.status == "True" {
		return failed("it has failed: %s", c.explain("no reason given"))
	}
	if c, ok := conditionOf(obj.Object, "Complete"); ok && c.status == "True" {
		return ready("it is complete")
	}
	// With a limit for each index, or a failure policy, the number of failures alone means nothing.
	limit := number(obj.Object, 6, "spec", "backoffLimit")
	simple := field(obj.Object, "spec", "backoffLimitPerIndex") == nil && field(obj.Object, "spec", "podFailurePolicy") == nil
	if fails := number(obj.Object, 0, "status", "failed"); simple && fails > limit {
		return failed("it has failed: %d pods failed, and its backoff limit is %d", fails, limit)
	}
	done := number(obj.Object, 0, "status", "succeeded")
	if field(obj.Object, "spec", "suspend") == true {
		return progressing("it is suspended")
	}
	return completions(obj.Object, done)
}

func completions(obj map[string]any, done int64) Result {
	if field(obj, "spec", "completions") == nil {
		// A work queue: any success may be the last one, and only the condition says so.
		return progressing("%d pods have succeeded, %d are active", done, number(obj, 0, "status", "active"))
	}
	want := number(obj, 1, "spec", "completions")
	if done < want || want == 0 {
		return progressing("%d of %d completions reached", done, want)
	}
	return ready("%d of %d completions reached", done, want)
}
