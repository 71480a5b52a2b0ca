package rbac_test

import (
	"fmt"
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
		want     string
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
		"a resource of another group": {rule("get", "a.io", "webs"), rule("get", "b.io", "webs"), "[{[get] [webs.a.io] []}]"},
	} {
		has, had := rbac.Rights([]rbacv1.PolicyRule{c.has}), rbac.Rights([]rbacv1.PolicyRule{c.had})
		if got := fmt.Sprint(rbac.Beyond(has, had)); got != c.want {
			t.Errorf("%s: %s, want %s", why, got, c.want)
		}
	}
}
