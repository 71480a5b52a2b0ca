package apply_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

const classAndPod = `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {priorityClassName: high, containers: [{name: web, image: web}]}
`

const quotaAndPod = `apiVersion: v1
kind: ResourceQuota
metadata: {name: pods, namespace: shop}
spec: {hard: {pods: 2}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: web}]}
`

// unaware is an API server that refuses a Pod some times, after some calls, since it does not know its PriorityClass.
type unaware struct {
	*clusterfake.Cluster
	refusals, refused, after int
}

func (u *unaware) Create(ctx context.Context, o *unstructured.Unstructured, w apply.WriteOptions) (*unstructured.Unstructured, error) {
	if o.GetKind() == "Pod" && u.Calls >= u.after && u.refused < u.refusals {
		u.refused++
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, o.GetName(), errors.New("no PriorityClass with name high was found"))
	}
	return u.Cluster.Create(ctx, o, w)
}

// The API server notices a new PriorityClass a moment later, as a controller does a quota: a Pod that needs what this
// run has written is sent again, and no other.
func TestPodsWaitForTheirPriorityClass(t *testing.T) {
	_, pod, _ := strings.Cut(classAndPod, "---\n")
	for name, c := range map[string]struct {
		chart             string
		refusals, refused int
		fails             bool
	}{
		"a new class that is noticed later": {classAndPod, 2, 2, false},
		"a new class that is never noticed": {classAndPod, 100, 6, true},
		"a class of somebody else":          {pod, 100, 1, true},
		"a quota that is counted later":     {quotaAndPod, 2, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := clusterfake.New()
			u := &unaware{Cluster: w, refusals: c.refusals}
			env := w.Env()
			env.Cluster = u
			env.Observer = ear(func(e apply.Event) {
				if e.Type == apply.StepRetried {
					t.Errorf("a retry is reported: %s", e.Message)
				}
			})
			_, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, c.chart)), env)
			if (err != nil) != c.fails || u.refused != c.refused {
				t.Errorf("%d times refused, error %v; want %d, an error: %v", u.refused, err, c.refused, c.fails)
			}
		})
	}
}
