package patch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

func TestEmptied(t *testing.T) {
	head := map[string]string{
		"Widget":              "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: ",
		"PodDisruptionBudget": "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: ",
		"NetworkPolicy":       "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: ",
	}
	for why, c := range map[string]struct {
		kind, live, after, sent string
		want                    []string
	}{
		"maps and lists of a custom resource":  {"Widget", "{a: {x: 1}, b: {c: [1]}, d/~: {x: 1}}", "{a: {}, b: {c: []}, d/~: {}}", "{a: {}, b: {c: []}, d/~: {}}", []string{"/spec/a", "/spec/b/c", "/spec/d~1~0"}},
		"what goes as a whole":                 {"Widget", "{a: {x: 1}}", "{}", "{}", []string{"/spec"}},
		"what goes, and its map with it":       {"Widget", "{a: {x: 1}, b: 1}", "{b: 1}", "{b: 1}", nil},
		"what others have put in stays":        {"Widget", "{a: {x: 1, y: 2}}", "{a: {y: 2}}", "{a: {}}", nil},
		"what was empty before":                {"Widget", "{a: {}}", "{a: {}}", "{a: {}}", nil},
		"what was null before":                 {"Widget", "{a: null}", "{a: {}}", "{a: {}}", nil},
		"a selector of none is not one of all": {"PodDisruptionBudget", "{selector: {matchLabels: {a: b}}}", "{selector: {}}", "{selector: {}}", []string{"/spec/selector"}},
		"where null means the same":            {"NetworkPolicy", "{podSelector: {matchLabels: {a: b}}}", "{podSelector: {}}", "{podSelector: {}}", nil},
	} {
		t.Run(why, func(t *testing.T) {
			live, after, sent := objecttest.Parse(t, head[c.kind]+c.live+"}"), objecttest.Parse(t, head[c.kind]+c.after+"}"), objecttest.Parse(t, head[c.kind]+c.sent+"}")
			got := Emptied(live, after, sent)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := len(Emptying(live, got)); n != len(got) {
				t.Errorf("%d operations for %v", n, got)
			}
			if n := len(Emptying(after, got)); n > 0 {
				t.Errorf("%d operations for what is empty", n)
			}
		})
	}
}
