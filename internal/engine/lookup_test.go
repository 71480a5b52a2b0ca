package engine

import (
	"errors"
	"slices"
	"testing"
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
