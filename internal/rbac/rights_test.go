package rbac_test

import (
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-release/kubectl-release/internal/rbac"
)

// What one role allows beyond another one, with wildcards.
func TestBeyond(t *testing.T) {
	rule := func(verb, group, resource string, names ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
	}
	url := func(path string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{path}}
	}
	for why, c := range map[string]struct {
		has, had rbacv1.PolicyRule
		want     string // of RulesBeyond, too
	}{
		"the same":                    {rule("get", "", "pods"), rule("get", "", "pods"), "[]"},
		"another verb":                {rule("list", "", "pods"), rule("get", "", "pods"), "[{[list] [pods] []}]"},
		"every verb was there":        {rule("list", "apps", "deployments"), rule("*", "apps", "deployments"), "[]"},
		"every verb is more":          {rule("*", "apps", "deployments"), rule("list", "apps", "deployments"), "[{[*] [deployments.apps] []}]"},
		"one name of all":             {rule("get", "", "secrets", "a"), rule("get", "", "secrets"), "[]"},
		"all of one name":             {rule("get", "", "secrets"), rule("get", "", "secrets", "a"), "[{[get] [secrets] []}]"},
		"a subresource is another":    {rule("get", "", "pods/log"), rule("get", "", "pods"), "[{[get] [pods/log] []}]"},
		"unless each has it":          {rule("get", "", "pods/log"), rule("get", "", "*/log"), "[]"},
		"a URL below another":         {url("/metrics/web"), url("/metrics/*"), "[]"},
		"a URL is not a resource":     {url("/metrics"), rule("*", "*", "*"), "[{[get] [/metrics] []}]"},
		"a URL below one of several":  {url("/b/c"), rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/a*", "/b/*", "/b/a*", "/b"}}, "[]"},
		"a URL beside all of several": {url("/b/c"), rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/a*", "/b/b*", "/b/a*", "/b"}}, "[{[get] [/b/c] []}]"},
		"a resource of another group": {rule("get", "a.io", "webs"), rule("get", "b.io", "webs"), "[{[get] [webs.a.io] []}]"},
	} {
		has, had := rbac.Rights([]rbacv1.PolicyRule{c.has}), rbac.Rights([]rbacv1.PolicyRule{c.had})
		if got := fmt.Sprint(rbac.Beyond(has, had)); got != c.want {
			t.Errorf("%s: %s, want %s", why, got, c.want)
		}
		if got := fmt.Sprint(rbac.RulesBeyond([]rbacv1.PolicyRule{c.has}, []rbacv1.PolicyRule{c.had})); got != c.want {
			t.Errorf("%s: the rules beyond are %s, want %s", why, got, c.want)
		}
	}
}

// A rule of a few kilobytes grants more rights than can be listed: they are counted, and whole rules are
// compared, of which the resources that allow most come first.
func TestRulesBeyond(t *testing.T) {
	rule := func(n int, more ...string) rbacv1.PolicyRule {
		r := rbacv1.PolicyRule{Resources: more}
		for i := range n {
			r.Verbs = append(r.Verbs, fmt.Sprintf("v%04d", n-i), "v0001")
			r.APIGroups = append(r.APIGroups, fmt.Sprintf("g%04d", i))
			r.Resources = append(r.Resources, fmt.Sprintf("r%04d", i))
		}
		r.APIGroups = append(r.APIGroups, "")
		return r
	}
	small := rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/b", "/a"}}
	large := rule(1000, "secrets", "*")
	for _, rules := range [][]rbacv1.PolicyRule{{large}, {small, large, large}, {rule(100_000)}} {
		if size := rbac.Size(rules); size < 1_000_000_000 {
			t.Errorf("%d rights", size)
		}
	}
	if size := rbac.Size([]rbacv1.PolicyRule{small, rule(2)}); size != 2+4*3*2 {
		t.Errorf("%d rights", size)
	}
	got := rbac.RulesBeyond([]rbacv1.PolicyRule{large, small, large}, []rbacv1.PolicyRule{{Verbs: small.Verbs, NonResourceURLs: []string{"/a", "/b"}}})
	if len(got) != 1 || len(got[0].Verbs) != 1000 || len(got[0].Resources) != 101 {
		t.Fatalf("%.300v", got)
	}
	if r := got[0].Resources; r[0] != "secrets" || r[1] != "*" || r[2] != "r0000" || r[100] != "and 1002902 more" {
		t.Errorf("%q", r)
	}
	if got := fmt.Sprint(rbac.RulesBeyond([]rbacv1.PolicyRule{small}, nil)); got != "[{[get] [/a /b] []}]" {
		t.Error(got)
	}
}

// However many resources and groups a rule is padded with, those with which more rights can be gained are listed.
func TestPaddedRule(t *testing.T) {
	dangerous := []string{"pods/exec", "serviceaccounts/token", "nodes/proxy", "rolebindings.rbac.authorization.k8s.io", "*/exec.*"}
	r := rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"", "*", "rbac.authorization.k8s.io"}, Resources: []string{"pods/exec", "serviceaccounts/token", "nodes/proxy", "rolebindings", "*/exec"}}
	for i := range 110 {
		r.APIGroups = append(r.APIGroups, fmt.Sprintf("a%03d", i))
		r.Resources = append(r.Resources, fmt.Sprintf("a%03d", i))
	}
	got := rbac.RulesBeyond([]rbacv1.PolicyRule{r}, nil)
	for _, want := range dangerous {
		if !slices.Contains(got[0].Resources, want) {
			t.Errorf("%s is not among %q", want, got[0].Resources)
		}
	}
	if last := got[0].Resources[100]; last != "and 12895 more" {
		t.Errorf("the last is %q", last)
	}
}
