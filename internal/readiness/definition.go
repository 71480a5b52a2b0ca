package readiness

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// definition is ready when its kind is served. Names that are taken stay so
// until someone removes the other definition.
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
