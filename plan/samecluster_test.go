package plan_test

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// A plan is bound to the cluster that it was made for, identified by what could be read both then
// and now; if nothing can be compared, it is refused.
func TestAPlanIsBoundToItsCluster(t *testing.T) {
	const east, west = "https://east:6443", "https://west:6443"
	for name, test := range map[string]struct {
		was, is plan.Cluster
		says    string // "" means the same cluster
	}{
		"the same kube-system":                       {plan.Cluster{Server: east, CA: "a", UID: "1"}, plan.Cluster{Server: east, CA: "a", UID: "1"}, ""},
		"the same kube-system by another address":    {plan.Cluster{Server: east, CA: "a", UID: "1"}, plan.Cluster{Server: west, CA: "b", UID: "1"}, ""},
		"another kube-system by the same address":    {plan.Cluster{Server: east, CA: "a", UID: "1"}, plan.Cluster{Server: east, CA: "a", UID: "2"}, "another cluster, https://east:6443: kube-system had the UID 1 there and has 2 here"},
		"the same namespace, made by an admin":       {plan.Cluster{Server: east, CA: "a", UID: "1", NamespaceUID: "n"}, plan.Cluster{Server: west, CA: "a", NamespaceUID: "n"}, ""},
		"the same namespace, applied by an admin":    {plan.Cluster{Server: east, CA: "a", NamespaceUID: "n"}, plan.Cluster{Server: west, CA: "a", UID: "1", NamespaceUID: "n"}, ""},
		"another namespace":                          {plan.Cluster{Server: east, CA: "a", NamespaceUID: "n"}, plan.Cluster{Server: east, CA: "a", NamespaceUID: "m"}, "namespace shop had the UID n and has m now"},
		"kube-system tells, not the namespace":       {plan.Cluster{Server: east, UID: "1", NamespaceUID: "n"}, plan.Cluster{Server: east, UID: "1", NamespaceUID: "m"}, ""},
		"the same server, no UID on one side":        {plan.Cluster{Server: east, CA: "a", UID: "1"}, plan.Cluster{Server: east + "/", CA: "a", NamespaceUID: "n"}, ""},
		"another address, no UID":                    {plan.Cluster{Server: east, CA: "a"}, plan.Cluster{Server: west, CA: "a"}, "the API server was at https://east:6443 and is at https://west:6443"},
		"another authority, no UID":                  {plan.Cluster{Server: east, CA: "a"}, plan.Cluster{Server: east, CA: "b"}, "its certificate is checked against another authority"},
		"an address that nobody has checked, no UID": {plan.Cluster{Server: east}, plan.Cluster{Server: east}, "its certificate was not checked both times"},
		"nothing at all":                             {plan.Cluster{}, plan.Cluster{}, "can't tell whether"},
	} {
		t.Run(name, func(t *testing.T) {
			made := func(c plan.Cluster) *plan.Plan {
				p := build(t, oneChange(t))
				p.Cluster = c
				return p
			}
			got := said(plan.Stale(made(test.was), made(test.is)))
			if test.says == "" && got != "" || !strings.Contains(got, test.says) {
				t.Errorf("got %q, want %q in it", got, test.says)
			}
		})
	}
}

// The namespace's UID comes with what is observed anyway.
func TestAPlanKnowsTheUIDOfItsNamespace(t *testing.T) {
	in := oneChange(t)
	namespace := plan.NamespaceDoc("shop")
	namespace.SetUID("uid-of-shop")
	in.Live[plan.NamespaceID("shop")] = plan.Observed(namespace)
	if got := build(t, in).Cluster.NamespaceUID; got != "uid-of-shop" {
		t.Errorf("it is %q", got)
	}
}
