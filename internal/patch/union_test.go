package patch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

func TestRivals(t *testing.T) {
	deployment := func(spec string) *unstructured.Unstructured {
		return objecttest.Parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: "+spec+"}")
	}
	pod := func(spec string) *unstructured.Unstructured {
		return deployment("{template: {spec: " + spec + "}}")
	}
	for why, c := range map[string]struct {
		stored, live, target *unstructured.Unstructured
		want                 []string
	}{
		"a type excludes what belongs to another one": {
			live:   deployment("{strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}"),
			target: deployment("{strategy: {type: Recreate}}"), want: []string{"spec.strategy.rollingUpdate"},
		},
		"a type keeps what belongs to it": {
			live:   deployment("{strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}"),
			target: deployment("{strategy: {type: RollingUpdate}}"),
		},
		"no type asks for the default, whatever that is": {
			live:   deployment("{strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}"),
			target: deployment("{strategy: {}}"),
		},
		"one member excludes the others, in the item of the same name": {
			live:   pod("{volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}]}"),
			target: pod("{volumes: [{name: b, secret: {}}, {name: c, secret: {}}]}"), want: []string{"spec.template.spec.volumes[b].emptyDir"},
		},
		"without a member nothing is excluded": {
			live: pod("{volumes: [{name: a, emptyDir: {}}]}"), target: pod("{volumes: [{name: a}]}"),
		},
		"what the chart says itself is for the API server to refuse": {
			live:   pod("{volumes: [{name: a, emptyDir: {}}]}"),
			target: pod("{volumes: [{name: a, emptyDir: {}, secret: {}}]}"),
		},
		"a null says that there is none": {
			live:   pod("{containers: [{name: web, livenessProbe: {exec: {}}}]}"),
			target: pod("{containers: [{name: web, livenessProbe: {exec: null, grpc: {port: 1}}}]}"), want: []string{"spec.template.spec.containers[web].livenessProbe.exec"},
		},
		"an old name goes with the new one": {
			stored: pod("{serviceAccountName: shop}"),
			live:   pod("{serviceAccountName: shop, serviceAccount: shop}"), target: pod("{}"), want: []string{"spec.template.spec.serviceAccount"},
		},
		"an account that the chart never had is somebody else's": {
			stored: pod("{}"), live: pod("{serviceAccountName: shop, serviceAccount: shop}"), target: pod("{}"),
		},
		"custom resources have no unions that are known": {
			live:   objecttest.Parse(t, "{apiVersion: example.com/v1, kind: Deployment, spec: {strategy: {type: RollingUpdate, rollingUpdate: {}}}}"),
			target: objecttest.Parse(t, "{apiVersion: example.com/v1, kind: Deployment, spec: {strategy: {type: Recreate}}}"),
		},
	} {
		t.Run(why, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Rivals(c.stored, c.live, c.target)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			p, err := ThreeWay(c.stored, c.live, c.target)
			if err != nil {
				t.Fatal(err)
			}
			after, err := Apply(c.live, p)
			if err != nil {
				t.Fatal(err)
			}
			if left := Rivals(c.stored, after, c.target); len(left) > 0 {
				t.Errorf("a client-side patch leaves %v: %s", left, p.Data)
			}
		})
	}
}
