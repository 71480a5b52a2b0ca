package substitution

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Check 50 of FLUX.md.
func TestCheck50Operators(t *testing.T) {
	v := Variables{Values: map[string]string{"v": "abcABC", "path": "a/b/c", "e": ""}}
	for _, c := range []struct{ text, want string }{
		{"${v}", "abcABC"},
		{"$v", "$v"},
		{"$${v}", "${v}"},
		{"${undefined}", ""},
		{"${#v}", "6"},
		{"${v^}", "AbcABC"},
		{"${v^^}", "ABCABC"},
		{"${v,}", "abcABC"},
		{"${v,,}", "abcabc"},
		{"${v:2}", "cABC"},
		{"${v:2:2}", "cA"},
		{"${v:1:-1}", "bcAB"},
		{"${path#*/}", "b/c"},
		{"${path##*/}", "c"},
		{"${path%/*}", "a/b"},
		{"${path%%/*}", "a"},
		{"${undefined:-x}", "x"},
		{"${e:=x}", "x"},
		{"${undefined=x}", "x"},
		{"${v:-x}", "abcABC"},
		{"${path/\\//-}", "a-b/c"},
		{"${path//\\//-}", "a-b-c"},
		{"${v/#abc/x}", "xABC"},
		{"${v/%ABC/x}", "abcx"},
		{"${undefined:-${v}}", "abcABC"},
	} {
		if got, _, err := v.Text(c.text); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"${v", "${}"} {
		if got, _, err := v.Text(text); err == nil {
			t.Errorf("%s: %q, want an error", text, got)
		}
	}
}

func TestCheck50ObjectsAndVariables(t *testing.T) {
	k := &flux.Kustomization{Metadata: flux.Metadata{Namespace: "flux-system", Name: "apps"}}
	k.Spec.PostBuild = &flux.PostBuild{
		Substitute:     map[string]string{"v": "own\n"},
		SubstituteFrom: []flux.SubstituteReference{{Kind: "ConfigMap", Name: "vars"}, {Kind: "Secret", Name: "gone", Optional: true}},
	}
	v, err := Of(k, func(_, name string) (map[string]string, bool, bool) {
		return map[string]string{"v": "from", "w": "1"}, name == "vars", true
	})
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"metadata": map[string]any{"name": "${v}"}, "data": map[string]any{"n": "${w}", "x": "${u}"}}
	got, _, err := v.Object(object)
	want := map[string]any{"metadata": map[string]any{"name": "own"}, "data": map[string]any{"n": 1.0, "x": nil}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, field := range []string{"labels", "annotations"} {
		off := map[string]any{"metadata": map[string]any{"name": "${v}", field: map[string]any{switchedOff: "disabled"}}}
		if got, _, err := v.Object(off); err != nil || !reflect.DeepEqual(got, off) {
			t.Errorf("%v, %v", got, err)
		}
	}
	if got, _, err := (Variables{}).Object(object); err != nil || !reflect.DeepEqual(got, object) {
		t.Errorf("without variables: %v, %v", got, err)
	}
	v.Strict = true
	if _, _, err := v.Object(object); err == nil || !strings.Contains(err.Error(), "variable not set") {
		t.Errorf("strict: %v", err)
	}
	_, err = Of(k, func(string, string) (map[string]string, bool, bool) { return nil, false, true })
	if err == nil || !strings.Contains(err.Error(), "ConfigMap/vars") {
		t.Error(err)
	}
}

func TestUnknownVariablesAreMarked(t *testing.T) {
	v := Variables{Values: map[string]string{"v": "known"}, Unknown: []flux.Reference{{Kind: "Secret", Namespace: "flux-system", Name: "vars"}}}
	for text, want := range map[string]string{"${v}": "known", "${v} ${w}": "known (unknown Secret/flux-system/vars w)"} {
		if got, unknown, err := v.Text(text); got != want || unknown != strings.Contains(want, "unknown") || err != nil {
			t.Errorf("%s: %q, %t, %v, want %q", text, got, unknown, err, want)
		}
	}
}

// Each variable counts for itself, in the order in which envsubst looks them up.
func TestDefaultsOfVariablesThatAreNotKnown(t *testing.T) {
	v := Variables{Values: map[string]string{"v": "a"}, Unknown: []flux.Reference{{Kind: "Secret", Namespace: "a", Name: "b"}}, Defaults: true}
	for text, want := range map[string]string{
		"${v:=b} ${w:-c} ${w}":     "a c (unknown Secret/a/b w)",
		"${w:=${x:-${v}}}${x}":     "a(unknown Secret/a/b x)",
		"${w=${x}-${y:=z}} ${w^^}": "(unknown Secret/a/b x)-z (UNKNOWN SECRET/A/B W)",
		"$${w:=b} ${w:=} ${x:0:3}": "${w:=b}  (un",
	} {
		if got, unknown, err := v.Text(text); got != want || !unknown || err != nil {
			t.Errorf("%s: %q, %v, %v, want %q", text, got, unknown, err, want)
		}
	}
}

// Check 55 of FLUX.md.
func FuzzCheck55Substitution(f *testing.F) {
	for _, seed := range []string{"${v}", "${v:-${w}}", "$${v} ${#v}", "${v//a/b}", "${v:1:-2}", "${v##*/}", "${", "a: ${v}\nb: [${w:=x}]"} {
		f.Add(seed)
	}
	v := Variables{Values: map[string]string{"v": "a/b"}, Unknown: []flux.Reference{{Kind: "Secret", Namespace: "a", Name: "b"}}}
	f.Fuzz(func(_ *testing.T, text string) {
		if len(text) < 1<<12 {
			_, _, _ = v.Text(text)
		}
	})
}
