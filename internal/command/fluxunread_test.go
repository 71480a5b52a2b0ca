package command

import (
	"strings"
	"testing"
)

// A Kustomization that can't be read is reported, and the others are planned. The API server refuses it,
// and everything its Kustomization applies with it: nothing that they have applied is deleted.
func TestAKustomizationThatCannotBeRead(t *testing.T) {
	const unread = "read Kustomization flux-system/bad: "
	bad := strings.Replace(kustomization("bad", ""), "prune: true", `prune: "yes please"`, 1)
	d := atDesk(t)
	d.tree("base", "prune: true", webOf(""), "one")
	d.tree("head", "prune: true", webOf("")+", values: {text: two}", "one")
	d.file("head/clusters/prod/bad.yaml", bad)
	t.Chdir("head")
	a := d.types("plan many " + offlineFlux)
	if text := a.out + a.err; a.code != exitError || !strings.Contains(text, unread) {
		t.Errorf("exit code %d\n%s", a.code, text)
	}
	if got := verdict(d.planned(offlineFlux)["web"]); !strings.HasPrefix(got, "upgrade: ") {
		t.Error(got)
	}
	for _, c := range []struct{ file, name, want string }{
		{"clusters/prod/apps.yaml", "apps", "unknown: Kustomization flux-system/apps can't be built: whether it has the HelmRelease is not known"},
		{"apps/bad.yaml", "bad", "unknown: Kustomization flux-system/apps has a Kustomization that can't be read: whether it has the HelmRelease is not known"},
	} {
		t.Run(c.file, func(t *testing.T) {
			d := atDesk(t)
			d.tree("base", "prune: true", webOf(""), "one")
			d.tree("head", "prune: true", "", "one")
			d.file("head/"+c.file, strings.Replace(bad, "name: bad", "name: "+c.name, 1))
			t.Chdir("head")
			web := d.planned(offlineFlux)["web"]
			if got := verdict(web); !strings.HasPrefix(got, c.want) || web.Plan != nil {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// What lists a set instead of planning it says, too, what is missing.
func TestListsSayWhatIsMissing(t *testing.T) {
	d := atDesk(t)
	d.tree(".", "", webOf(""), "one")
	d.file("clusters/prod/gone.yaml", kustomization("gone", ""))
	for _, flag := range []string{"--list-charts", "--print-set"} {
		if a := d.must("plan many --flux clusters/prod --offline " + flag); !strings.Contains(a.err, "Warning: build Kustomization flux-system/gone: path gone is not a folder in the repository") {
			t.Errorf("%s: %s", flag, a.err)
		}
	}
}
