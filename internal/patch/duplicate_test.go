package patch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// Strategic merge identifies ports by their number, a server-side apply by number and
// protocol: what counts as the same item twice depends on what is sent.
func TestDuplicateKeys(t *testing.T) {
	target := objecttest.Parse(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      imagePullSecrets: [{}]
      topologySpreadConstraints:
      - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
      - {topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}
      containers:
      - name: web
        env: [{name: A, value: "1"}, {name: B}, {name: A, value: "2"}, {name: A}]
        ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}]
      - name: other
        env: [{name: A}]
        ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}]`)
	keys := func(serverSide bool) []string {
		var got []string
		for _, d := range DuplicateKeys(target, serverSide) {
			got = append(got, d.Path+" "+d.Key)
		}
		return got
	}
	want := []string{
		"spec.template.spec.containers[other].ports containerPort=80",
		"spec.template.spec.containers[web].env name=A",
		"spec.template.spec.containers[web].ports containerPort=53",
		"spec.template.spec.imagePullSecrets name",
		"spec.template.spec.topologySpreadConstraints topologyKey=zone",
	}
	if diff := cmp.Diff(want, keys(false)); diff != "" {
		t.Errorf("merge keys (-want +got):\n%s", diff)
	}
	want = []string{
		"spec.template.spec.containers[other].ports containerPort=80, protocol=TCP",
		"spec.template.spec.containers[web].env name=A",
		"spec.template.spec.imagePullSecrets name",
	}
	if diff := cmp.Diff(want, keys(true)); diff != "" {
		t.Errorf("keys of a server-side apply (-want +got):\n%s", diff)
	}
	if got := DuplicateKeys(objecttest.Parse(t, "{apiVersion: example.com/v1, kind: Widget, spec: {env: [{name: A}, {name: A}]}}"), false); len(got) > 0 {
		t.Errorf("a custom resource has no merge keys, got %v", got)
	}
}
