package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Values of Secrets are noted from single lookups and lists, including former values that
// kubectl keeps, whatever templates do to what they were given.
func TestLookupsNoteWhatSecretsHold(t *testing.T) {
	secret := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"pw":"Zm9ybWVy"},"stringData":{"x":"plain"}}`,
		}},
		"data": map[string]any{"pw": "Y3VycmVudA==", "broken": 1},
	}
	l := &lookups{find: func(_, kind, _, name string) (map[string]any, error) {
		switch {
		case kind != "Secret":
			return map[string]any{"data": map[string]any{"open": "b3Blbg=="}}, nil
		case name == "":
			return map[string]any{"items": []any{secret}}, nil
		}
		return secret, nil
	}}
	find := l.answer(nil, nil)
	for _, ask := range [][2]string{{"ConfigMap", "a"}, {"Secret", "a"}, {"Secret", ""}} {
		found, err := find("v1", ask[0], "", ask[1])
		if err != nil {
			t.Fatal(err)
		}
		if ask[1] == "" {
			delete(found, "items")
		}
	}
	var got []string
	for _, value := range l.read() {
		got = append(got, string(value))
	}
	slices.Sort(got)
	if want := []string{"1", "1", "current", "current", "former", "former", "plain", "plain"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var quoting *RenderError
	if err := l.quoted(errors.New("no")); !errors.As(err, &quoting) || len(quoting.Secrets) != len(got) {
		t.Errorf("%v does not know what it may quote", err)
	}
	var none *lookups
	if none.answer(nil, nil) != nil || none.read() != nil || none.quoted(nil) != nil {
		t.Error("without a cluster there is something to be found")
	}
}

// A lookup of a kind that does not exist finds nothing, with a warning, as in Helm 4.3.1
// (pkg/engine/lookup_func.go, getAPIResourceForGVK); other errors end the render.
func TestLookupsOfUnknownKinds(t *testing.T) {
	l := &lookups{find: func(apiVersion, kind, _, _ string) (map[string]any, error) {
		if apiVersion != "v1" {
			return nil, errors.New("no matches")
		}
		return nil, &templating.UnknownKindError{APIVersion: apiVersion, Kind: kind}
	}}
	rendered := func(lookup string) (Rendering, error) {
		return Render(t.Context(), telling("", "{{ "+lookup+" | toJson }}"), Moment{Key: webKey, Revision: 1}, templating.DefaultCapabilities(), l.answer(nil, nil))
	}
	for _, name := range []string{"x", ""} {
		r, err := rendered(`lookup "v1" "configmap" "ns" "` + name + `"`)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Classified.Documents[0].Text; !strings.Contains(got, "text: '{}'") {
			t.Errorf("rendered %s", got)
		}
		want := "telling/templates/web.yaml:5: lookup finds nothing, since v1 has no kind configmap"
		if len(r.Warnings) != 1 || r.Warnings[0].String() != want {
			t.Errorf("the warnings are %v, want %s", r.Warnings, want)
		}
	}
	if !l.missed {
		t.Error("the lookup does not count as one that found nothing")
	}
	if _, err := rendered(`lookup "none.io/v1" "Thing" "ns" "x"`); err == nil || !strings.Contains(err.Error(), "no matches") {
		t.Errorf("an unknown API version gives %v", err)
	}
}

// Of a kind that the chart's own CRDs are about to bring, there is nothing yet: Helm 4.3.1 creates the CRDs
// before it renders (pkg/action/install.go, RunWithContext), and finds nothing.
func TestLookupsOfKindsThatCRDsBring(t *testing.T) {
	for name, err := range map[string]error{
		"a new group": &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "x.io", Kind: "One"}, SearchedVersions: []string{"v1"}},
		"a new kind":  &templating.UnknownKindError{APIVersion: "x.io/v1", Kind: "One"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &lookups{find: func(_, _, _, _ string) (map[string]any, error) { return nil, err }}
			find := l.answer([]string{"x.io/v1", "x.io/v1/One"}, nil)
			for asked, want := range map[string]map[string]any{
				"web": {},
				"":    {"apiVersion": "x.io/v1", "kind": "OneList", "metadata": map[string]any{}, "items": []any{}},
			} {
				found, err := find("x.io/v1", "One", "shop", asked)
				if diff := cmp.Diff(want, found); err != nil || diff != "" {
					t.Errorf("%q: error %v, found -want +got:\n%s", asked, err, diff)
				}
			}
			if _, err := find("x.io/v1", "Two", "shop", "web"); err == nil {
				t.Error("a kind that no CRD brings is found missing")
			}
			if !l.missed {
				t.Error("the lookup does not count as one that found nothing")
			}
		})
	}
}

// Of a kind that the cluster has, there may be objects, though none can be read in a version that comes with
// an update of its CRD: a chart that keeps what it finds would overwrite it with something new.
func TestLookupsInVersionsThatUpdatesBring(t *testing.T) {
	source := umbrella(nil)
	source.Chart.Metadata.Dependencies = nil
	source.Chart.SetDependencies()
	source.Chart.Files = []*chart.File{{Name: "crds/gadgets.yaml", Data: []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.x.io}
spec: {group: x.io, names: {kind: Gadget, plural: gadgets}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}
`)}}
	source.Chart.Templates[0].Data = []byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {found: '{{ lookup "x.io/v1" "Gadget" "shop" "web" | toJson }}'}}`)
	for name, missed := range map[string]error{
		"a new group version":             &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "x.io", Kind: "Gadget"}, SearchedVersions: []string{"v1"}},
		"a version that other kinds have": &templating.UnknownKindError{APIVersion: "x.io/v1", Kind: "Gadget"},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				b.Cluster = older{gadgets{c}, missed}
				_, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: source, Options: plan.Options{UpdateCRDs: true}})
				const says = "Gadget can't be looked up in x.io/v1, which the cluster does not serve until the CRD is updated"
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("got %v, want %s", err, says)
				}
			})
		})
	}
}

// older is a cluster that serves the kind Gadget, but not in the version that is looked up.
type older struct {
	gadgets
	missed error
}

func (c older) Lookup(context.Context, string, string, string, string) (*unstructured.Unstructured, error) {
	return nil, c.missed
}

// missing is a cluster without the API x.io.
type missing struct{ *clusterfake.Cluster }

func (c missing) Lookup(_ context.Context, apiVersion, kind, _, _ string) (*unstructured.Unstructured, error) {
	return nil, &meta.NoKindMatchError{GroupKind: schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()}
}

// An install may look up what its CRDs define, unless it skips them.
func TestInstallsThatLookUpTheirOwnKinds(t *testing.T) {
	source := umbrella(nil)
	source.Chart.Templates[0].Data = []byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {found: '{{ lookup "x.io/v1" "One" "shop" "web" | toJson }}'}}`)
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.Cluster = missing{c}
		if _, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: source}); err != nil {
			t.Error(err)
		}
		if _, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: source, Options: plan.Options{SkipCRDs: true}}); !meta.IsNoMatchError(err) {
			t.Errorf("without the CRDs the error is %v", err)
		}
	})
}

// Nor has a comparison of two charts any of a kind that both bring and the cluster lacks.
func TestComparisonsThatLookUpTheirOwnKinds(t *testing.T) {
	source := umbrella(nil)
	source.Chart.Templates[0].Data = []byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {found: '{{ lookup "x.io/v1" "One" "shop" "web" | toJson }}'}}`)
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		b.Cluster = missing{c}
		against := Baseline{Against: plan.Against{Kind: plan.AgainstChart, Name: "./base"}, Source: source}
		if _, err := b.PlanAgainst(t.Context(), Deployment{Release: webKey, Source: source}, against); err != nil {
			t.Error(err)
		}
	})
}
