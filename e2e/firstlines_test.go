//go:build cluster

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestTheFirstLinesTellWhatMatters plans upgrades of popular charts without a cluster.
// Somebody who reads only the first 25 lines, on a terminal of 80 or 120 columns, must learn
// why such an upgrade is feared.
func TestTheFirstLinesTellWhatMatters(t *testing.T) {
	t.Parallel()
	versions := inTree("..", "shared", "versions")
	redis := []string{"--set", "auth.password=not-random"}
	for _, c := range []struct {
		chart, from, to string
		flags           []string
		// told are texts in the first lines; differences in white space do not count.
		told []string
	}{
		{"kube-prometheus-stack", "83.7.0", "88.5.3", nil, []string{
			"! 9 CRDs in crds/ differ from the base's", "add --update-crds", "validate more strictly", "2 hooks change, 10 hooks as before",
			"2 Deployments (2 pods)", "1 DaemonSet", "prometheus-operator v0.90.1 → v0.93.1", "prometheus v3.11.2 → v3.14.0-distroless", "kube-webhook-certgen 1.8.1 → 1.8.7",
		}},
		{"argo-cd", "9.7.1", "10.1.1", nil, []string{
			"6 NetworkPolicies are new: r-argocd-application-controller", "6 Deployments (6 pods), 1 StatefulSet (1 pod)", "4 hooks as before",
			"defaults global.networkPolicy.create false → true",
		}},
		{"ingress-nginx", "4.13.5", "4.15.1", nil, []string{
			"controller v1.13.5 → v1.15.1", "kube-webhook-certgen v1.6.5 → v1.6.9", "2 hooks change, 10 hooks as before", "1 Deployment (1 pod)",
		}},
		{"redis", "18.19.4", "23.1.1", redis, []string{
			"Risks: 2 changes of what data depends on", "2 StatefulSets (4 pods)", "redis: memory none → 192Mi", "StatefulSet/r-redis-master: has volumes and changes:", "containers[redis].image", "redis 7.2.4-debian-12-r9 → 8.2.1-debian-12-r0", "defaults auth.usePasswordFiles false → true", "(app 7.2.4 → 8.2.1)",
		}},
		{"postgresql", "15.5.38", "17.1.0", []string{"--set", "auth.postgresPassword=not-random"}, []string{
			"StatefulSet/r-postgresql: has volumes and changes:", "containers[postgresql].image", "postgresql 16.4.0-debian-12-r14 → 17.6.0-debian-12-r4",
		}},
		{"jenkins", "5.9.29", "5.9.53", nil, []string{"StatefulSet/r-jenkins: has volumes and changes:", "jenkins 2.555.3-jdk21 → 2.568.2-jdk21", "1 StatefulSet (1 pod)"}},
		{"traefik", "39.0.9", "41.3.0", nil, []string{
			"! 11 CRDs in crds/ differ", "drop fields or versions in apiauths.hub.traefik.io", "2 new: contentitems, uplinks", "traefik v3.6.15 → v3.7.11",
		}},
	} {
		for _, columns := range []int{80, 120} {
			t.Run(fmt.Sprintf("%s %s at %d columns", c.chart, c.from, columns), func(t *testing.T) {
				base, target := filepath.Join(versions, c.chart, c.from+".tgz"), filepath.Join(versions, c.chart, c.to+".tgz")
				for _, file := range []string{base, target} {
					if _, err := os.Stat(file); err != nil {
						t.Fatalf("the chart has to be in ../shared/versions: %v", err)
					}
				}
				args := append([]string{fmt.Sprintf("COLUMNS=%d", columns), clustertest.Program(t), "plan", "r", target, "--offline", "--against", base}, c.flags...)
				r := cluster.Run(t, "env", "", args...)
				if r.ExitCode != 0 {
					t.Fatalf("exit code %d\n%s", r.ExitCode, r.Stderr)
				}
				lines := strings.Split(r.Stdout, "\n")
				first := strings.Join(lines[:min(25, len(lines))], "\n")
				words := strings.Join(strings.Fields(first), " ")
				for _, told := range c.told {
					if !strings.Contains(words, told) {
						t.Errorf("the first lines don't say %q:\n%s", told, first)
					}
				}
			})
		}
	}
}
