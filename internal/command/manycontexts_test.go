package command

import (
	"os"
	"strings"
	"testing"
)

// A set for a context with slashes in its name, as those of EKS have, is saved and applied; needs
// name such a context as it is.
func TestASetForContextsWithSlashes(t *testing.T) {
	d := atDesk(t)
	d.file("helmfile.yaml", `releases:
- {name: web, namespace: shop, kubeContext: "arn:aws:eks:eu-west-1:1:cluster/prod", chart: ./web}
- name: other
  namespace: shop
  kubeContext: arn:aws:eks:eu-west-1:1:cluster_prod
  chart: ./web
  installed: false
  needs: ["arn:aws:eks:eu-west-1:1:cluster/prod/shop/web"]
`)
	d.must("plan many helmfile.yaml --out set")
	if files, err := os.ReadDir("set"); err != nil || len(files) != 2 {
		t.Errorf("set holds %v, %v", files, err)
	}
	if a := d.must("apply many set"); !strings.Contains(a.out, "arn:aws:eks:eu-west-1:1:cluster/prod/shop/web  install, revision 1") {
		t.Errorf("it says\n%s", a.out)
	}
	d.must("status web")
}
