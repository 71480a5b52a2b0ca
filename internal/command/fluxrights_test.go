package command

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Whoever plans a HelmRelease need not have helm-controller's permissions: without them the plan is made
// without dry runs and nothing is blocked. What an impersonated service account may not do is blocked.
func TestRightsOfWhoeverPlans(t *testing.T) {
	impersonate := plan.Permission{Verb: "impersonate", Resource: "serviceaccounts", Namespace: "shop", Name: "deployer"}
	for _, c := range []struct {
		why, spec         string
		denied            []plan.Permission
		blocked, readOnly bool
	}{
		{"helm-controller's own rights", "", nil, false, true},
		{"the service account's", "serviceAccountName: deployer", nil, true, false},
		{"which may not be impersonated", "serviceAccountName: deployer", []plan.Permission{impersonate}, false, true},
	} {
		d := atDesk(t)
		d.must("install web ./web")
		d.helmRelease(c.spec, noValues)
		d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
		d.file("web/values.yaml", "text: two")
		d.Denied = map[plan.Permission]bool{{Verb: "create", Resource: "secrets", Namespace: "shop"}: true}
		for _, p := range c.denied {
			d.Denied[p] = true
		}
		web := d.planned("release.yaml")["web"]
		if web.Plan == nil || web.Plan.Blocked() != c.blocked || web.Plan.ReadOnly != c.readOnly {
			t.Errorf("%s: %+v %s, want blocked %t, without dry runs %t", c.why, web.Plan, web.Error, c.blocked, c.readOnly)
		}
		if op := steps(web, "ConfigMap"); op != "patch" {
			t.Errorf("%s: %s", c.why, op)
		}
		a := d.types("plan many release.yaml")
		if strings.Contains(a.out, "Lease") {
			t.Errorf("%s: a lock that helm-controller does not take:\n%s", c.why, a.out)
		}
	}
}

// The plan of an uninstall and that of drift are not blocked, either.
func TestRightsOfWhoeverPlansDrift(t *testing.T) {
	d := drifted(t)
	d.helmRelease("driftDetection: {mode: enabled}", noValues)
	d.Refuse = nil
	d.Denied = map[plan.Permission]bool{{Verb: "patch", Resource: "configmaps", Namespace: "shop", Name: "web"}: true}
	d.must("plan many release.yaml").has(t, "correct drift", "ConfigMap shop/web has drifted: data.text")
}
