package command

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A command's result is on standard output, its progress on standard error.
func TestEachRunSaysWhatItHasComeTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // slow steps are reported
		d := atDesk(t)
		for _, step := range []struct {
			line, out, err, text string
		}{
			{"install web ./web", "Release web is installed in namespace shop (revision 1).\n\nNOTES:\nIt says one.\n", "install shop/web: create 1\n• resources\n", "one"},
			{"upgrade web ./web --set text=two --hide-notes", "Release web is upgraded to revision 2.\n", "upgrade shop/web: change 1\n• resources\n", "two"},
			{"upgrade web ./web --hide-notes", "Release web is upgraded to revision 3.\n", "upgrade shop/web: no object changes\n• resources\n", "two"},
			{"rollback web 1", "Release web is rolled back to revision 1 (as revision 4).\n", "rollback shop/web: change 1\n• resources\n", "one"},
			{"test web", "Release shop/web has no tests.\n", "test shop/web: no object changes\n", "one"},
			{"uninstall web", "Release web is uninstalled.\n", "Risks: 1 deletion\nuninstall shop/web: delete 1\n• resources\n", ""},
		} {
			a := d.must(step.line)
			if diff := cmp.Diff([]string{step.out, step.err, step.text}, []string{a.out, a.err, d.text()}); diff != "" {
				t.Errorf("%s: -want +got:\n%s", step.line, diff)
			}
		}
	})
}

// A plan is on standard output, in each format, and a dry run is a plan. Neither writes anything.
func TestAPlanIsShownAndNothingWritten(t *testing.T) {
	d := atDesk(t)
	for line, want := range map[string]string{
		"plan web ./web":                               "Plan: 1 to create\n",
		"plan web ./web --summary":                     "Plan: 1 to create\n",
		"plan web ./web -o json":                       `"operation": "install"`,
		"plan web ./web -o yaml":                       "operation: install\n",
		"plan web ./web -o markdown":                   "1 to create",
		"plan graph web ./web":                         "flowchart",
		"install web ./web --dry-run":                  "Plan: 1 to create\n",
		"install web ./web --dry-run=server -o json":   `"operation": "install"`,
		"upgrade web ./web --install --dry-run=client": "Plan: 1 to create\n",
		"install web ./web --dry-run=client":           "kind: ConfigMap",
	} {
		if a := d.must(line); !strings.Contains(a.out, want) || a.err != "" {
			t.Errorf("%s prints %q and warns %q", line, a.out, a.err)
		}
	}
	d.wroteNothing()
}

// Scripts see from the exit code what a plan would change.
func TestDetailedExitCode(t *testing.T) {
	d := atDesk(t)
	if a := d.types("plan web ./web --detailed-exitcode"); a.code != exitChanges {
		t.Errorf("for an install: %d", a.code)
	}
	d.must("install web ./web")
	for line, code := range map[string]int{
		"plan web ./web --detailed-exitcode":                exitDone,
		"plan web ./web --set text=two --detailed-exitcode": exitChanges,
		"plan web ./web --set text=two":                     exitDone,
		"plan web ./web --set more=x --detailed-exitcode":   exitRecordOnly,
		"plan uninstall web --detailed-exitcode":            exitChanges,
		"plan rollback web 7 --detailed-exitcode":           exitError,
		"plan rollback web 1 --detailed-exitcode":           exitRecordOnly, // revision 2 would be recorded
	} {
		if a := d.types(line); a.code != code {
			t.Errorf("%s: exit code %d, want %d\n%s%s", line, a.code, code, a.out, a.err)
		}
	}
}

