package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Values of each kind have the type that the YAML library gives them, where plainTree takes
// them; what is listed as taken must be, or the speed is gone.
func TestPlainTree(t *testing.T) {
	for value, taken := range map[string]bool{
		"word": true, "two words # and a comment": true, "a:b": true, "/var/lib": true, "--port=80": true, "-c": true, "$(HOME)/x": true, "_x": true,
		`""`: true, `"80"`: true, `'it''s'`: true, `"a \"b\" \n\t\\n"`: true, `"{{ .Values }}"`: true, `'\n'`: true,
		"true": true, "false": true, "null": true, "~": true, "": true, "yes": false, "On": false, "n": false, "True": false, "NULL": false,
		"0": true, "80": true, "-1": true, "123456789012345678": true, "1234567890123456789": false, "080": false, "0x1F": false, "0o7": false, "1_000": false, "+1": false, "-0": false,
		"1.5": false, "1e3": false, ".5": false, "1.": false, "-1.5": false, ".inf": false,
		"100m": true, "16Mi": true, "1Gi": true, "30s": true, "5": true, "1.2.3": true, "10.0.0.1": true, "1E": false, "0b1": false, "1:30": false, "2001-01-02": false,
		"{}": true, "[]": true, "{a: b, c: [1, x, true], d: {}}": true, "[a, \"b c\", 10m, 1.5]": false, "[configmaps, 'x']": true,
		"|\n    a\n\n      b\n": true, "|-\n    a\n\n": true, "|+\n    a\n\n": true, "|\n    a\n     \n    # b\n": true, "|\n\n    a\n": true, ">\n    a\n    b": false, "|2\n    a": false,
		"a\n    b": false, "\"a\n    b\"": false, "\n  - a\n  - b: c\n    d:\n    - e\n  -\n  - 1": true, "\n    e: f\n    g:": true,
		"&x b": false, "!!str b": false, "*x": false, "<<": false, "@a": false, "%a": false, "=": false,
	} {
		for _, end := range []string{"", "\n", "\nnext: x\n", "\n\n# the end\n"} {
			text := "kind: A\nmetadata:\n  name: a\nx:\n  key: " + value + end
			if got := agreeOnTree(t, text); got != taken {
				t.Errorf("%q is taken: %v, want %v", text, got, taken)
			}
		}
	}
}

// agreeOnTree compares plainTree with the YAML library and JSON.
func agreeOnTree(t *testing.T, text string) (taken bool) {
	t.Helper()
	got, taken := plainTree(text)
	if !taken {
		return false
	}
	var want unstructured.Unstructured
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil {
		err = unmarshalObject(raw, &want)
	}
	if err != nil {
		t.Fatalf("taken for plain, and the libraries say: %v\n%s", err, text)
	}
	if diff := cmp.Diff(want.Object, got); diff != "" {
		t.Errorf("the tree differs (-want +got):\n%s\n%s", diff, text)
	}
	return true
}

// BenchmarkParseDocument reads a plain document, and one that is not.
func BenchmarkParseDocument(b *testing.B) {
	const plain = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  labels:\n    app: web\nspec:\n  selector: {app: web}\n  ports:\n    - {name: http, port: 80, targetPort: http}\n"
	for name, text := range map[string]string{"plain": plain, "library": strings.Replace(plain, "80", "0x50", 1)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseDocument(text, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
