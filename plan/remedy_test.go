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
