package managedfields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

func TestAsApplied(t *testing.T) {
	live := objecttest.Parse(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","managedFields":[
{"manager":"helm","operation":"Update","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:replicas":{}}}},
{"manager":"helm","operation":"Apply","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:strategy":{"f:type":{}}}}},
{"manager":"kubectl-edit","operation":"Update","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:strategy":{"f:rollingUpdate":{"f:maxSurge":{}}},"f:paused":{}}}},
{"manager":"rollouts","operation":"Update","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:strategy":{"f:rollingUpdate":{}}}}}]}}`)
	got, err := AsApplied(live.GetManagedFields(), "helm", "apps/v1", []string{"spec.strategy.rollingUpdate", `spec.volumes[a.b].emptyDir`})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"f:spec":{"f:replicas":{}}}`,
		`{"f:spec":{"f:strategy":{"f:rollingUpdate":{},"f:type":{}},"f:volumes":{"k:{\"name\":\"a.b\"}":{"f:emptyDir":{}}}}}`,
		`{"f:spec":{"f:paused":{}}}`,
		`{"f:spec":{"f:strategy":{"f:rollingUpdate":{}}}}`,
	}
	if diff := cmp.Diff(want, rawSets(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = AsApplied(nil, "helm", "apps/v1", []string{"spec.strategy"})
	if err != nil || len(got) != 1 || got[0].Manager != "helm" || got[0].APIVersion != "apps/v1" {
		t.Errorf("a manager without an entry should get one: %v, %v", got, err)
	}
	if got, _ := AsApplied(nil, "helm", "apps/v1", nil); got != nil {
		t.Errorf("without fields nothing changes: %v", got)
	}
}

func rawSets(entries []metav1.ManagedFieldsEntry) []string {
	var sets []string
	for _, e := range entries {
		sets = append(sets, string(e.FieldsV1.GetRawBytes()))
	}
	return sets
}
