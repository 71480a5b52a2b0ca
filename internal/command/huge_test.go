package command

import (
	"fmt"
	"strings"
	"testing"
)

// TestHugeValues: single objects of the size that etcd accepts are planned, and what is shown
// of a change to them can be read: it fits a terminal, a comment on a pull request and a browser.
func TestHugeValues(t *testing.T) {
	d := atDesk(t)
	lines := func(n int, word string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "    %s %06d is one of many lines of a file in a ConfigMap\n", word, i)
		}
		return b.String()
	}
	d.file("huge/Chart.yaml", "{apiVersion: v2, name: huge, version: 1.0.0}")
	d.file("huge/values.yaml", "word: one\n")
	d.file("huge/templates/lines.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lines}\ndata:\n  file: |\n"+lines(14_000, "{{ .Values.word }}"))
	d.file("huge/templates/line.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: line}\ndata:\n  line: {{ .Values.word }}-"+strings.Repeat("0123456789", 90_000)+"\n")
	var properties, crds strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&properties, "                field%05d: {type: string, description: '{{ .Values.word }}, one of many fields'}\n", i)
	}
	crd := "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %[1]ss.shop.example}\nspec:\n  group: shop.example\n  scope: Namespaced\n" +
		"  names: {kind: %[1]s, plural: %[1]ss, singular: %[1]s}\n  versions:\n    - name: v1\n      served: true\n      storage: true\n      schema:\n        openAPIV3Schema:\n          type: object\n" +
		"          properties:\n            spec:\n              type: object\n              properties:\n%[2]s"
	fmt.Fprintf(&crds, crd, "huge", properties.String())
	for i := range 500 {
		fmt.Fprintf(&crds, crd, fmt.Sprintf("kind%d", i), "                word: {type: string, description: '{{ .Values.word }}'}\n")
	}
	d.file("huge/templates/crds.yaml", crds.String())

	const kB = 1 << 10
	d.must("install huge ./huge")
	// 64 kB is what forges take as a comment; a page of 8 MB took a browser seconds to unfold.
	for output, most := range map[string]int{"text": 64 * kB, "markdown": 64 * kB, "html": 1024 * kB} {
		a := d.types("plan huge ./huge --set word=two -o " + output)
		if a.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", output, a.code, a.err)
		}
		if t.Logf("%s: %d kB", output, len(a.out)/kB); len(a.out) > most {
			t.Errorf("the plan as %s has %d kB, want at most %d", output, len(a.out)/kB, most/kB)
		}
	}
}
