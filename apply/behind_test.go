package apply_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

const farDoor = `apiVersion: v1
kind: Service
metadata: {name: far, namespace: other}
spec: {type: NodePort, ports: [{port: 80, nodePort: 30081}]}
`

const bothDoors = `apiVersion: v1
kind: Service
metadata: {name: new, namespace: shop}
spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}, {port: 81, nodePort: 30081}]}
`

const fixedDoor = `apiVersion: v1
kind: Service
metadata: {name: old, namespace: shop}
spec: {type: NodePort, clusterIP: 10.96.0.7, ports: [{port: 80, nodePort: 30080}]}
`

// reserved is a cluster in which the deletions of Services have ended only once somebody has waited for them. Some
// requests later it frees what they had.
type reserved struct {
	*clusterfake.Cluster
	waited       []string
	late, failed int
}

func (r *reserved) Watch(ctx context.Context, gvk schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	if gvk.Kind == "Service" {
		r.waited = append(r.waited, names...)
	}
	return r.Cluster.Watch(ctx, gvk, namespace, names, see)
}

func (r *reserved) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if u.GetKind() == "Service" && r.failed < r.late {
		r.failed++
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, u.GetName(), field.ErrorList{field.Invalid(field.NewPath("spec", "ports"), 30080, "provided port is already allocated")})
	}
	return r.Cluster.Create(ctx, u, o)
}

// A Service that takes node ports over from others that the chart has dropped is created once all of those are gone, and
// sent again, as one is that is deleted and created again, while the API server has not freed their ports yet.
func TestServicesWaitForWhatDeletedOnesHad(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		late          int
		waited        []string
		fails         bool
	}{
		"one":                 {door, otherDoor, 0, []string{"old"}, false},
		"two":                 {door + "---\n" + farDoor, bothDoors, 0, []string{"old", "far"}, false},
		"freed later":         {door, otherDoor, 2, []string{"old"}, false},
		"never freed":         {door, otherDoor, 100, []string{"old"}, true},
		"created again":       {strings.Replace(fixedDoor, "0.7", "0.6", 1), fixedDoor, 2, []string{"old"}, false},
		"taken by a stranger": {"", otherDoor, 2, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := clusterfake.New()
			if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, c.before)), w.Env()); err != nil {
				t.Fatal(err)
			}
			r := &reserved{Cluster: w, late: c.late}
			env := w.Env()
			env.Cluster = r
			_, err := apply.Run(t.Context(), plannedWith(t, w, plan.Upgrade, revision(2, c.after), plan.Options{Force: true}), env)
			if (err != nil) != c.fails || !slices.Equal(r.waited, c.waited) {
				t.Errorf("waited for %v, error %v; want %v, an error: %v", r.waited, err, c.waited, c.fails)
			}
		})
	}
}
