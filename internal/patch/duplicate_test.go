package patch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// A long list is sent whole, as it would be merged item by item: strategicpatch, here and in the API server,
// compares each item with each.
func TestLongListsAreSentWhole(t *testing.T) {
	object := func(variables ...string) *unstructured.Unstructured {
		return objecttest.Parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: web, env: ["+strings.Join(variables, ",")+"]}]}}}}")
	}
	for n, whole := range map[int]bool{maxMatched - 2: false, maxMatched: true} {
		var stored, live, target []string
		for i := range n {
			stored = append(stored, fmt.Sprintf("{name: E%d, value: a}", i))
			live = append(live, fmt.Sprintf("{name: E%d, value: a}", i))
			target = append(target, fmt.Sprintf("{name: E%d, value: b}", i))
		}
		stored, live = append(stored, "{name: DROPPED, value: a}"), append(live, "{name: DROPPED, value: a}", "{name: OTHERS, value: a}")
		p, after := mustMerge(t, object(stored...), object(live...), object(target...))
		if got := strings.Contains(string(p.Data), `"$patch":"replace"`); got != whole {
			t.Errorf("%d items are sent whole: %v", n, got)
		}
		want := object(append(target, "{name: OTHERS, value: a}")...)
		if got := InApplyOrder(after, object(live...), object(target...)); len(variablesOf(got)) != n+1 || !cmp.Equal(variablesOf(got), variablesOf(want)) {
			t.Errorf("%d items become %.300v", n, variablesOf(got))
		}
	}
}

// variablesOf returns the variables of a Deployment by name.
func variablesOf(u *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec", "template", "spec")
	containers, _ := spec["containers"].([]any)
	container, _ := containers[0].(map[string]any)
	list, _ := container["env"].([]any)
	return identities(list, "name")
}
