package apply_test

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

const redefinedWidget = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: a, namespace: shop}
spec: {%s}
`

// following is an API server that has a changed CRD's schema only when it has refused custom resources
// with it some times. Until then, it drops the new field unless the validation is strict.
type following struct {
	*clusterfake.Cluster
	refusals, refused, dropped int
	err                        error
}

func (f *following) Patch(ctx context.Context, ref apply.Ref, p apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if ref.Kind != "Widget" || f.refused == f.refusals {
		return f.Cluster.Patch(ctx, ref, p, o)
	}
	if o.Strict || apierrors.IsInvalid(f.err) {
		f.refused++
		return nil, f.err
	}
	f.dropped++
	return f.Cluster.Patch(ctx, ref, p, o)
}

// The API server follows a changed CRD a moment later: until then, custom resources that need the new
// schema are sent again, instead of failing or losing their new fields.
func TestACustomResourceWaitsForItsSchema(t *testing.T) {
	unknown := apierrors.NewBadRequest(`strict decoding error: unknown field "spec.color"`)
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "example.com", Kind: "Widget"}, "a", nil)
	for name, c := range map[string]struct {
		err                           error
		refusals                      int
		wantRefused, dropped, retries int
		fails                         bool
	}{
		"an unknown field":            {err: unknown, refusals: 2, wantRefused: 2},
		"a value that is not allowed": {err: invalid, refusals: 2, wantRefused: 2},
		"a field that stays unknown":  {err: unknown, refusals: 100, wantRefused: 6, dropped: 1, retries: 3},
		"a value that is never valid": {err: invalid, refusals: 100, wantRefused: 6, fails: true, retries: 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := clusterfake.New()
			if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, fmt.Sprintf(redefinedWidget, "size: {type: string}", "size: a"))), w.Env()); err != nil {
				t.Fatal(err)
			}
			p := planned(t, w, plan.Upgrade, revision(2, fmt.Sprintf(redefinedWidget, "color: {type: string}", "color: red")))
			f, retries := &following{Cluster: w, refusals: c.refusals, err: c.err}, 0
			env := w.Env()
			env.Cluster = f
			env.Observer = ear(func(e apply.Event) {
				if e.Type == apply.StepRetried {
					retries++
				}
			})
			if _, err := apply.Run(t.Context(), p, env); (err != nil) != c.fails {
				t.Errorf("got %v", err)
			}
			if f.refused != c.wantRefused || f.dropped != c.dropped || retries != c.retries {
				t.Errorf("%d times refused, %d dropped, %d retries reported; want %d, %d, %d", f.refused, f.dropped, retries, c.wantRefused, c.dropped, c.retries)
			}
		})
	}
}

// A kind whose CRD this run leaves as it is has its schema already.
func TestARefusedCustomResourceFailsAtOnce(t *testing.T) {
	w := clusterfake.New()
	if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, fmt.Sprintf(redefinedWidget, "size: {type: string}", "size: a"))), w.Env()); err != nil {
		t.Fatal(err)
	}
	f := &following{Cluster: w, refusals: 100, err: apierrors.NewInvalid(schema.GroupKind{Kind: "Widget"}, "a", nil)}
	env := w.Env()
	env.Cluster = f
	p := planned(t, w, plan.Upgrade, revision(2, fmt.Sprintf(redefinedWidget, "size: {type: string}", "size: b")))
	if _, err := apply.Run(t.Context(), p, env); err == nil || f.refused != 1 {
		t.Errorf("refused %d times, got %v", f.refused, err)
	}
}