// A plan that can't be applied is shown as far as it goes; a run says why it did nothing.
func TestABlockedPlanIsNotApplied(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web --set password=s3cr3t")
	before := d.writes()
	for line, want := range map[string]struct{ out, err string }{
		"plan web ./web --reset-values --deny delete":        {"✗", ""},
		"apply web ./web --reset-values --deny delete --yes": {"✗", ""},
		"upgrade web ./web --reset-values --deny delete":     {"", "Error: upgrade of shop/web can't be done, and nothing was written:\n  ✗ Secret/web: "},
		"uninstall web --deny delete":                        {"", "Error: uninstall of shop/web can't be done, and nothing was written:\n  ✗ "},
	} {
		a := d.types(line)
		if a.code != exitError || !strings.Contains(a.out, want.out) || !strings.Contains(a.err, want.err) || (want.out == "") != (a.out == "") {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
	}
	a := d.types("upgrade web ./web --reset-values --deny delete -o json")
	if got := a.summary(t); a.code != exitError || got["outcome"] != "blocked" || got["exitCode"] != 1.0 {
		t.Errorf("exit code %d, summary %v", a.code, got)
	}
	if after := d.writes(); after != before {
		t.Errorf("it was written %d times", after-before)
	}
}

// An identity that may only read is told once what is missing, or plans with --read-only,
// whose exit code depends on the content.
func TestAReaderPlans(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web --set password=s3cr3t")
	before := d.writes()
	d.Refuse = map[manifest.ID]*plan.Refusal{}
	for resource, kind := range map[string]string{"configmaps": "ConfigMap", "secrets": "Secret"} {
		d.Refuse[manifest.ID{Kind: kind, Namespace: "shop", Name: "web"}] = &plan.Refusal{
			Reason: "Forbidden", Message: `User "reader" cannot patch resource "` + resource + `" in API group "" in the namespace "shop"`,
		}
	}
	const change = " --set text=two --set password=other"
	a := d.types("plan web ./web" + change)
	if a.code != exitError || strings.Count(a.out, "✗") != 1 || strings.Count(a.out, "kubectl create role") != 1 || !strings.Contains(a.out, "no permission to patch configmaps and secrets in namespace shop") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	for line, code := range map[string]int{
		"plan web ./web --read-only":                                       exitDone,
		"plan web ./web --read-only --detailed-exitcode":                   exitDone,
		"plan web ./web --read-only --detailed-exitcode" + change:          exitChanges,
		"plan uninstall web --read-only --detailed-exitcode":               exitChanges,
		"plan web ./web --read-only --deny delete --reset-values" + change: exitDone,
		"plan web ./web --read-only --deny delete --reset-values":          exitError,
		"plan web ./web --read-only --out web.plan":                        exitError,
	} {
		if a := d.types(line); a.code != code || code != exitError && strings.Count(a.out, "estimated") != 1 {
			t.Errorf("%s: exit code %d, want %d\n%s%s", line, a.code, code, a.out, a.err)
		}
	}
	if after := d.writes(); after != before {
		t.Errorf("it was written %d times", after-before)
	}
}

// Without a terminal, --yes is the only answer to apply's question, with events, too.
func TestApplyAsks(t *testing.T) {
	d := atDesk(t)
	for _, line := range []string{"apply web ./web", "apply web ./web -o json"} {
		a := d.types(line)
		if a.code != exitError || !strings.Contains(a.err, "Error: not applied; nothing was written: there is no terminal to ask on; use --yes to go ahead without confirmation\n") {
			t.Errorf("%s: exit code %d\n%s", line, a.code, a.err)
		}
	}
	d.wroteNothing()
	if a := d.must("apply web ./web --yes"); !strings.Contains(a.out, "Plan: 1 to create\n") || !strings.Contains(a.out, "Release web is installed") {
		t.Errorf("the plan and its end are not both told:\n%s", a.out)
	}
	if a := d.must("apply web ./web"); !strings.Contains(a.out, "No changes.") {
		t.Errorf("somebody was asked about nothing:\n%s%s", a.out, a.err)
	}
}

// A release may have the name of a command: after "--" no word is one, not for completion, either.
func TestAReleaseCalledAsACommand(t *testing.T) {
	d := atDesk(t)
	if a := d.must("plan --summary -- many ./web"); !strings.Contains(a.out, "Release shop/many: install") {
		t.Errorf("it plans\n%s", a.out)
	}
	d.must("apply --yes -- many ./web")
	d.must("upgrade many ./web")
	d.must("plan uninstall many")
	d.failsNext()
	if a := d.types("apply --yes --set text=two -n shop -- many ./web"); !strings.Contains(a.err, "go on: kubectl release apply --yes --set text=two --namespace shop -- many ./web\n") {
		t.Errorf("it says\n%s", a.err)
	}
	for line, want := range map[string]string{"apply -- many ": "", "apply -- ": "many", "plan -- r": "rollback"} {
		if got := completed(t, line); want == "" && strings.Contains(got, "many") || want != "" && strings.Contains(got, want) {
			t.Errorf("%q is completed by %s", line, got)
		}
	}
}

// With -o json, standard output has events, one per line; the first gives their version
// and the last how the run ended.
func TestEventsOfARun(t *testing.T) {
	d := atDesk(t)
	a := d.must("apply web ./web --yes -o json")
	var types []string
	for _, e := range a.events(t) {
		types = append(types, e["type"].(string))
	}
	if diff := cmp.Diff([]string{"version", "planned", "stage", "started", "done", "stage", "started", "done", "stage", "started", "done", "summary"}, types); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := a.summary(t); got["outcome"] != "done" || got["revision"] != 1.0 || got["notes"] != "It says one." || a.err != "" {
		t.Errorf("summary %v, and on standard error %q", got, a.err)
	}
	if got := d.must("apply web ./web --yes -o json").summary(t); got["outcome"] != "nothing" {
		t.Errorf("summary of a plan without changes: %v", got)
	}
	if got := d.must("upgrade web ./web --set text=two -o json --hide-notes").summary(t); got["notes"] != nil {
		t.Errorf("notes %v", got["notes"])
	}
	a = d.must("uninstall web other -o json --ignore-not-found")
	var outcomes []string
	for _, e := range a.events(t) {
		if s, ok := e["summary"].(map[string]any); ok {
			outcomes = append(outcomes, s["release"].(map[string]any)["name"].(string)+" "+s["outcome"].(string))
		}
	}
	if diff := cmp.Diff([]string{"web done", "other nothing"}, outcomes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// With -o yaml a run prints the revision that it has stored.
func TestTheRecordOfARun(t *testing.T) {
	if a := atDesk(t).must("install web ./web -o yaml"); !strings.Contains(a.out, "\nname: web\n") || !strings.Contains(a.out, "status: deployed\n") || strings.Contains(a.out, "is installed") {
		t.Errorf("it prints\n%s", a.out)
	}
}

// A saved plan is applied as it is, and only while it holds.
func TestASavedPlanIsAppliedWhileItHolds(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	if a := d.must("plan web ./web --set text=two --out web.plan"); !strings.HasPrefix(a.err, "Saved. To do exactly this: kubectl release apply web.plan\nDigest: sha256:") {
		t.Errorf("it says %q", a.err)
	}
	if a := d.must("plan show web.plan"); !strings.Contains(a.out, "one → two") {
		t.Errorf("it shows\n%s", a.out)
	}
	d.must("apply web.plan")
	if d.text() != "two" {
		t.Errorf("it says %s", d.text())
	}
	a := d.types("apply web.plan")
	if a.code != exitStale || !strings.Contains(a.err, "apply --replan web.plan") {
		t.Errorf("applied twice: exit code %d\n%s", a.code, a.err)
	}
	if a := d.must("apply web.plan --replan"); !strings.HasPrefix(a.out, "Since the plan was reviewed:\n") {
		t.Errorf("what is different now is not told:\n%s", a.out)
	}
	var errs bytes.Buffer
	p := newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: &errs}, "kubectl release")
	p.dial = func(*connectionFlags) (api, string, error) { return memory{d.Cluster, d.client}, "other", nil }
	code := p.main(t.Context(), nil, []string{"kubectl-release", "apply", "web.plan", "-n", "other"})
	if code != exitError || !strings.Contains(errs.String(), "Error: the plan is for namespace shop, not other\n") {
		t.Errorf("in another namespace: exit code %d\n%s", code, &errs)
	}
}

// A run that fails says how to go on, and with --atomic that it was rolled back.
func TestARunThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		flags, err string
		code       int
	}{
		"is gone on from":       {"", "go on: kubectl release upgrade web ./web", exitError},
		"is rolled back":        {" --atomic", "revision 2 is what failed: kubectl release get values web --revision 2", exitRolledBack},
		"ends as an event":      {" -o json", "", exitError},
		"or as an event of two": {" -o json --atomic", "", exitRolledBack},
	} {
		t.Run(name, func(t *testing.T) {
			d := atDesk(t)
			d.must("install web ./web")
			d.failsNext()
			a := d.types("upgrade web ./web --set text=two" + c.flags)
			if a.code != c.code || !strings.Contains(a.err, c.err) {
				t.Errorf("exit code %d, log %v\n%s", a.code, d.Log, a.err)
			}
			if strings.Contains(c.flags, "json") {
				if got := a.summary(t); got["exitCode"] != float64(c.code) || got["error"] == nil {
					t.Errorf("summary %v", got)
				}
			}
		})
	}
}

