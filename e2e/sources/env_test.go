//go:build cluster

package sources_test

import (
	"slices"
	"strings"
	"testing"
)

// Every line of Helm's env is also in ours, except for the program's own name.
func TestEnvIsHelms(t *testing.T) {
	config := "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts:\n- {name: a, context: {cluster: c, namespace: shop}}\nclusters:\n- {name: c, cluster: {server: https://h}}\n"
	for name, c := range map[string]struct {
		env, flags []string
		config     bool
	}{
		"nothing":           {},
		"Helm's folders":    {env: []string{"HELM_CACHE_HOME=/c", "HELM_CONFIG_HOME=/d", "HELM_DATA_HOME=/e", "HELM_PLUGINS=/p"}},
		"the system's":      {env: []string{"XDG_CACHE_HOME=/c", "XDG_CONFIG_HOME=/d", "XDG_DATA_HOME=/e"}},
		"single paths":      {env: []string{"HELM_REPOSITORY_CACHE=", "HELM_REPOSITORY_CONFIG=/r.yaml", "HELM_REGISTRY_CONFIG=/j", "HELM_CONTENT_CACHE=/k"}},
		"numbers":           {env: []string{"HELM_MAX_HISTORY=3", "HELM_BURST_LIMIT=7", "HELM_QPS=5.5", "HELM_DEBUG=true"}},
		"no numbers":        {env: []string{"HELM_MAX_HISTORY=", "HELM_BURST_LIMIT=many"}},
		"a server":          {env: []string{"HELM_KUBEAPISERVER=https://h", "HELM_KUBECAFILE=/ca", "HELM_KUBETLS_SERVER_NAME=n", "HELM_KUBEINSECURE_SKIP_TLS_VERIFY=true"}},
		"somebody else":     {env: []string{"HELM_KUBEASUSER=me", "HELM_KUBEASGROUPS=a,b", "HELM_NAMESPACE=mine"}},
		"a kubeconfig":      {config: true},
		"a context":         {config: true, env: []string{"HELM_KUBECONTEXT=a"}},
		"flags":             {config: true, flags: []string{"-n", "theirs", "--kube-context", "a", "--repository-cache", "/flag", "--registry-config", "/f.json", "--content-cache", "/q"}},
		"a text with signs": {env: []string{"HELM_NAMESPACE=a\"b\\c"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.env = append(h.env, c.env...)
			if c.config {
				h.env = append(h.env, "KUBECONFIG="+h.write("config", config))
			}
			ours := strings.Split(h.ok(append([]string{"env"}, c.flags...)...).out, "\n")
			theirs := strings.Split(h.helm(append([]string{"env"}, c.flags...)...).out, "\n")
			if len(theirs) < 20 || !slices.IsSorted(ours[:len(ours)-1]) {
				t.Fatalf("ours %q, Helm's %q", ours, theirs)
			}
			for _, line := range theirs {
				if !strings.HasPrefix(line, "HELM_BIN=") && !slices.Contains(ours, line) {
					t.Errorf("Helm says %s, ours:\n%s", line, strings.Join(ours, "\n"))
				}
			}
		})
	}
}

func TestEnvOfOneName(t *testing.T) {
	h := newHome(t)
	h.env = append(h.env, "HELM_KUBETOKEN=s3cret", "KUBECTL_RELEASE_SOURCES="+h.write("s.yaml", "broken: ["))
	for _, name := range []string{"HELM_REPOSITORY_CONFIG", "HELM_KUBETOKEN", "HELM_NAMESPACE", "HELM_NOTHING"} {
		if ours, theirs := h.ok("env", name).out, h.helm("env", name).out; ours != theirs {
			t.Errorf("%s is %q, Helm's %q", name, ours, theirs)
		}
	}
	if r := h.k("env", "HELM_NOTHING"); !strings.Contains(r.err, "no setting HELM_NOTHING") {
		t.Error(r.err)
	}
	// Lists end up in logs.
	if out := h.ok("env").out; strings.Contains(out, "s3cret") || !strings.Contains(out, "HELM_KUBETOKEN=\"(masked)\"\n") || !strings.Contains(out, "KUBECTL_RELEASE_SOURCES=\""+h.path("s.yaml")) {
		t.Error(out)
	}
	if out := h.ok("env", "HELM_DRIVER").out; out != "secret\n" {
		t.Error(out)
	}
	h.fails(1, "unexpected argument", "env", "A", "B")
}
