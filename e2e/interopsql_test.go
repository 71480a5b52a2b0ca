//go:build cluster

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestInteropSQL has Helm 3, Helm 4 and us work in turn on one release whose
// records are in PostgreSQL. Whoever comes first creates the tables.
func TestInteropSQL(t *testing.T) {
	t.Parallel()
	server := clustertest.StartPostgres(t)
	schemas := map[string]string{}
	orders := [][5]string{
		// install, upgrade, rollback, upgrade, uninstall
		{"us", "helm4", "helm3", "us", "helm3"},
		{"helm3", "us", "helm4", "us", "helm4"},
		{"helm4", "us", "us", "helm3", "us"},
	}
	if *soak {
		orders = append(orders, [5]string{"us", "helm3", "us", "helm4", "us"})
	}
	for _, order := range orders {
		t.Run(strings.Join(order[:], "-"), func(t *testing.T) {
			database := server.Database(t)
			r := newRelay(t)
			r.env = []string{"HELM_DRIVER=sql", "HELM_DRIVER_SQL_CONNECTION_STRING=" + database}
			r.run(order[0], "install", "web", r.chart, "--set", "replicas=3,motd=hello", "--labels", "team=shop")
			schemas[order[0]] = server.Schema(t, database)
			r.agree("deployed", 1, 3, true)
			r.run(order[1], "upgrade", "web", r.chart, "--set", "replicas=1", "--labels", "tier=web")
			r.agree("deployed", 2, 1, false)
			r.run(order[2], "rollback", "web", "1")
			r.agree("deployed", 3, 3, true)
			r.run(order[3], "upgrade", "web", r.chart, "--set", "replicas=2", "--history-max", "2")
			r.agree("deployed", 4, 2, false)
			rows := server.SQL(t, database, "SELECT key, type, namespace, version, status, owner, modifiedat > 0 FROM releases_v1 ORDER BY version")
			want := fmt.Sprintf("sh.helm.release.v1.web.v3|helm.sh/release.v1|%[1]s|3|superseded|helm|t\nsh.helm.release.v1.web.v4|helm.sh/release.v1|%[1]s|4|deployed|helm|t\n", r.namespace)
			if diff := cmp.Diff(want, rows); diff != "" {
				t.Errorf("rows: -want +got:\n%s", diff)
			}
			for _, name := range []string{"us", "helm3", "helm4"} {
				for _, of := range []string{"-A", "--selector=team=shop"} {
					if list := r.run(name, "list", of, "-o", "json"); !strings.Contains(list, `"name":"web"`) {
						t.Errorf("%s list %s: %s", name, of, list)
					}
				}
			}
			r.run(order[4], "uninstall", "web")
			if left := server.SQL(t, database, "SELECT key FROM releases_v1 UNION ALL SELECT releasekey FROM custom_labels_v1"); left != "" {
				t.Errorf("rows are left: %s", left)
			}
		})
	}
	for _, name := range []string{"helm3", "helm4"} {
		if diff := cmp.Diff(schemas[name], schemas["us"]); diff != "" {
			t.Errorf("%s creates other tables than we do: -%s +us:\n%s", name, name, diff)
		}
	}
}
