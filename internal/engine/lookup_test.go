package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

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
	find := l.answer()
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
	if want := []string{"current", "current", "former", "former", "plain", "plain"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var quoting *RenderError
	if err := l.quoted(errors.New("no")); !errors.As(err, &quoting) || len(quoting.Secrets) != len(got) {
		t.Errorf("%v does not know what it may quote", err)
	}
	var none *lookups
	if none.answer() != nil || none.read() != nil || none.quoted(nil) != nil {
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
		return Render(t.Context(), telling("", "{{ "+lookup+" | toJson }}"), Moment{Key: webKey, Revision: 1}, templating.DefaultCapabilities(), l.answer())
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
