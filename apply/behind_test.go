package apply_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

const door = `apiVersion: v1
kind: Service
metadata: {name: old, namespace: shop}
spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}
`

const otherDoor = `apiVersion: v1
kind: Service
metadata: {name: new, namespace: shop}
spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}
`

// reserved is a cluster in which the deletion of a Service has ended only once somebody has waited for it.
type reserved struct {
	*clusterfake.Cluster
	waited bool
}

func (r *reserved) Watch(ctx context.Context, gvk schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	r.waited = r.waited || gvk.Kind == "Service" && names[0] == "old"
	return r.Cluster.Watch(ctx, gvk, namespace, names, see)
}

func (r *reserved) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if u.GetName() == "new" && !r.waited {
		return nil, errors.New("provided port is already allocated")
	}
	return r.Cluster.Create(ctx, u, o)
}

// A Service that takes a node port over from one that the chart has dropped is created once that one is gone.
func TestAServiceWaitsForTheDeletionOfAnother(t *testing.T) {
	w := clusterfake.New()
	if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, door)), w.Env()); err != nil {
		t.Fatal(err)
	}
	env := w.Env()
	env.Cluster = &reserved{Cluster: w}
	if _, err := apply.Run(t.Context(), planned(t, w, plan.Upgrade, revision(2, otherDoor)), env); err != nil {
		t.Fatal(err)
	}
	if objects, _ := state(w); len(objects) != 1 || objects["Service/new"] == "" {
		t.Error(objects)
	}
}
