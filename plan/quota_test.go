package plan_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Quotas are requested only for namespaces where a plan changes what they count, and then where the
// release's record is added.
func TestCounted(t *testing.T) {
	const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template: {spec: {containers: [{name: web, image: "shop/web:1", resources: {requests: {cpu: 1}}}]}}
`
	const hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/hook: pre-delete}}\n"
	for why, c := range map[string]struct {
		target     string
		operation  plan.Operation // "" is an upgrade
		hooks      string         // of the stored revision
		serverSide bool
		records    string
		missing    []string
		want       []string
	}{
		"nothing changes":            {target: deployment},
		"a label":                    {target: strings.Replace(deployment, "{name: web}", "{name: web, labels: {a: b}}", 1)},
		"an image: one pod more":     {target: strings.ReplaceAll(deployment, "web:1", "web:2"), want: []string{"shop"}},
		"an image, applied":          {target: strings.ReplaceAll(deployment, "web:1", "web:2"), serverSide: true, want: []string{"shop"}},
		"an image, none more":        {target: strings.Replace(strings.ReplaceAll(deployment, "web:1", "web:2"), "replicas: 2", "replicas: 2\n  strategy: {type: Recreate}", 1)},
		"the replicas are dropped":   {target: strings.ReplaceAll(deployment, "  replicas: 2\n", ""), serverSide: true},
		"more replicas":              {target: strings.ReplaceAll(deployment, "replicas: 2", "replicas: 3"), want: []string{"shop"}},
		"larger pods, applied":       {target: strings.ReplaceAll(deployment, "cpu: 1", "cpu: 2"), serverSide: true, want: []string{"shop"}},
		"a new object":               {target: deployment + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", want: []string{"shop"}},
		"a new one of another place": {target: deployment + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: other}\n", want: []string{"other", "shop"}},
		"records of another place":   {target: strings.ReplaceAll(deployment, "replicas: 2", "replicas: 3"), records: "elsewhere", want: []string{"elsewhere", "shop"}},
		"such a record alone":        {target: deployment, records: "elsewhere"},
		"there is no such place":     {target: strings.ReplaceAll(deployment, "replicas: 2", "replicas: 3"), records: "elsewhere", missing: []string{"elsewhere"}, want: []string{"shop"}},
		"no record is added":         {operation: plan.Uninstall, hooks: hook, records: "elsewhere", want: []string{"shop"}},
		"a hook":                     {target: deployment + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/hook: pre-upgrade}}\n", want: []string{"shop"}},
		"an object of the cluster":   {target: deployment + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"},
		"one less":                   {target: ""},
	} {
		t.Run(why, func(t *testing.T) {
			s := scenario{t: t, sections: map[string]string{"stored.1": deployment, "hooks.1": c.hooks, "live": deployment, "target": c.target}}
			_, open, err := plan.Build(s.input(setup{
				Operation: cmp.Or(c.operation, plan.Upgrade), History: []string{"deployed"}, Options: plan.Options{ServerSide: c.serverSide},
				Records: c.records, Missing: c.missing,
			}))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(open.QuotaNamespaces, c.want) {
				t.Errorf("got %v, want %v", open.QuotaNamespaces, c.want)
			}
		})
	}
}
