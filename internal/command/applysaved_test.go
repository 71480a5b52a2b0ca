package command

import (
	"strings"
	"testing"
)

// A saved plan has its own values and options: flags for others are refused, not ignored. Those that judge
// it, and those for the way in which it is applied and shown, are taken.
func TestASavedPlanHasItsOwnOptions(t *testing.T) {
	d := atDesk(t)
	d.file("more.yaml", "text: three\n")
	d.must("plan web ./web --out web.plan")
	before := d.writes()
	for _, flag := range []string{
		"--atomic", "--timeout=10m", "--set=text=two", "--values=more.yaml", "--reuse-values", "--skip-crds", "--wait=true", "--create-namespace", "--labels=a=b",
		"--server-side=true", "--history-max=3", "--version=2.0.0", "--verify", "--verify-key=cosign.pub", "--untrusted", "--no-hooks", "--description=x",
	} {
		name, _, _ := strings.Cut(flag, "=")
		if a := d.types("apply web.plan " + flag); a.code != exitError || a.err != "Error: "+name+" is for a chart; a saved plan has its own\n" {
			t.Errorf("%s: exit code %d\n%s%s", flag, a.code, a.out, a.err)
		}
	}
	for alias, name := range map[string]string{"-f more.yaml": "--values", "--rollback-on-failure": "--atomic", "-l a=b": "--labels"} {
		if a := d.types("apply web.plan " + alias); a.code != exitError || a.err != "Error: "+name+" is for a chart; a saved plan has its own\n" {
			t.Errorf("%s: exit code %d\n%s%s", alias, a.code, a.out, a.err)
		}
	}
	if after := d.writes(); after != before {
		t.Errorf("it was written %d times", after-before)
	}
	d.must("apply web.plan --deny delete --lock-timeout 5s --pinned --offline --show-secrets --max-age 1h")
}
