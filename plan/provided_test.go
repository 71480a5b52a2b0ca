package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

const widgets = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.x.io},
spec: {group: x.io, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`

// bringing returns the input of a plan that creates the release's namespace and a CRD of crds/ if they
// are missing: there has what exists.
func bringing(t *testing.T, update bool, there ...*unstructured.Unstructured) plan.Input {
	t.Helper()
	in := oneChange(t)
	objects, err := manifest.ParseDocument(widgets, "web/crds/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	in.Target.CRDs = objects
	in.Options.CreateNamespace, in.Options.UpdateCRDs = true, update
	in.Live[plan.NamespaceID("shop")], in.Live[objects[0].ID] = plan.Observation{}, plan.Observation{}
	for _, o := range there {
		in.Predictions["crds/"+objects[0].Key()] = plan.Prediction{After: objects[0].Doc}
		in.Live[manifest.ID{Group: o.GroupVersionKind().Group, Kind: o.GetKind(), Name: o.GetName()}] = plan.Observed(o)
	}
	return in
}

// Releases of a set may share a namespace and CRDs, and the first that is applied brings them: the
// plans of the others still hold, unless what is there by then is something else.
func TestWhatAnotherReleaseHasBroughtIsNotStale(t *testing.T) {
	crd := func(change func(o *unstructured.Unstructured)) *unstructured.Unstructured {
		o := objecttest.Parse(t, widgets)
		o.SetUID("crd")
		change(o)
		return o
	}
	versioned := func(served bool) *unstructured.Unstructured {
		return crd(func(o *unstructured.Unstructured) {
			versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
			versions[0].(map[string]any)["served"] = served
			if err := unstructured.SetNestedSlice(o.Object, versions, "spec", "versions"); err != nil {
				t.Fatal(err)
			}
		})
	}
	for name, test := range map[string]struct {
		before, after []*unstructured.Unstructured
		update        bool
		says          string
	}{
		"nothing":                    {},
		"the namespace":              {after: []*unstructured.Unstructured{plan.NamespaceDoc("shop")}},
		"the CRD":                    {after: []*unstructured.Unstructured{versioned(true)}},
		"both":                       {after: []*unstructured.Unstructured{plan.NamespaceDoc("shop"), versioned(true)}},
		"the CRD, to be updated":     {before: []*unstructured.Unstructured{versioned(false)}, after: []*unstructured.Unstructured{versioned(true)}, update: true},
		"another CRD of the name":    {after: []*unstructured.Unstructured{versioned(false)}, says: "CustomResourceDefinition/widgets.x.io: create is no longer needed\nCustomResourceDefinition/widgets.x.io: wait is no longer needed"},
		"another one, to be updated": {after: []*unstructured.Unstructured{versioned(false)}, update: true, says: "CustomResourceDefinition/widgets.x.io: create was planned, but patch is needed now"},
	} {
		t.Run(name, func(t *testing.T) {
			got := said(plan.Stale(build(t, bringing(t, test.update, test.before...)), build(t, bringing(t, test.update, test.after...))))
			if got != test.says {
				t.Errorf("got %q, want %q", got, test.says)
			}
		})
	}
}
