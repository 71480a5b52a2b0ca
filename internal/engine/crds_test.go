package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

// umbrella returns a chart with two subcharts that can be disabled, both with a CRD of their own and
// one that they share. Its ConfigMap says which of their kinds are served.
func umbrella(values map[string]any) Source {
	crd := func(file, kind, plural string) *chart.File {
		return &chart.File{Name: "crds/" + file, Data: []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.x.io}
spec:
  group: x.io
  names: {kind: ` + kind + `, plural: ` + plural + `}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)}
	}
	sub := func(name string, files ...*chart.File) *chart.Chart {
		return &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: name, Version: "1.0.0"}, Files: files}
	}
	c := &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "umbrella", Version: "1.0.0", Dependencies: []*chart.Dependency{
			{Name: "one", Version: "1.0.0", Condition: "one.enabled"},
			{Name: "two", Version: "1.0.0", Tags: []string{"extra"}},
		}},
		Templates: []*chart.File{{Name: "templates/web.yaml", Data: []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  one: {{ .Capabilities.APIVersions.Has "x.io/v1/One" | quote }}
  two: {{ .Capabilities.APIVersions.Has "x.io/v1/Two" | quote }}
`)}},
	}
	shared := crd("shared.yaml", "Shared", "shareds")
	c.AddDependency(sub("one", crd("one.yaml", "One", "ones"), shared), sub("two", crd("two.yaml", "Two", "twos"), shared))
	return Source{Chart: c, Values: values}
}

// CRDs of subcharts that are disabled are neither created nor seen by templates, and one that several
// subcharts have is created once. Helm 4.3.1 processes the dependencies first, too (pkg/action/install.go).
func TestCRDsOfSubcharts(t *testing.T) {
	enabled := func(one, extra bool) map[string]any {
		return map[string]any{"one": map[string]any{"enabled": one}, "tags": map[string]any{"extra": extra}}
	}
	for name, c := range map[string]struct {
		values   map[string]any
		created  []string
		one, two string
	}{
		"both":    {nil, []string{"ones.x.io", "shareds.x.io", "twos.x.io"}, "true", "true"},
		"one":     {enabled(true, false), []string{"ones.x.io", "shareds.x.io"}, "true", "false"},
		"two":     {enabled(false, true), []string{"shareds.x.io", "twos.x.io"}, "false", "true"},
		"neither": {enabled(false, false), nil, "false", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
				var created []string
				data := map[string]any{}
				p, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: umbrella(c.values)})
				if err != nil {
					t.Fatal(err)
				}
				p.Steps(func(_ plan.StageName, s *plan.Step) {
					switch {
					case s.Op != plan.OpCreate:
					case s.Object.IsCRD():
						created = append(created, s.Object.Name)
					default:
						data = s.Body.Object["data"].(map[string]any)
					}
				})
				slices.Sort(created)
				if diff := cmp.Diff(c.created, created); diff != "" {
					t.Errorf("CRDs -want +got:\n%s", diff)
				}
				if diff := cmp.Diff(map[string]any{"one": c.one, "two": c.two}, data); diff != "" {
					t.Errorf("served -want +got:\n%s", diff)
				}
			})
		})
	}
}

// gadgets is a cluster that serves the kind Gadget of x.io in v1beta1 only.
type gadgets struct{ *clusterfake.Cluster }

func (c gadgets) Facts(ctx context.Context) (cluster.Facts, error) {
	facts, err := c.Cluster.Facts(ctx)
	facts.APIVersions = append(facts.APIVersions, "x.io/v1beta1", "x.io/v1beta1/Gadget")
	return facts, err
}

// A version of crds/ that an existing CRD lacks is not seen by templates unless CRDs are updated: Helm
// 4.3.1 leaves CRDs alone when it upgrades (pkg/action/upgrade.go).
func TestVersionsOfExistingCRDs(t *testing.T) {
	source := umbrella(nil)
	source.Chart.Templates[0].Data = []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {served: "{{ range list "x.io/v1beta1/Gadget" "x.io/v1" "x.io/v1/Gadget" "y.io/v1/Other" }}{{ if $.Capabilities.APIVersions.Has . }}{{ . }} {{ end }}{{ end }}"}
`)
	crd := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.%[1]s}
spec: {group: %[1]s, names: {kind: %[3]s, plural: %[2]s}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}
`
	source.Chart.Metadata.Dependencies = nil
	source.Chart.SetDependencies()
	source.Chart.Files = []*chart.File{
		{Name: "crds/gadgets.yaml", Data: fmt.Appendf(nil, crd, "x.io", "gadgets", "Gadget")},
		{Name: "crds/others.yaml", Data: fmt.Appendf(nil, crd, "y.io", "others", "Other")},
	}
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.Cluster = gadgets{c}
		for updated, want := range map[bool]string{
			false: "x.io/v1beta1/Gadget y.io/v1/Other ",
			true:  "x.io/v1beta1/Gadget x.io/v1 x.io/v1/Gadget y.io/v1/Other ",
		} {
			p, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: source, Options: plan.Options{UpdateCRDs: updated}})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Record.Manifest; !strings.Contains(got, `"`+want+`"`) {
				t.Errorf("CRDs updated %v: rendered\n%swant %s", updated, got, want)
			}
		}
	})
}
