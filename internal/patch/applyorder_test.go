package patch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// The orders were observed on Kubernetes 1.36.
func TestApplyOrder(t *testing.T) {
	for _, c := range []struct{ why, live, sent, want string }{
		{"an item of others stays behind the one that it follows", "A B C HAND", "C A D", "B C HAND A D"},
		{"also behind one that goes", "A B D", "C A", "C A B D"},
		{"finalizers are a set in the same order", "a b theirs", "b c", "a b theirs c"},
		{"the same items take the order of what is sent", "a b c", "c a b", "c a b"},
		{"nothing is there", "", "a b", "a b"},
		{"nothing is sent", "a b", "", "a b"},
		{"nothing is shared", "a b", "c d", "a b c d"},
	} {
		got := strings.Join(applyOrder(strings.Fields(c.live), strings.Fields(c.sent)), " ")
		if got != c.want {
			t.Errorf("%s: %s applied to %s is %s, want %s", c.why, c.sent, c.live, got, c.want)
		}
	}
}

func TestInApplyOrder(t *testing.T) {
	deployment := func(env, args string) string {
		return "{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: web, args: " + args + ", env: " + env + "}]}}}}"
	}
	live := objecttest.Parse(t, deployment("[{name: A}, {name: B}, {name: D}]", "[x, y]"))
	sent := objecttest.Parse(t, deployment("[{name: C}, {name: A}]", "[y, x]"))
	merged := objecttest.Parse(t, deployment("[{name: D}, {name: C}, {name: A, value: v}]", "[y, x]"))
	want := objecttest.Parse(t, deployment("[{name: C}, {name: A, value: v}, {name: D}]", "[y, x]"))
	before := merged.DeepCopy()
	if diff := cmp.Diff(want.Object, InApplyOrder(merged, live, sent).Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Object, merged.Object); diff != "" {
		t.Errorf("the merged object was changed:\n%s", diff)
	}
}

// Whatever the lists, no item is lost and none comes twice.
func FuzzApplyOrder(f *testing.F) {
	f.Add("abd", "ca")
	f.Add("abcd", "dcba")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, live, sent string) {
		once := func(s string) []string {
			var out []string
			for _, r := range s {
				if name := string(r); !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
			return out
		}
		l, s := once(live), once(sent)
		got := applyOrder(l, s)
		want := slices.Concat(l, s)
		slices.Sort(want)
		want = slices.Compact(want)
		sorted := slices.Clone(got)
		slices.Sort(sorted)
		if !slices.Equal(sorted, want) {
			t.Errorf("%q applied to %q is %q", s, l, got)
		}
	})
}
