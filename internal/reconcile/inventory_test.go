package reconcile_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// The inventory names custom resources that the cluster has in no namespace without one, as helm-controller's does.
func TestInventory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/issuer.yaml", Data: []byte(
			"apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: web}\n")})
		b.mustPass()
		var got []string
		for _, e := range b.hr.Status.Inventory.Entries {
			got = append(got, e.ID)
		}
		if want := []string{"_web_cert-manager.io_ClusterIssuer", "shop_web__ConfigMap"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("the inventory is %q, want %q", got, want)
		}
	})
}