// An atomic upgrade that fails when no revision has succeeded leaves the release as it is, and says so.
func TestARunWithoutAWayBack(t *testing.T) {
	const said = "nothing was rolled back: there is no successful revision to roll back to"
	for _, flags := range []string{"", " -o json"} {
		d := atDesk(t)
		d.failsNext()
		d.types("install web ./web --set password=x")
		d.failsNext()
		a := d.types("upgrade web ./web --set text=two --atomic" + flags)
		if a.code != exitError {
			t.Errorf("exit code %d\n%s", a.code, a.err)
		}
		if flags == "" {
			if !strings.Contains(a.err, said) || !slices.Equal(a.hints(), []string{"upgrade web ./web --set text=two --atomic", "uninstall web"}) {
				t.Errorf("it says:\n%s", a.err)
			}
		} else if got := a.summary(t); got["outcome"] != "failed" || got["undo"] != nil || !strings.Contains(got["error"].(string), said) {
			t.Errorf("summary %v", got)
		}
	}
}

// What is read of a release is printed in Helm's words, and structured if requested.
func TestWhatIsReadOfAReleaseIsPrinted(t *testing.T) {
	d := atDesk(t)
	d.file("web/templates/NOTES.txt", "It says {{ .Values.text }}. ⚠\ufe0f\r\n")
	d.must("install web ./web --set text=two")
	d.must("upgrade web ./web")
	for line, want := range map[string]string{
		"list -q":                                     "web\n",
		"list --no-headers --time-format x":           "web   shop   2   x   deployed   web-1.0.0   7\n",
		"list --failed -q":                            "",
		"list --superseded -o json":                   `[{"name":"web","namespace":"shop","revision":"1",`,
		"list --superseded --failed -q":               "",
		"history web --max 1 -o json":                 `"revision":2`,
		"status web":                                  "STATUS: deployed\nREVISION: 2\n",
		"status web --revision 1":                     "STATUS: superseded\nREVISION: 1\n",
		"status web -o json":                          `"resources":{"v1/ConfigMap":[`,
		"status web --revision -1":                    "STATUS: deployed\nREVISION: 2\n",
		"show values ./web --jsonpath {.text}{.no.x}": "one",
		"get values web":                              "USER-SUPPLIED VALUES:\ntext: two\n",
		"get values web --all -o json":                "{\"password\":\"\",\"text\":\"two\"}\n",
		"get manifest web --revision 1":               "data: {text: \"two\"}",
		"get notes web":                               "NOTES:\nIt says two. ⚠\ufe0f\r\n",
		"get metadata web -o yaml":                    "chart: web\n",
		"get all web --template {{.Release.Version}}": "2",
	} {
		if a := d.must(line); !strings.Contains(a.out, want) || want == "" && a.out != "" || a.err != "" {
			t.Errorf("%s prints %q and warns %q", line, a.out, a.err)
		}
	}
}

