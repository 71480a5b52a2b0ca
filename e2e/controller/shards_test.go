//go:build cluster

package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Three replicas share the HelmReleases by their leases: each HelmRelease is installed once, every
// replica has a part, and when one replica is killed, the others take over its part.
func TestReplicasShare(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	replicas := []*process{}
	for range 3 {
		replicas = append(replicas, r.start("--automatic-shards"))
	}
	for _, c := range replicas {
		r.eventually("three replicas share", func() bool { return strings.Contains(c.log.String(), `"replicas":3`) })
	}
	const n = 24
	for i := range n {
		r.release(fmt.Sprintf("web-%d", i), "")
	}
	all := func(version string, revision int) {
		r.Helper()
		for i := range n {
			hr := r.ready(fmt.Sprintf("web-%d", i), version)
			if got := hr.Status.History[0].Version; got != revision {
				t.Errorf("%s is at revision %d, want %d", hr, got, revision)
			}
		}
	}
	all("1.0.0", 1)
	var parts []int
	told := 0
	r.eventually("the logs tell of all installs", func() bool {
		parts, told = nil, 0
		for _, c := range replicas {
			part := strings.Count(c.log.String(), `"reason":"InstallSucceeded"`)
			parts, told = append(parts, part), told+part
		}
		return told >= n
	})
	if told != n || slices.Contains(parts, 0) || slices.Contains(parts, n) {
		t.Errorf("of %d HelmReleases the replicas have installed %v", n, parts)
	}
	replicas[0].kill()
	r.publish("app", "1.1.0", settings(""))
	all("1.1.0", 2)
}

// A shard by label works next to the one that has the rest, each under its own lease, and neither
// touches what belongs to the other (https://fluxcd.io/flux/installation/configuration/sharding/).
func TestShardsByLabel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	rest := r.start("--watch-label-selector=!sharding.fluxcd.io/key")
	shard := r.start("--watch-label-selector=sharding.fluxcd.io/key=shard1")
	r.release("web", "")
	cluster.Apply(t, r.namespace, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, labels: {sharding.fluxcd.io/key: shard1}}
spec: {interval: 10m, timeout: 30s, chartRef: {kind: HelmChart, name: app}, dependsOn: [{name: web}]}`)
	r.ready("web", "1.0.0")
	r.ready("shop", "1.0.0")
	for name, by := range map[string][2]*process{"web": {rest, shard}, "shop": {shard, rest}} {
		installed := fmt.Sprintf(`"name":%q,"reason":"InstallSucceeded"`, name)
		r.eventually("its shard installs "+name, func() bool { return strings.Contains(by[0].log.String(), installed) })
		if strings.Contains(by[1].log.String(), installed) {
			t.Errorf("%s is installed by another one than its shard", name)
		}
	}
	if leases := r.kubectl("get", "leases", "-o", "name"); strings.Count(leases, "helm-controller-leader-election-") != 2 {
		t.Errorf("leases are %s", leases)
	}
}
