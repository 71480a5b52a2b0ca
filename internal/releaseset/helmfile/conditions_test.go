package helmfile

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// A need means one of all releases that are declared, whether their conditions are true or not; if it means one
// that is off, nothing waits for it.
func TestNeedsOfConditionalReleases(t *testing.T) {
	entries := func(keys ...string) (out []releaseset.Entry) {
		for _, key := range keys {
			namespace, name, _ := strings.Cut(key, "/")
			out = append(out, releaseset.Entry{Key: releaseset.Key{Namespace: namespace, Name: name}})
		}
		return out
	}
	for name, c := range map[string]struct {
		on, off   []releaseset.Entry
		want, err string
		warnings  int
	}{
		"it is on":                            {entries("a/web", "a/db"), entries("b/db"), "[a/db]", "", 0},
		"it is off, a namesake is on":         {entries("a/web", "b/db"), entries("a/db"), "[]", "", 1},
		"only one elsewhere, which is on":     {entries("a/web", "b/db"), nil, "[b/db]", "", 0},
		"only one elsewhere, which is off":    {entries("a/web"), entries("b/db"), "[]", "", 1},
		"ambiguous, another namesake is off":  {entries("a/web", "b/db", "c/db"), entries("d/db"), "", "in several namespaces", 0},
		"one elsewhere is on, another is off": {entries("a/web", "b/db"), entries("c/db"), "", "in several namespaces", 0},
		"declared twice, once on":             {entries("a/web", "a/db"), entries("a/db"), "[a/db]", "", 0},
		"declared twice elsewhere, once on":   {entries("a/web", "b/db"), entries("b/db"), "[b/db]", "", 0},
		"declared twice elsewhere, never on":  {entries("a/web"), entries("b/db", "b/db"), "[]", "", 1},
		"not declared":                        {entries("a/web"), entries("a/cache"), "", "not in the set", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &state{}
			needs := make([][]string, len(c.on))
			needs[0] = []string{"db"}
			err := s.resolve(c.on, c.off, needs)
			switch {
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("error %v, want one with %q", err, c.err)
			case c.err == "" && (err != nil || fmt.Sprint(c.on[0].Needs) != c.want || len(s.warnings) != c.warnings):
				t.Errorf("it needs %v with warnings %q, %v", c.on[0].Needs, s.warnings, err)
			}
		})
	}
}

// Values of the state may be aliases, or have some, as those of releases may.
func TestStateValuesWithAliases(t *testing.T) {
	tree := fstest.MapFS{"a.yaml": {Data: []byte(`environments:
  prod:
    values: [{limits: &l {cpu: 1}}, &f more.yaml]
  default:
    values: [{requests: *l}, *f]
---
releases: [{name: "web-{{ .Values.requests.cpu }}-{{ .Values.more }}", chart: ./c}]
`)}, "more.yaml": {Data: []byte("more: two")}}
	set, err := Read(tree, "a.yaml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Entries[0].Name; got != "web-1-two" {
		t.Error(got)
	}
}
