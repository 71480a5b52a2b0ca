package readiness

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// definition is ready when its kind is served. Names that are taken stay so
// until someone removes the other definition.
func definition(obj *unstructured.Unstructured, _ Context) Result {
	if c, ok := conditionOf(obj.Object, "NamesAccepted"); ok && c.status == "False" {
		return failed("its names are not accepted: %s", c.explain("no reason given"))
	}
	if c, ok := conditionOf(obj.Object, "Established"); ok && c.status == "True" {
		return ready("it is established")
	}
	return progressing("it is not established yet")
}
