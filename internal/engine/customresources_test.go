package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// defining returns a chart with a ConfigMap and, unless the scope is empty, a CRD among its templates.
func defining(scope string) Source {
	return Source{Values: map[string]any{"scope": scope}, Chart: &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "defining", Version: "1.0.0"},
		Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: web}
{{- with .Values.scope }}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.x.io}
spec:
  group: x.io
  names: {kind: Widget, plural: widgets}
  scope: {{ . }}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
{{- end }}
`)}},
	}}
}

// listing is a cluster in which listing Widgets gives an error.
type listing struct {
	*clusterfake.Cluster
	err error
}

func (c listing) Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	if kind == "Widget" && c.err != nil {
		return nil, c.err
	}
	return c.Cluster.Lookup(ctx, apiVersion, kind, namespace, name)
}

// S17: a CRD is neither deleted nor recreated as long as it has, or may have, custom resources that
// would be lost. Whoever uninstalls the release is told.
func TestCustomResourcesThatWouldBeLost(t *testing.T) {
	widget := schema.GroupResource{Group: "x.io", Resource: "widgets"}
	upgradeTo := func(scope string) func(context.Context, bench) (*plan.Plan, error) {
		return func(ctx context.Context, b bench) (*plan.Plan, error) {
			return b.PlanDeployment(ctx, Deployment{Release: webKey, Source: defining(scope), Options: plan.Options{Force: true}})
		}
	}
	removed, recreated := upgradeTo(""), upgradeTo("Cluster")
	uninstalled := func(ctx context.Context, b bench) (*plan.Plan, error) {
		return b.PlanUninstall(ctx, webKey, Uninstall{})
	}
	const own, other, none = "web", "other", ""
	forbidden := apierrors.NewForbidden(widget, "", errors.New("no role allows it"))
	const uncounted = "which could not be counted: widgets.x.io is forbidden"
	for name, c := range map[string]struct {
		plan  func(context.Context, bench) (*plan.Plan, error)
		owner string
		err   error
		says  string
		warns bool
	}{
		"removed, somebody's":    {plan: removed, owner: other, says: "1 of which do not belong to this release"},
		"removed, the release's": {plan: removed, owner: own},
		"removed, none":          {plan: removed, owner: none},
		"removed, forbidden":     {plan: removed, err: forbidden, says: uncounted},
		"removed, down":          {plan: removed, err: apierrors.NewServiceUnavailable("down"), says: "which could not be counted: down"},
		"removed, not served":    {plan: removed, err: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "x.io", Kind: "Widget"}}},
		"removed, no such kind":  {plan: removed, err: &templating.UnknownKindError{APIVersion: "x.io/v1", Kind: "Widget"}},
		"removed, not found":     {plan: removed, err: apierrors.NewNotFound(widget, "")},
		"recreated, somebody's":  {plan: recreated, owner: other, says: "deleting and creating it also deletes its custom resources, of which there is 1"},
		"recreated, own":         {plan: recreated, owner: own, says: "of which there is 1"},
		"recreated, none":        {plan: recreated, owner: none},
		"recreated, forbidden":   {plan: recreated, err: forbidden, says: uncounted},
		"uninstalled, forbidden": {plan: uninstalled, err: forbidden, says: uncounted, warns: true},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, fake *clusterfake.Cluster) {
				if _, err := b.deploy(Deployment{Source: defining("Namespaced")}, nothing); err != nil {
					t.Fatal(err)
				}
				if c.owner != none {
					fake.Put(objecttest.Parse(t, `{apiVersion: x.io/v1, kind: Widget, metadata: {name: a, namespace: shop, annotations: {
						meta.helm.sh/release-name: `+c.owner+`, meta.helm.sh/release-namespace: shop}}}`))
				}
				crd := manifest.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.x.io"}
				fake.Refuse = map[manifest.ID]*plan.Refusal{crd: {Reason: "Invalid", Message: "field is immutable", Immutable: true, Fields: []string{"spec.scope"}}}
				b.Cluster = listing{fake, c.err}
				p, err := c.plan(t.Context(), b)
				if err != nil {
					t.Fatal(err)
				}
				var said []string
				for _, problem := range p.Problems {
					if strings.Contains(problem.What, "custom resources") {
						said = append(said, problem.What)
						if problem.Blocking == c.warns {
							t.Errorf("%s blocks: %t", problem.What, problem.Blocking)
						}
					}
				}
				if got := strings.Join(said, "\n"); !strings.Contains(got, c.says) || c.says == "" && got != "" {
					t.Errorf("the plan says %q, want %q", got, c.says)
				}
			})
		})
	}
}