// As in Helm 4, get metadata prints dependencies as in Chart.yaml, and as text their sorted names.
func TestMetadataHasDependencies(t *testing.T) {
	d := atDesk(t)
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: b, version: 1.x, repository: '', condition: b.on}, {name: a, version: 1.x, repository: ''}]}")
	for _, name := range []string{"a", "b"} {
		d.file("web/charts/"+name+"/Chart.yaml", "{apiVersion: v2, name: "+name+", version: 1.0.0}")
	}
	d.must("install web ./web")
	for line, want := range map[string]string{
		"get metadata web":         "\nDEPENDENCIES: a,b\n",
		"get metadata web -o json": `"dependencies":[{"name":"b","version":"1.x","repository":"","condition":"b.on","enabled":true},{"name":"a","version":"1.x","repository":"","enabled":true}]`,
	} {
		if a := d.must(line); !strings.Contains(a.out, want) {
			t.Errorf("%s prints %q", line, a.out)
		}
	}
}

// A record without a time has none in lists either, as in Helm 4; the year 1 is no time.
func TestARecordWithoutATime(t *testing.T) {
	var out bytes.Buffer
	p := newProgram(Streams{Out: &out}, "kubectl release")
	web := &release.Revision{Name: "web", Namespace: "shop", Version: 1, Info: release.Info{Status: release.StatusFailed}}
	for want, print := range map[string]func() error{
		`"updated":"-"`:               func() error { return p.printList(&listFlags{timeFormat: "2006"}, "json", []*release.Revision{web}) },
		"web   shop   1   -   failed": func() error { return p.printList(&listFlags{noHeaders: true}, "text", []*release.Revision{web}) },
		`{"revision":1,"status":`: func() error {
			return p.printHistory(&historyFlags{outputFlags: outputFlags{output: "json"}}, release.History{web})
		},
	} {
		out.Reset()
		if err := print(); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s (%v), want %s", out.String(), err, want)
		}
	}
}

