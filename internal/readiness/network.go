package readiness

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// service is ready when it has an address: a cluster IP ("None" counts) and, for a load balancer,
// an external one. An ExternalName needs none.
func service(obj *unstructured.Unstructured, _ Context) Result {
	kind := text(obj.Object, "spec", "type")
	if kind == "ExternalName" {
		return ready("it is an external name")
	}
	if text(obj.Object, "spec", "clusterIP") == "" {
		return progressing("it has no cluster IP yet")
	}
	if kind != "LoadBalancer" {
		return ready("it has a cluster IP")
	}
	if count(obj.Object, "spec", "externalIPs") > 0 {
		return ready("it has external IPs")
	}
	if count(obj.Object, "status", "loadBalancer", "ingress") == 0 {
		return progressing("its load balancer has no address yet")
	}
	return ready("its load balancer has an address")
}

// apiService is ready when its server is available.
func apiService(obj *unstructured.Unstructured, _ Context) Result {
	c, ok := conditionOf(obj.Object, "Available")
	switch {
	case !ok:
		return progressing("its availability is not known yet")
	case c.status == "True":
		return ready("it is available")
	}
	return progressing("it is not available: %s", c.explain("no reason given"))
}
