package plan

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// About an apply the API server can't be asked while somebody's fields are in a version that it does not serve;
// its conflicts are those that managedFields tells of.
func TestConflictsOfUnservedVersions(t *testing.T) {
	cart := schema.GroupKind{Group: "shop.io", Kind: "Cart"}
	doc := func(size int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "shop.io/v1", "kind": cart.Kind, "metadata": map[string]any{"name": "web", "namespace": "shop"},
			"spec": map[string]any{"size": size, "color": "red"},
		}}
	}
	entry := func(manager string, how metav1.ManagedFieldsOperationType, version, fields string) metav1.ManagedFieldsEntry {
		e := metav1.ManagedFieldsEntry{Manager: manager, Operation: how, APIVersion: "shop.io/" + version, FieldsV1: &metav1.FieldsV1{}}
		e.FieldsV1.SetRawBytes([]byte(fields))
		return e
	}
	const size, color = `{"f:spec":{"f:size":{}}}`, `{"f:spec":{"f:color":{}}}`
	for name, test := range map[string]struct {
		owner        metav1.ManagedFieldsEntry
		force        bool
		drift, block bool
	}{
		"edited by hand":           {owner: entry("kubectl-edit", metav1.ManagedFieldsOperationUpdate, "v1", size), drift: true},
		"set by a controller":      {owner: entry("sizes", metav1.ManagedFieldsOperationUpdate, "v1", size), block: true},
		"applied by somebody else": {owner: entry("kubectl", metav1.ManagedFieldsOperationApply, "v1", size), block: true},
		"forced":                   {owner: entry("sizes", metav1.ManagedFieldsOperationUpdate, "v1", size), force: true},
		"another field":            {owner: entry("sizes", metav1.ManagedFieldsOperationUpdate, "v1", color)},
	} {
		t.Run(name, func(t *testing.T) {
			record := &release.Revision{Name: "web", Namespace: "shop", Version: 1, Info: release.Info{Status: release.StatusDeployed}}
			o := func(size int64) manifest.Object {
				return manifest.Object{ID: manifest.ID{Group: cart.Group, Kind: cart.Kind, Namespace: "shop", Name: "web"}, Version: "v1", Doc: doc(size)}
			}
			live := owned(doc(2), record.Key())
			live.SetUID("1")
			live.SetManagedFields([]metav1.ManagedFieldsEntry{
				entry("helm", metav1.ManagedFieldsOperationApply, "v1alpha1", color), test.owner,
			})
			in := Input{
				Operation: Upgrade, Release: record.Key(), History: release.History{record}, Options: Options{ServerSide: true, FieldManager: "helm", ForceConflicts: test.force},
				Kinds: map[schema.GroupKind]Kind{cart: {Scope: manifest.ScopeNamespaced, Versions: []string{"v1"}}},
				Live:  map[manifest.ID]Observation{o(1).ID: Observed(live)}, Target: &Target{Record: record, Objects: []manifest.Object{o(3)}},
				Stored:      []StoredObject{{ID: o(1).ID, Docs: []manifest.Object{o(1)}, Revision: 1, Revisions: []int{1}}},
				Predictions: map[string]Prediction{stepID(StageResources, o(1).ID): {After: owned(doc(3), record.Key())}},
			}
			p, _, err := Build(in)
			if err != nil {
				t.Fatal(err)
			}
			var step Step
			p.Steps(func(stage StageName, s *Step) {
				if stage == StageResources {
					step = *s
				}
			})
			if step.ForcesDrift != test.drift || p.Blocked() != test.block || !test.block && (step.Op != OpPatch || step.Fidelity != FidelityExact) {
				t.Errorf("the step is %s %s, forced: %v; the plan has the problems %v", step.Fidelity, step.Op, step.ForcesDrift, p.Problems)
			}
		})
	}
}
