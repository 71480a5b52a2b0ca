package apply_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

// widgets is a CRD with a label, an allowed field, and two custom resources with a field.
const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, labels: {version: %q}}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s: {type: string}}}}}}}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: a, namespace: shop}
spec: {%[3]s: red}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: b, namespace: shop}
spec: {%[3]s: red}
`

var widgetKind = schema.GroupKind{Group: "example.com", Kind: "Widget"}

// What the API server answers to a patch whose outcome has a field that it does not know, with strict
// validation; to the same as a server-side apply; and to one with a value that is not allowed.
var (
	strictly   = apierrors.NewInvalid(widgetKind, "a", field.ErrorList{field.Invalid(field.NewPath("patch"), "{}", `strict decoding error: unknown field "spec.color"`)})
	undeclared = apierrors.NewBadRequest("failed to create typed patch object (shop/a; example.com/v1, Kind=Widget): .spec.color: field not declared in schema")
	notAllowed = apierrors.NewInvalid(widgetKind, "a", field.ErrorList{field.NotSupported(field.NewPath("spec", "color"), "red", []string{"blue"})})
)

// following is an API server that has a changed CRD's schema only when it has refused each custom resource
// some times. Where it refuses only strictly, it drops the new field of others.
type following struct {
	*clusterfake.Cluster
	err      error
	refusals int
	together sync.WaitGroup // the sixth attempts with both objects are answered at the same time

	mu               sync.Mutex
	refused, dropped map[string]int
}

func (f *following) Patch(ctx context.Context, ref apply.Ref, p apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if ref.Kind != "Widget" {
		return f.Cluster.Patch(ctx, ref, p, o)
	}
	f.mu.Lock()
	refused := f.refused[ref.Name] < f.refusals && (!errors.Is(f.err, strictly) || o.Strict)
	if refused {
		f.refused[ref.Name]++
	} else if f.refused[ref.Name] < f.refusals {
		f.dropped[ref.Name]++
	}
	sixth := refused && f.refused[ref.Name] == 6
	f.mu.Unlock()
	if sixth {
		f.together.Done()
		f.together.Wait()
	}
	if refused {
		return nil, f.err
	}
	return f.Cluster.Patch(ctx, ref, p, o)
}

// The API server follows a changed CRD a moment later: until then, custom resources that need the new
// schema are sent again, instead of failing or losing their new fields.
func TestCustomResourcesWaitForTheirSchema(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		refusals int
		label    bool // only the CRD's label changes, not its schema
		refused  int
		dropped  int
		fails    bool
	}{
		"an unknown field":                     {err: strictly, refusals: 2, refused: 2},
		"an undeclared field":                  {err: undeclared, refusals: 2, refused: 2},
		"a value that is not allowed":          {err: notAllowed, refusals: 2, refused: 2},
		"a field that stays unknown":           {err: strictly, refusals: 100, refused: 6, dropped: 1},
		"a field that stays undeclared":        {err: undeclared, refusals: 100, refused: 6, fails: true},
		"a value that is never allowed":        {err: notAllowed, refusals: 100, refused: 6, fails: true},
		"an unknown field, the schema as ever": {err: strictly, refusals: 100, label: true, dropped: 1},
		"a value, the schema as ever":          {err: notAllowed, refusals: 100, label: true, refused: 1, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, field := clusterfake.New(), "size"
			if c.label {
				field = "color"
			}
			if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, fmt.Sprintf(widgets, "1", field, "size"))), w.Env()); err != nil {
				t.Fatal(err)
			}
			p := planned(t, w, plan.Upgrade, revision(2, fmt.Sprintf(widgets, "2", "color", "color")))
			f := &following{Cluster: w, refusals: c.refusals, err: c.err, refused: map[string]int{}, dropped: map[string]int{}}
			f.together.Add(2)
			env := w.Env()
			env.Cluster = f
			env.Observer = ear(func(e apply.Event) {
				if e.Type == apply.StepRetried {
					t.Errorf("a retry is reported: %s", e.Message)
				}
			})
			if _, err := apply.Run(t.Context(), p, env); (err != nil) != c.fails {
				t.Errorf("got %v", err)
			}
			for _, name := range []string{"a", "b"} {
				if name == "b" && c.fails && c.label {
					continue // it may not be sent any more
				}
				if f.refused[name] != c.refused || f.dropped[name] != c.dropped {
					t.Errorf("%s: %d times refused, %d dropped; want %d, %d", name, f.refused[name], f.dropped[name], c.refused, c.dropped)
				}
			}
		})
	}
}
