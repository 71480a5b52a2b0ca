package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// An install is planned with the options for installs, and an upgrade with those for upgrades.
func TestOptionsOfInstallsAndUpgrades(t *testing.T) {
	const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.example.com}, spec: {
		group: example.com, scope: Namespaced, names: {kind: A, plural: as}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`
	for _, c := range []struct {
		spec      string
		installed bool
		crds      string
		options   string
	}{
		{"install: {crds: Skip, timeout: 3m}", false, "", "timeout 3m0s"},
		{"install: {crds: Skip}", true, "create", ""},
		{"install: {skipCRDs: true}", false, "create", ""},
		{"install: {skipCRDs: true, crds: Skip}", false, "", ""},
		{"install: {skipCRDs: true, crds: Create}", false, "create", ""},
		{"upgrade: {crds: Skip, disableTakeOwnership: true}", false, "create", "take ownership"},
		{"upgrade: {crds: Skip}", true, "", "take ownership"},
		{"maxHistory: 3, upgrade: {timeout: 7m}", true, "create", "keep 3 revisions"},
	} {
		d := atDesk(t)
		if c.installed {
			d.must("install web ./web")
			d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
			d.helmRelease(c.spec, noValues)
		} else {
			d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}, "+c.spec)
		}
		d.file("web/crds/a.yaml", definition)
		web := d.planned("release.yaml")["web"]
		if got := steps(web, "CustomResourceDefinition"); web.Plan == nil || got != c.crds {
			t.Errorf("%s, installed: %t: CRD %q, want %q (%v %s)", c.spec, c.installed, got, c.crds, web.Verdict, web.Error)
			continue
		}
		if text := fmt.Sprintf("take ownership %t, timeout %s, keep %d revisions", web.Plan.Options.TakeOwnership, web.Plan.Options.Timeout, web.Plan.Options.HistoryMax); !strings.Contains(text, c.options) {
			t.Errorf("%s: %s, want %s", c.spec, text, c.options)
		}
		notes := strings.Join(web.Verdict.Notes, "; ")
		if told := strings.Contains(notes, "spec.install.skipCRDs has no effect"); told != (strings.Contains(c.spec, "skipCRDs") && c.crds != "") {
			t.Errorf("%s: %s", c.spec, notes)
		}
	}
}

// With preserveValues the plan has the values of the newest revision or, without a cluster, those of
// the base.
func TestPreservedValues(t *testing.T) {
	for spec, want := range map[string]string{"upgrade: {preserveValues: true}, values: {more: 1}": "text:two", "values: {more: 1}": "text:one"} {
		d := atDesk(t)
		d.must("install web ./web --set text=two")
		d.helmRelease(spec, "sha256:1")
		d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
		if got := d.texts("release.yaml"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
		d.must("plan many release.yaml").has(t, "upgrade 1 → 2")
	}
	const keeps = "spec.upgrade.preserveValues keeps the values that were released before: the plan uses those of the base"
	for _, preserves := range []bool{true, false} {
		d := atDesk(t)
		for side, given := range map[string]string{"base": "{text: base, more: base}", "head": "{more: head}"} {
			d.releaseFile(side+"/apps/web.yaml", "web", fmt.Sprintf("chart: {spec: {chart: ./apps/web, sourceRef: {kind: GitRepository, name: fleet}}}, upgrade: {preserveValues: %t}, values: %s", preserves, given))
			d.file(side+"/apps/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
			d.file(side+"/apps/web/values.yaml", "text: chart\nmore: chart\n")
			d.file(side+"/apps/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: {{ .Values.text }}, more: {{ .Values.more }}}\n")
		}
		t.Chdir("head")
		want := map[bool]string{true: "web=map[more:head text:base]", false: "web=map[more:head text:chart]"}[preserves]
		if got := d.texts("apps --offline --base-dir ../base"); got != want {
			t.Errorf("preserveValues: %t: %s, want %s", preserves, got, want)
		}
		if notes := strings.Join(d.planned("apps --offline --base-dir ../base")["web"].Verdict.Notes, "; "); strings.Contains(notes, keeps) != preserves {
			t.Errorf("preserveValues: %t: %s", preserves, notes)
		}
	}
}

// An uninstall is planned with the options for uninstalls, both for a release that is removed from
// the repository and for one that moves to another name or storage namespace, with and without a cluster.
func TestOptionsOfUninstalls(t *testing.T) {
	for _, offline := range []string{"", " --offline"} {
		for _, head := range []string{"", ", storageNamespace: other", ", releaseName: front"} {
			d := atDesk(t)
			const uninstall = ", uninstall: {deletionPropagation: orphan, keepHistory: true, disableHooks: true, disableWait: true, timeout: 3m}"
			d.tree("base", "prune: true", webOf("")+uninstall, "one")
			if head != "" {
				head = webOf("") + uninstall + head
			}
			d.tree("head", "prune: true", head, "one")
			d.must("install web ./base/charts/web")
			d.helmRelease("", noValues)
			t.Chdir("head")
			web := d.planned("--flux clusters/prod --base-dir ../base" + offline)["web"]
			if web.Plan == nil || web.Plan.Operation != plan.Uninstall {
				t.Errorf("%q%s: %+v %s", head, offline, web.Plan, web.Error)
				continue
			}
			if o := web.Plan.Options; o.Cascade != "orphan" || !o.KeepHistory || !o.NoHooks || o.Wait || o.Timeout != 3*time.Minute {
				t.Errorf("%q%s: %+v", head, offline, o)
			}
		}
	}
}

// force replaces objects unless server-side apply is used, where it is ignored.
func TestForcedUpgrades(t *testing.T) {
	for spec, want := range map[string]bool{
		"upgrade: {force: true}":                            false,
		"upgrade: {force: true, serverSideApply: enabled}":  false,
		"upgrade: {force: true, serverSideApply: disabled}": true,
	} {
		d := atDesk(t)
		d.must("install web ./web")
		d.helmRelease(spec, noValues)
		d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
		web := d.planned("release.yaml")["web"]
		if web.Plan == nil || web.Plan.Options.Force != want {
			t.Errorf("%s: %+v %s, want force %t", spec, web.Plan, web.Error, want)
		}
	}
	for spec, want := range map[string]bool{", upgrade: {force: true}": false, ", upgrade: {force: true, serverSideApply: disabled}": true} {
		d := atDesk(t)
		d.tree("base", "prune: true", webOf("")+spec, "one")
		d.tree("head", "prune: true", webOf("")+spec+", values: {text: two}", "one")
		t.Chdir("head")
		web := d.planned("--flux clusters/prod --base-dir ../base --offline")["web"]
		if web.Plan == nil || web.Plan.Options.Force != want {
			t.Errorf("%s, by the files: %+v %s, want force %t", spec, web.Plan, web.Error, want)
		}
	}
	d := atDesk(t)
	d.must("install web ./web --server-side=false")
	d.helmRelease("upgrade: {force: true}", noValues)
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
	if web := d.planned("release.yaml")["web"]; web.Plan == nil || !web.Plan.Options.Force || d.Objects[manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}] == nil {
		t.Errorf("%+v %s, want force", web.Plan, web.Error)
	}
}
