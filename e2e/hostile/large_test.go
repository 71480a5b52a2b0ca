//go:build cluster

package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// hostileValues returns values files with very many keys that the chart does not know.
func hostileValues() map[string]hostile {
	chart := map[string]string{
		"values.yaml":      "items: []\nhosts: {}\n",
		"templates/x.yaml": "{{ range .Values.items }}{{ .port }}{{ end }}{{ range .Values.hosts }}{{ .port }}{{ end }}{{ fail `stop` }}",
	}
	values := func(head, format string) hostile {
		return hostile{Chart: chart, Values: head + repeated(10_000, format), Says: "stop"}
	}
	return map[string]hostile{
		"a list of tables":              values("items:\n", "- {name: a%d, host: b, port: 1, path: {a: 1}}\n"),
		"a misspelt key in each item":   values("items:\n", "- {name: a%d, prot: 1}\n"),
		"a misspelt key in each table":  values("hosts:\n", "  a%d: {prot: 1}\n"),
		"a key of its own in each item": values("items:\n", "- {a%d: {b: 1}}\n"),
		"misspelt keys":                 values("", "htems%d: 1\n"),
	}
}

// repeated returns n lines, each with its number.
func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestHostileSavedPlan shows a plan that is encrypted so that its passphrase takes 4 GiB to check.
func TestHostileSavedPlan(t *testing.T) {
	dir, salt, key := t.TempDir(), strings.Repeat("A", 22), strings.Repeat("A", 43)
	clustertest.WriteFiles(t, dir, map[string]string{
		"web.plan": "age-encryption.org/v1\n-> scrypt " + salt + " 22\n" + key + "\n--- " + key + "\n", "passphrase": "any\n",
	})
	hostile{Names: "web.plan", Says: "with more work"}.refused(t, time.Duration(2*pace()*float64(hostileTime)), os.Environ(), clustertest.Program(t),
		"plan", "show", filepath.Join(dir, "web.plan"), "--passphrase-file", filepath.Join(dir, "passphrase"))
}

// TestHostilePlans plans charts with objects that are hard to compare with those of a baseline, within
// the limits on hostile input. There is nothing to refuse.
func TestHostilePlans(t *testing.T) {
	program := clustertest.Program(t)
	pace()
	role := func(n int) string {
		const list = "%[1]s: [%[2]s]"
		line := func(key string) string { return fmt.Sprintf(list, key, repeated(n, key[:1]+"%d,")) }
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: web}\nrules:\n- {" + line("verbs") + ", " + line("apiGroups") + ", " + line("resources") + "}\n"
	}
	deployment := func(n int, value string) string {
		const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - name: web\n        image: web\n        env:\n"
		return head + repeated(n, "        - {name: E%d, value: "+value+"}\n")
	}
	for name, c := range map[string]struct{ before, after string }{
		"a rule of a billion rights":                   {role(1), role(1000)},
		"a rule of as many as there may be for a list": {role(1), role(36)},
		"a long list of variables":                     {deployment(4000, "a"), deployment(4000, "b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			clustertest.WriteFiles(t, dir, map[string]string{"base.yaml": c.before, "web/Chart.yaml": plainChart, "web/templates/x.yaml": c.after})
			u := clustertest.MeasureWithin(t, clustertest.Limits{CPU: time.Duration(2 * pace() * float64(hostileTime)), MaxRSS: hostileMemory}, os.Environ(), program,
				"plan", "web", filepath.Join(dir, "web"), "--offline", "--against", filepath.Join(dir, "base.yaml"))
			if u.ExitCode != 0 || !strings.Contains(u.Stdout, "1 to change") {
				t.Errorf("exit code %d: %.2000s%.2000s", u.ExitCode, u.Stderr, u.Stdout)
			}
		})
	}
}