// del is Helm's third other name of uninstall; xargs passes on hundreds of names.
func TestDel(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.must("del --ignore-not-found web" + strings.Repeat(" other", 200))
	if a := d.must("list -q"); a.out != "" {
		t.Errorf("%q is left", a.out)
	}
}

// As in Helm, a variable that can't be parsed is as good as unset.
func TestVariablesThatAreNotReadable(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	for _, variable := range []string{"HELM_DEBUG", "HELM_QPS", "HELM_KUBEINSECURE_SKIP_TLS_VERIFY", "HELM_MAX_HISTORY"} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "perhaps")
			d.t = t
			d.must("upgrade web ./web")
		})
	}
}

// Up to the first dot, as in Helm: a Service could not have a dot in its name.
func TestGeneratedNames(t *testing.T) {
	for path, want := range map[string]string{
		"./web": "web-7", "my.chart/": "my-7", "a/web-1.2.3.tgz": "web-1-7", ".": "chart-7",
		"oci://h:5000/a/web:1.2.3": "web-7",
	} {
		if got := generated(path, time.Unix(7, 0)); got != want {
			t.Errorf("%s becomes %s, want %s", path, got, want)
		}
	}
}

// Mistakes are reported before anything is asked, with exit code 1 and nothing on standard
// output.
func TestMistakesAreTold(t *testing.T) {
	d := atDesk(t)
	for line, want := range map[string]string{
		"status web":                         "Error: there is no release web in namespace shop (release: not found)\nHint: kubectl release list --all-namespaces lists the existing releases\n",
		"upgrade web ./web":                  "Error: there is no release shop/web to upgrade (\"web\" has no deployed releases)\nHint: install it, or add --install\n",
		"uninstall web":                      "Error: there is no release web in namespace shop",
		"status":                             "Error: an argument is missing: kubectl release status NAME\n",
		"status a b":                         "Error: unexpected argument \"b\": kubectl release status NAME\n",
		"status web -o xml":                  "Error: -o xml: must be text, json or yaml\n",
		"install web ./web --wait=perhaps":   "Error: --wait=perhaps: must be true, false or hookOnly\n",
		"template web ./web --wait=perhaps":  "Error: --wait=perhaps: must be true, false or hookOnly\n",
		"template web ./web --timeout often": "Error: --timeout=often: must be a duration, such as 5m\n",
		"template web ./web --server-side=x": "Error: --server-side=x: must be auto, true or false\n",
		"install web ./web --timeout 5":      "Error: invalid value \"5\" for flag --timeout: the unit is missing, as in 5s\n",
		"install web ./web -v x":             "Error: invalid value \"x\" for flag -v: must be a whole number\n",
		"list -v 9999999999999999999":        "Error: invalid value \"9999999999999999999\" for flag -v: it is out of range\n",
		"list --qps 1e999":                   "Error: invalid value \"1e999\" for flag --qps: it is out of range\n",
		"install web ./web --qps x":          "Error: invalid value \"x\" for flag --qps: must be a number\n",
		"install web ./web --atomic=x":       "Error: invalid value \"x\" for flag --atomic: must be true or false\n",
		"install web ./web --timeout x":      "Error: invalid value \"x\" for flag --timeout: must be a duration, such as 5m\n",
		"install web ./web --dry-run=maybe":  "Error: --dry-run=maybe: must be none, client or server\n",
		"install ./web --generate-name x":    "Error: give a NAME or have one generated, not both\n",
		"install Web ./web":                  "Error: \"Web\" is not a valid release name",
		"plan web ./web --full --summary":    "Error: --full and --summary are opposites: give one of them\n",
		"plan web ./web --spill x":           "Error: --spill needs -o markdown\n",
		"plan web ./web --encrypt":           "Error: --encrypt and --encrypt-to need --out: the file to encrypt\n",
		"plan web ./web --offline":           "Error: --offline needs --against",
		"plan web ./web --kube-version 1.30": "Error: --kube-version needs --offline or --against-version",
		"plan web ./web --verify-key=":       "Error: the flags for signatures: ",
		"rollback web x":                     "Error: \"x\" is not a revision number\n",
		"uninstall web --cascade=sideways":   "Error: --cascade=sideways: must be background, foreground or orphan\n",
		"test web --filter smoke":            "Error: --filter smoke: must be name=NAME or !name=NAME\n",
		"list --plan":                        "Error: --plan needs --outdated\n",
		"apply web ./web --replan":           "Error: --replan is for a saved plan; a chart is planned now anyway\n",
		"plan many ./web -n dev":             "Error: ./web is a chart, which \"plan many\" does not take; for a release named many: kubectl release plan --namespace dev -- many ./web\n",
		"apply many ./web":                   "Error: ./web is a chart, which \"apply many\" does not take; for a release named many: kubectl release apply -- many ./web\n",
		"get manifest web -o json":           "Error: unknown flag -o",
		"get nothing":                        "Error: unknown command \"nothing\": ",
	} {
		a := d.types(line)
		if a.code != exitError || a.out != "" || !strings.HasPrefix(a.err, want) {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
	}
	d.wroteNothing()
}

// An install over a release says how to go on.
func TestInstallOverARelease(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	for _, test := range []struct{ before, want string }{
		{"status web", "Error: release shop/web already exists (revision 1, deployed)\nHint: upgrade it, or choose another name\n"},
		{"uninstall web --keep-history", "Error: the name shop/web is taken by an uninstalled release whose history was kept\nHint: add --replace to use the name again\n"},
	} {
		d.must(test.before)
		if a := d.types("install web ./web"); a.code != exitError || a.err != test.want {
			t.Errorf("after %s: exit code %d\n%s", test.before, a.code, a.err)
		}
	}
}

// A secret is in no output unless --show-secrets is given, or get prints it.
func TestSecretsAreMaskedWhereverTheyArePrinted(t *testing.T) {
	d := atDesk(t)
	const secret = "c4n4ry-of-the-desk"
	set, encoded := " --set password="+secret, base64.StdEncoding.EncodeToString([]byte(secret))
	d.must("plan web ./web --out first.plan" + set)
	for _, line := range []string{
		"plan web ./web" + set, "plan web ./web --full" + set, "plan web ./web -o json" + set, "plan web ./web -o markdown" + set,
		"plan show first.plan -o html", "install web ./web -o json" + set, "upgrade web ./web -o yaml" + set, "apply web ./web --yes --set text=" + secret + set,
		"rollback web 1", "status web", "history web", "uninstall web --deny delete", "uninstall web",
	} {
		if a := d.types(line); strings.Contains(a.out+a.err, secret) || strings.Contains(a.out+a.err, encoded) {
			t.Errorf("%s prints it:\n%s%s", line, a.out, a.err)
		}
	}
	if a := d.must("plan web ./web --full --show-secrets" + set); !strings.Contains(a.out, encoded) {
		t.Errorf("--show-secrets shows none:\n%s", a.out)
	}
	d.must("install web ./web" + set)
	if a := d.must("get values web"); !strings.Contains(a.out, secret) {
		t.Errorf("get values does not print it:\n%s", a.out)
	}
}

// events returns the lines on standard output, decoded.
func (a answer) events(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(a.out) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, e)
	}
	return all
}

