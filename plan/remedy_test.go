package plan

import "testing"

// A9: The remedy that a reviewer is given fits the API server's reason for refusing, even where several
// reasons share one status.
func TestRemedies(t *testing.T) {
	for name, c := range map[string]struct {
		refusal Refusal
		want    string
	}{
		"a namespace that goes":   {Refusal{Reason: "Forbidden", Message: `configmaps "a" is forbidden: unable to create new content in namespace term because it is being terminated`}, "wait until the namespace is gone, or install into another one"},
		"a permission":            {Refusal{Reason: "Forbidden", Message: `configmaps is forbidden: User "ann" cannot create resource "configmaps"`}, "ask for that permission, or use another identity (--as, --context)"},
		"a quota":                 {Refusal{Reason: "Forbidden", Message: `pods "a" is forbidden: exceeded quota: q`}, roomier},
		"an admission policy":     {Refusal{Reason: "Forbidden", Message: `ValidatingAdmissionPolicy "p" denied request`}, "change the object so that the cluster admits it, or have its administrators admit it"},
		"a LimitRange":            {Refusal{Reason: "Forbidden", Message: `persistentvolumeclaims "a" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 9Gi`}, "change the object so that the cluster admits it, or have its administrators admit it"},
		"a quota of limits":       {Refusal{Reason: "Forbidden", Message: `pods "a" is forbidden: failed quota: q: must specify limits.memory for: a`}, "set it in the chart, or have a LimitRange set a default"},
		"a missing account":       {Refusal{Reason: "Forbidden", Message: `pods "a" is forbidden: error looking up service account shop/nobody: serviceaccount "nobody" not found`}, "create what it names, or correct the values or the chart"},
		"a missing class":         {Refusal{Reason: "Forbidden", Message: `pods "a" is forbidden: no PriorityClass with name high was found`}, "create what it names, or correct the values or the chart"},
		"any admission plugin":    {Refusal{Reason: "Forbidden", Message: `services "a" is forbidden: Use of external IPs is denied by admission control.`}, admit},
		"rights that one lacks":   {Refusal{Reason: "Forbidden", Message: `roles.rbac.authorization.k8s.io "a" is forbidden: user "ann" (groups=["dev"]) is attempting to grant RBAC permissions not currently held:`}, "ask for that permission, or use another identity (--as, --context)"},
		"an aggregated role":      {Refusal{Reason: "Forbidden", Message: `clusterroles.rbac.authorization.k8s.io "a" is forbidden: must have cluster-admin privileges to use the aggregationRule`}, "ask for that permission, or use another identity (--as, --context)"},
		"an owner's rights":       {Refusal{Reason: "Forbidden", Message: `configmaps "a" is forbidden: cannot set an ownerRef on a resource you can't delete: RBAC`}, "ask for that permission, or use another identity (--as, --context)"},
		"a proxy":                 {Refusal{Reason: "Forbidden", Message: "forbidden"}, "ask for that permission, or use another identity (--as, --context)"},
		"a wrong type":            {Refusal{Reason: "BadRequest", Message: "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string"}, "correct the values or the chart"},
		"a class of no growth":    {Refusal{Reason: "Forbidden", Message: `persistentvolumeclaims "a" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`}, "set allowVolumeExpansion in its storage class, or keep the size"},
		"a missing namespace":     {Refusal{Reason: "NotFound", Message: `namespaces "nope" not found`}, "create the namespace, or add --create-namespace"},
		"a field that is invalid": {Refusal{Reason: "Invalid", Message: "x"}, "correct the values or the chart"},
		"items with one key":      {Refusal{Reason: "BadRequest", Message: `failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="web"].env: duplicate entries for key [name="PORT"]`}, "give each item of the list its own key, or add --server-side=false, which sends the list as it is"},
		"anything else":           {Refusal{Reason: "Conflict", Message: "x"}, ""},
	} {
		if got := remedy(c.refusal); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
