//go:build cluster

package sources_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// pluginForms are the plugin.yaml of a plugin for t://, in the formats of Helm 3 and Helm 4.
var pluginForms = map[string]string{
	"v3": "name: test\nversion: 1.0.0\nusage: x\ndescription: x\ndownloaders:\n- command: bin/get first\n  protocols: [t]\n",
	"v4": "apiVersion: v1\ntype: getter/v1\nname: test\nversion: 1.0.0\nruntime: subprocess\nconfig: {protocols: [t]}\nruntimeConfig:\n  protocolCommands:\n  - protocols: [t]\n    platformCommand:\n    - {command: bin/get, args: [first]}\n",
}

// plugin installs a plugin in the home that serves the files of the home's folders, and logs its
// arguments and its environment.
func (h *home) plugin(form string) {
	h.t.Helper()
	h.write("plugins/test/plugin.yaml", pluginForms[form])
	script := h.write("plugins/test/bin/get", "#!/bin/sh\n"+
		`echo "[$1] [$2] [$3] [$4] $5 $HELM_PLUGIN_NAME ${HELM_PLUGIN_DIR##*/} $HELM_PLUGIN_USERNAME:$HELM_PLUGIN_PASSWORD $HELM_PLUGIN_PASS_CREDENTIALS_ALL $HELM_REPOSITORY_CONFIG $HELM_CONTENT_CACHE" >>`+h.path("log")+"\n"+
		`case "$5" in *fails*) echo half; echo "it fails" >&2; exit 3;; esac`+"\n"+
		`exec cat "`+h.dir+`/${5#t://}"`+"\n")
	if err := os.Chmod(script, 0o755); err != nil {
		h.t.Fatal(err)
	}
	archive := sourcetest.Chart(h.t, "alpha", "1.0.0", "default")
	h.write("host/alpha-1.0.0.tgz", string(archive))
	h.write("other/alpha-1.0.0.tgz", string(archive))
	h.write("host/index.yaml", string(sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz", Digest: sourcetest.Digest(archive)})))
	h.write("host/v.yaml", "text: of the plugin\n")
	h.umbrella("um", "{name: alpha, version: ^1, repository: 't://host'}")
}

func TestCheck52Plugins(t *testing.T) {
	for form := range pluginForms {
		t.Run(form, func(t *testing.T) {
			ours, helms := newHome(t), newHome(t)
			for _, h := range []*home{ours, helms} {
				h.plugin(form)
			}
			args := [][]string{
				{"repo", "add", "a", "t://host", "--username", "u", "--password", "p"},
				{"template", "web", "a/alpha", "-f", "t://host/v.yaml"},
				{"template", "web", "t://other/alpha-1.0.0.tgz", "--set-file", "text=t://host/v.yaml"},
				{"dependency", "update", "um"},
			}
			// It is not allowed yet: nothing of it is run.
			ours.fails(1, "", args[0]...)
			for _, line := range args[1:3] {
				ours.fails(1, "", line...)
			}
			if ours.exists("log") {
				t.Fatalf("it was run: %s", ours.read("log"))
			}
			ours.write(".config/helm/kubectl-release/sources.yaml", "plugins: [test]\n")
			for _, line := range args {
				of, theirs := ours.ok(line...), helms.helm(line...)
				if line[0] == "template" && !same(of, theirs) {
					t.Errorf("%q: %s\n%s", line, of.out, theirs.out)
				}
			}
			if lock := ours.read("um/Chart.lock"); !strings.Contains(lock, "repository: t://host\n") {
				t.Error(lock)
			}
			// Helm fetches more often than we do, so each different call counts once.
			calls := func(h *home) []string {
				lines := strings.Split(strings.ReplaceAll(h.read("log"), h.dir, ""), "\n")
				slices.Sort(lines)
				return slices.Compact(lines)
			}
			if a, b := calls(ours), calls(helms); !slices.Equal(a, b) {
				t.Errorf("ours:\n%s\nHelm's:\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
			}
			// What a plugin prints before it fails is not used.
			r := ours.fails(1, "plugin test: exit status 3", "template", "web", "a/alpha", "-f", "t://host/fails.yaml")
			if !strings.Contains(r.err, "it fails") {
				t.Errorf("what the plugin says is lost: %s", r.err)
			}
			ours.write("host/alpha-1.0.0.tgz", string(sourcetest.Chart(t, "alpha", "1.0.0", "other")))
			must(t, os.RemoveAll(ours.path(".cache/helm/content")))
			ours.fails(8, "was promised", "template", "web", "a/alpha")
			ours.write("log", "")
			ours.fails(9, "--offline", "template", "web", "a/alpha", "--offline")
			if log := ours.read("log"); log != "" {
				t.Errorf("--offline has run it: %s", log)
			}
		})
	}
}

// An allowed name that no plugin has is reported: as the hint if nothing fetches a URL, and as one
// warning if another plugin does. What needs no plugin reports nothing.
func TestPluginsThatAreAllowedAndNotThere(t *testing.T) {
	h := newHome(t)
	h.plugin("v4")
	const says = "allows plugins that are not installed in "
	h.write(".config/helm/kubectl-release/sources.yaml", "plugins: [tset, nope]\n")
	if r := h.fails(1, says, "template", "web", "t://host/alpha-1.0.0.tgz"); !strings.Contains(r.err, h.path("plugins")+": tset, nope\n") {
		t.Error(r.err)
	}
	h.fails(1, says, "repo", "add", "a", "t://host")
	h.fails(1, says, "dependency", "update", "um")
	if r := h.ok("template", "web", "host/alpha-1.0.0.tgz"); strings.Contains(r.err, says) {
		t.Error(r.err)
	}
	h.write(".config/helm/kubectl-release/sources.yaml", "plugins: [tset, test]\n")
	r := h.ok("template", "web", "t://host/alpha-1.0.0.tgz", "-f", "t://host/v.yaml")
	if strings.Count(r.err, "Warning: ") != 1 || !strings.Contains(r.err, says+h.path("plugins")+": tset\n") {
		t.Error(r.err)
	}
	h.write(".config/helm/kubectl-release/sources.yaml", "plugins: [test]\n")
	if r := h.ok("template", "web", "t://host/alpha-1.0.0.tgz"); strings.Contains(r.err, says) {
		t.Error(r.err)
	}
}

// A plugin that prints endlessly, one that is missing, and one with an unsupported runtime.
func TestPluginsThatAreBroken(t *testing.T) {
	h := newHome(t)
	h.plugin("v3")
	h.write(".config/helm/kubectl-release/sources.yaml", "plugins: [test]\n")
	h.write("plugins/test/bin/get", "#!/bin/sh\nexec yes\n")
	h.fails(1, "larger than 32 MiB", "template", "web", "host/alpha-1.0.0.tgz", "-f", "t://host/v.yaml")
	must(t, os.Remove(h.path("plugins/test/bin/get")))
	h.fails(1, "run plugin test", "template", "web", "host/alpha-1.0.0.tgz", "-f", "t://host/v.yaml")
	h.write("plugins/test/plugin.yaml", "name: test\ntype: getter/v1\nruntime: extism/v1\n")
	h.fails(1, `has runtime "extism/v1"`, "template", "web", "host/alpha-1.0.0.tgz", "-f", "t://host/v.yaml")
	// If no URL is named, no plugin is looked at.
	h.ok("template", "web", "host/alpha-1.0.0.tgz")
}

// A values file may be at a URL, as in Helm.
func TestValuesAtAURL(t *testing.T) {
	server, h := sourcetest.Serve(t, sourcetest.Options{}), newHome(t)
	server.Put("/v.yaml", []byte("text: fetched\n"))
	h.chartFile("alpha", "1.0.0", "")
	args := []string{"template", "web", "alpha-1.0.0.tgz", "-f", server.URL + "/v.yaml", "--username", "u", "--password", "p"}
	if of, helms := h.ok(args...), h.helm(args[:5]...); !same(of, helms) {
		t.Errorf("%s\n%s", of.out, helms.out)
	}
	for _, q := range server.Requests() {
		if q.Header.Get("Authorization") != "" {
			t.Error("the credentials of the chart's server were sent")
		}
	}
	// Whatever else a URL contains must not be shown.
	secret := strings.Replace(server.URL, "http://", "http://canary-user:canary-password@", 1)
	r := h.fails(10, "/gone.yaml?withheld", "template", "web", "alpha-1.0.0.tgz", "-f", secret+"/gone.yaml?token=canary-token")
	if strings.Contains(r.out+r.err, "canary") {
		t.Errorf("%+v", r)
	}
	h.fails(10, fmt.Sprint(server.URL, "/gone.yaml"), "template", "web", "alpha-1.0.0.tgz", "-f", server.URL+"/gone.yaml")
}