// summary returns the summary of the last event.
func (a answer) summary(t *testing.T) map[string]any {
	t.Helper()
	all := a.events(t)
	if len(all) == 0 {
		t.Fatalf("there are no events; %s", a.err)
	}
	summary, ok := all[len(all)-1]["summary"].(map[string]any)
	if !ok {
		t.Fatalf("the last event has %v", slices.Sorted(maps.Keys(all[len(all)-1])))
	}
	return summary
}

// writes counts those of objects and records so far.
func (d *desk) writes() int {
	n := d.Calls
	for _, action := range d.client.Actions() {
		if v := action.GetVerb(); action.GetResource().Resource == "secrets" && v != "get" && v != "list" {
			n++
		}
	}
	return n
}

func (d *desk) wroteNothing() {
	d.t.Helper()
	if n := d.writes(); n > 0 {
		d.t.Errorf("it was written %d times: %v", n, d.Log)
	}
}

// The reports of a dry run say why it can't be planned; a release that need not be there is no failure.
func TestReportsOfDryRuns(t *testing.T) {
	d := atDesk(t)
	const report = " --dry-run --report verdict=verdict"
	for _, line := range []string{"upgrade gone ./web", "uninstall gone", "rollback gone", "test gone"} {
		a := d.types(line + report)
		text, err := os.ReadFile("verdict")
		if a.code != exitError || err != nil || !strings.HasPrefix(string(text), "shop/gone would fail") {
			t.Errorf("%s: exit code %d, %v, %s%s", line, a.code, err, text, a.err)
		}
		_ = os.Remove("verdict")
	}
	d.must("uninstall gone --ignore-not-found" + report)
	if text, err := os.ReadFile("verdict"); err == nil {
		t.Errorf("%s", text)
	}
}

// A flag that only matters in a dry run is accepted without one, and that is said.
func TestHideSecretWithoutADryRun(t *testing.T) {
	d := atDesk(t)
	const warning = "Warning: --hide-secret does nothing without --dry-run: "
	for _, line := range []string{"install web ./web --hide-secret", "upgrade web ./web --hide-secret"} {
		if a := d.must(line); !strings.HasPrefix(a.err, warning) {
			t.Errorf("%s: %s", line, a.err)
		}
	}
	if a := d.must("upgrade web ./web --hide-secret --dry-run"); strings.Contains(a.err, warning) {
		t.Errorf("in a dry run: %s", a.err)
	}
}
