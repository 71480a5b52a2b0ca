package kinds

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

func TestDefine(t *testing.T) {
	widget := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	const spec = "spec: {group: example.com, scope: Cluster, names: {kind: Widget, plural: widgets}, versions: [{name: v2, served: true}, {name: v1, served: false}, {served: true}, {name: v1beta1, served: true}, 1]}"
	for name, c := range map[string]struct {
		doc  string
		want Definition
		ok   bool
	}{
		"what is served counts, in its order": {
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, " + spec + "}",
			Definition{GroupKind: widget, Resource: "widgets", ClusterScoped: true, Served: []string{"v2", "v1beta1"}},
			true,
		},
		"the version that it is written in does not": {
			"{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, spec: {group: example.com, scope: Namespaced, names: {kind: Widget}}}",
			Definition{GroupKind: widget},
			true,
		},
		"a kind of that name in another group defines nothing": {
			"{apiVersion: example.com/v1, kind: CustomResourceDefinition, " + spec + "}", Definition{}, false,
		},
		"without a group it would define kinds of Kubernetes' own": {
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {names: {kind: ConfigMap}}}",
			Definition{GroupKind: schema.GroupKind{Kind: "ConfigMap"}},
			false,
		},
		"fields of the wrong type are none": {
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: 1, names: [], versions: {}}}", Definition{}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := Define(objecttest.Parse(t, c.doc))
			if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
				t.Errorf("ok is %v, and (-want +got):\n%s", ok, diff)
			}
		})
	}
	if _, ok := Define(nil); ok {
		t.Error("nothing defines a kind")
	}
}
