package command

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// chain is a set in which a needs b, and b needs c.
const chain = `version: 1
defaults: {namespace: shop}
releases:
- {name: a, chart: own, values: [text.yaml], labels: {tier: ends}, needs: [b]}
- {name: b, chart: own, values: [{text: one}], needs: [c]}
- {name: c, chart: own, values: [text.yaml], labels: {tier: ends}}
`

// atChain gives a test a desk with the set, and the folder base with it as it was.
func atChain(t *testing.T) *desk {
	t.Helper()
	d := atDesk(t)
	for _, folder := range []string{"", "base/"} {
		d.file(folder+"own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
		d.file(folder+"own/templates/all.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Release.Name }}}, data: {text: {{ .Values.text | quote }}}}")
		d.file(folder+"text.yaml", "text: one")
		d.file(folder+"set.yaml", chain)
	}
	return d
}

// Releases are applied in the order of their needs, even if it leads through one that is not saved: it has
// no effect, is not touched, or is not selected. One whose need has failed is not started.
func TestOrderThroughAReleaseThatIsNotSaved(t *testing.T) {
	for name, test := range map[string]struct {
		installed bool
		flags     string
	}{
		"no effect":    {true, ""},
		"not touched":  {true, " --base-dir base"},
		"not selected": {false, " -l tier=ends"},
	} {
		t.Run(name, func(t *testing.T) {
			d := atChain(t)
			if test.installed {
				d.must("plan many set.yaml --out set")
				d.must("apply many set")
				d.file("text.yaml", "text: two")
			}
			d.must("plan many set.yaml --out set" + test.flags)
			first := d.Calls + 1
			d.Trouble = func(call int) clusterfake.Trouble {
				if call == first {
					return clusterfake.Trouble{Before: errors.New("no")}
				}
				return clusterfake.Trouble{}
			}
			a := d.types("apply many set --keep-going --parallel 1")
			if !strings.Contains(a.out, "shop/c  failed\nshop/a  not started: it needs shop/c\n") {
				t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
			}
		})
	}
}

// What is uninstalled goes before what it needs, even if a release between them does not exist.
func TestOrderOfUninstallsThroughAReleaseThatIsNotSaved(t *testing.T) {
	for name, test := range map[string]struct{ releases, flags string }{
		"declared": {strings.NewReplacer("name: a,", "name: z,", "chart: own,", "installed: false,").Replace(chain[strings.Index(chain, "- "):]), ""},
		"pruned":   {"- {name: new, chart: own}\n", " --base-dir base --prune"},
	} {
		t.Run(name, func(t *testing.T) {
			d := atChain(t)
			d.must("install z ./own")
			d.must("install c ./own")
			d.file("set.yaml", "version: 1\ndefaults: {namespace: shop}\nreleases:\n"+test.releases)
			d.file("base/set.yaml", strings.ReplaceAll(chain, "name: a,", "name: z,"))
			d.must("plan many set.yaml --out set" + test.flags)
			a := d.must("apply many set --parallel 1")
			if z, c := strings.Index(a.out, "shop/z "), strings.Index(a.out, "shop/c "); z < 0 || c < z {
				t.Errorf("it says\n%s", a.out)
			}
		})
	}
}

// A blocked uninstall is not planned as an upgrade instead, though what the chart's objects lack comes with another release.
func TestBlockedUninstallsAreNotDeferred(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.file("web/templates/more.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: more, namespace: extra}}")
	d.file("spaces/Chart.yaml", "{apiVersion: v2, name: spaces, version: 1.0.0}")
	d.file("spaces/templates/all.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: extra}}")
	for installed, want := range map[string]string{"true": "upgrade", "false": "uninstall"} {
		d.file("set.yaml", "version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: web, chart: web, needs: [spaces], installed: "+installed+"}\n- {name: spaces, chart: spaces}\n")
		a := d.types("plan many set.yaml --deny delete -o json")
		var made releaseset.Document
		if err := json.Unmarshal([]byte(a.out), &made); err != nil {
			t.Fatal(err, a.err)
		}
		for _, r := range made.Releases {
			if r.Key.Name == "web" && (r.Plan == nil || string(r.Plan.Operation) != want || (r.Deferred != "") != (want == "upgrade")) {
				t.Errorf("installed: %s: deferred %q, %s", installed, r.Deferred, a.out)
			}
		}
	}
}
