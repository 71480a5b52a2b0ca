package readiness

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// computed judges all other kinds by kstatus: generations, and the conditions Reconciling, Stalled
// and Ready (https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus).
func computed(obj *unstructured.Unstructured, ctx Context) (r Result) {
	defer func() {
		// kstatus makes type assertions on documents, which a custom controller may write in any
		// form.
		if p := recover(); p != nil {
			r = unknown("its status can't be read: %v", p)
		}
	}()
	if c, ok := conditionOf(obj.Object, "Ready"); ok && c.status == "Unknown" && current(obj) && !reconciling(obj) {
		return unknown("it reports its readiness as unknown: %s", c.explain("no reason given"))
	}
	// kstatus may change what it reads.
	res, err := status.Compute(obj.DeepCopy())
	if err != nil {
		return unknown("its status can't be read: %v", err)
	}
	if c, ok := conditionOf(obj.Object, "Stalled"); ok && res.Status == status.FailedStatus && ctx.earlier(obj, c) {
		return progressing("it was stalled before, and its controller reports nothing new: %s", c.explain("no reason given"))
	}
	return translate(res)
}

// reconciling reports whether the controller says that it is still at work, as Flux's do while Ready is
// Unknown.
func reconciling(obj *unstructured.Unstructured) bool {
	c, ok := conditionOf(obj.Object, "Reconciling")
	return ok && c.status == "True"
}

func current(obj *unstructured.Unstructured) bool {
	return number(obj.Object, obj.GetGeneration(), "status", "observedGeneration") == obj.GetGeneration()
}

func translate(res *status.Result) Result {
	why := res.Message
	if why == "" {
		why = fmt.Sprintf("its status according to kstatus is %s", res.Status)
	}
	switch res.Status {
	case status.CurrentStatus:
		return ready("%s", why)
	case status.FailedStatus:
		return failed("%s", why)
	case status.InProgressStatus, status.TerminatingStatus, status.NotFoundStatus:
		return progressing("%s", why)
	case status.UnknownStatus:
	}
	return unknown("%s", why)
}

// definition is ready when its kinds are served. Names that are taken stay so until somebody
// removes the other definition.
func definition(obj *unstructured.Unstructured, ctx Context) Result {
	if c, ok := conditionOf(obj.Object, "NamesAccepted"); ok && c.status == "False" {
		if ctx.earlier(obj, c) {
			return progressing("its names were not accepted before: %s", c.explain("no reason given"))
		}
		return failed("its names are not accepted: %s", c.explain("no reason given"))
	}
	if c, ok := conditionOf(obj.Object, "Established"); ok && c.status == "True" {
		return ready("it is established")
	}
	return progressing("it is not established yet")
}
