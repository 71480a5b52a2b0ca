package command

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A format or a report that does not exist is refused before anything is connected.
func TestARunRefusesOutputsThatItDoesNotHave(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.must("plan web ./web --set text=two --out web.plan")
	before := d.writes()
	d.contexts = nil
	for line, want := range map[string]string{
		"install other ./web -o jsn":                    "-o jsn: must be text, json or yaml",
		"upgrade web ./web -o markdown":                 "-o markdown: must be text, json or yaml",
		"upgrade web ./web -o md":                       "-o md: must be text, json or yaml",
		"apply web.plan -o md":                          "-o md: must be text, json or yaml",
		"upgrade web ./web --dry-run -o jsn":            "-o jsn: must be text, json, yaml, markdown",
		"rollback web 1 -o jsn":                         "-o jsn: must be",
		"uninstall web -o jsn":                          "-o jsn: must be",
		"test web -o jsn":                               "-o jsn: must be",
		"apply web ./web -o jsn --yes":                  "-o jsn: must be text, json, yaml, markdown",
		"apply web.plan -o html":                        "-o html: must be text, json or yaml",
		"upgrade web ./web --report jsn=x":              "--report jsn=x: the format must be",
		"upgrade web ./web -o json --report jsn=x":      "--report jsn=x: the format must be",
		"upgrade web ./web -o json --report sarif=-":    "--report FORMAT=-: with -o json, events are on standard output",
		"upgrade web ./web --report markdown=no/x.md2":  "--report markdown: ",
		"uninstall web other --report markdown=x.md":    "--report markdown=x.md: it holds one plan, and here are 2 releases",
		"uninstall web other --dry-run -o md --spill x": "--spill x: it belongs to one plan, and here are 2 releases",
		"uninstall web other --expect-effect sha256:0000000000000000000000000000000000000000000000000000000000000000":                "--expect-effect sha256:0000000000000000000000000000000000000000000000000000000000000000: it is that of one release, and here are 2: give one NAME at a time",
		"install new ./web --dry-run=client --report markdown=x.md":                                                                  "--report and --expect-effect are about a plan, and --dry-run=client prints the manifest",
		"install new ./web --dry-run=client --expect-effect sha256:0000000000000000000000000000000000000000000000000000000000000000": "--report and --expect-effect are about a plan, and --dry-run=client prints the manifest",
		"install new ./web --dry-run=client --labels bad":                                                                            "--labels bad: labels are written KEY=VALUE",
		"install new ./web --dry-run=client --wait=bogus":                                                                            "--wait=bogus: must be",
		"install new ./web --dry-run=client --server-side=bogus":                                                                     "--server-side=bogus: must be",
		"install new ./web --dry-run=client --deny nonsense":                                                                         "--deny",
		"plan graph web.plan --set a=b":                                                                                              "--set is for a chart; a saved plan has its own",
		"plan graph web.plan --against x":                                                                                            "--against is for a chart; a saved plan has its own",
		"plan graph web.plan --deny delete":                                                                                          "--deny is for a chart; a saved plan has its own",
	} {
		if a := d.types(line); a.code != exitError || !strings.Contains(a.err, "Error: "+want) {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
		if !strings.Contains(line, "no/x") && len(d.contexts) > 0 {
			t.Errorf("%s: connected", line)
		}
		d.contexts = nil
	}
	if after := d.writes(); after != before {
		t.Errorf("it was written %d times", after-before)
	}
}

// What is printed of several releases is no matter of one file.
func TestSeveralReleasesAreShown(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.file("other/Chart.yaml", "{apiVersion: v2, name: other, version: 1.0.0}")
	d.must("install other ./other")
	a := d.must("uninstall web other --dry-run -o md --report sarif=-")
	if strings.Count(a.out, "### Release shop/") != 2 || strings.Count(a.out, "sarif-") == 0 {
		t.Errorf("it says\n%s", a.out)
	}
}

// A format that a set does not have is refused before it is planned and saved.
func TestASetRefusesReportsThatItDoesNotHave(t *testing.T) {
	d := atDesk(t)
	d.file("set.yaml", "version: 1\nreleases:\n- {name: web, namespace: shop, chart: ./web}\n")
	d.must("plan many set.yaml --out plans --report markdown=set.md")
	d.contexts = nil
	for _, line := range []string{"plan many set.yaml --out new --report dot=x", "plan many set.yaml --report mermaid=x", "plan show plans --report dot=x"} {
		a := d.types(line)
		_, report, _ := strings.Cut(line, "--report ")
		if a.code != exitError || a.out != "" || !strings.Contains(a.err, "Error: --report "+report+": the format must be text, json") || strings.Contains(a.err, "dot or") {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
	}
	if _, err := os.Stat("new"); err == nil || len(d.contexts) > 0 {
		t.Errorf("it was planned, in the contexts %q", d.contexts)
	}
}

// The files of --report are written by runs, too, when the plan is known, or to say why there is none.
func TestARunWritesReports(t *testing.T) {
	d := atDesk(t)
	for _, step := range []struct {
		line, want string
		code       int
	}{
		{"install web ./web", "1 to create", exitDone},
		{"upgrade web ./web --set text=two", "1 to change", exitDone},
		{"upgrade web ./web --set text=three -o json", "1 to change", exitDone},
		{"upgrade web ./web --set text=four --set password=s3cr3t", "Secret", exitDone},
		{"rollback web 1 --deny delete", "Secret", exitError},
		{"upgrade nothing ./web", "nothing", exitError},
		{"upgrade web ./none", "none", exitError},
		{"apply web ./none --yes", "none", exitError},
		{"test web", "shop/web", exitDone},
		{"uninstall web", "2 to delete", exitDone},
	} {
		_ = os.Remove("plan.md")
		a := d.types(step.line + " --report markdown=plan.md")
		text, err := os.ReadFile("plan.md")
		if a.code != step.code || err != nil || !strings.Contains(string(text), step.want) || strings.Contains(string(text), "s3cr3t") {
			t.Errorf("%s: exit code %d, %v\n%s%s%s", step.line, a.code, err, a.out, a.err, text)
		}
	}
	d.must("install web ./web")
	d.must("plan web ./web --set text=two --out web.plan")
	d.must("apply web.plan --report json=applied.json")
	if text, err := os.ReadFile("applied.json"); err != nil || !strings.Contains(string(text), `"operation": "upgrade"`) {
		t.Errorf("%v\n%s", err, text)
	}
	if a := d.must("uninstall gone --ignore-not-found --report markdown=gone.md"); a.err != "" {
		t.Errorf("it warns %q", a.err)
	}
	if _, err := os.Stat("gone.md"); err == nil {
		t.Error("there is a report of a release that need not exist")
	}
}

// The reports of a run have the digest of the plan's effect, as those of its dry run have.
func TestTheReportOfARunHasItsEffect(t *testing.T) {
	d := atDesk(t)
	for _, step := range []struct{ line, want string }{
		{"install web ./web --report dotenv=out", "effect_digest=sha256:"},
		{"apply web ./web --set text=two --yes --report json=out", `"effectDigest": "sha256:`},
	} {
		d.must(step.line)
		if text, err := os.ReadFile("out"); err != nil || !strings.Contains(string(text), step.want) {
			t.Errorf("%s: %v\n%s", step.line, err, text)
		}
	}
}

// A dry run has the exit code of the run: also if its effect is not the approved one.
func TestADryRunHasTheApprovedEffect(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.must("upgrade web ./web --set text=two --dry-run --report json=plan.json")
	text, err := os.ReadFile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	var shown struct {
		EffectDigest string `json:"effectDigest"`
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	d.must("upgrade web ./web --set text=two --dry-run --expect-effect " + shown.EffectDigest)
	a := d.types("upgrade web ./web --set text=three --dry-run --expect-effect " + shown.EffectDigest)
	if a.code != exitStale || !strings.Contains(a.out, "one → three") || !strings.Contains(a.err, "would not do what was approved") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// What is on standard output is in the format of -o as a whole.
func TestAllOfTheOutputIsInItsFormat(t *testing.T) {
	d := atDesk(t)
	d.file("other/Chart.yaml", "{apiVersion: v2, name: other, version: 1.0.0}")
	for _, step := range []struct {
		line, told string
		documents  int
	}{
		{"apply web ./web --yes -o yaml", "", 2},
		{"apply web ./web --yes -o sarif --set text=two", "Release web is upgraded to revision 2.\n\nNOTES:\nIt says two.\n", 1},
		{"install other ./other -o yaml", "", 1},
		{"uninstall web other --dry-run -o yaml", "", 2},
		{"uninstall web other --keep-history -o yaml", "", 2},
	} {
		a := d.must(step.line)
		documents := strings.Split(a.out, "\n---\n")
		for _, one := range documents {
			var parsed map[string]any
			if err := yaml.UnmarshalStrict([]byte(one), &parsed); err != nil || len(parsed) == 0 {
				t.Errorf("%s: %v\n%s", step.line, err, one)
			}
		}
		if len(documents) != step.documents || !strings.Contains(a.err, step.told) || strings.Contains(a.out, "\nRelease ") {
			t.Errorf("%s: %d documents\n%s", step.line, len(documents), a.err)
		}
	}
}

// A value of HELM_COLOR that Helm does not know is as none, and it may be in capitals; NO_COLOR comes before it.
func TestHelmsColor(t *testing.T) {
	d := atDesk(t)
	for _, c := range []struct {
		value, none string
		colored     bool
	}{{"yes", "", false}, {"ALWAYS", "", true}, {"always", "1", false}, {"never", "", false}} {
		t.Setenv("HELM_COLOR", c.value)
		t.Setenv("NO_COLOR", c.none)
		if a := d.must("plan web ./web"); strings.Contains(a.out, "\x1b[") != c.colored {
			t.Errorf("HELM_COLOR=%s NO_COLOR=%s:\n%q", c.value, c.none, a.out)
		}
	}
}

// What was pushed is printed even if a later chart can't be.
func TestAPushThatFailsSaysWhatWasPushed(t *testing.T) {
	d := atDesk(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // a registry that takes everything
		switch r.Method {
		case http.MethodHead, http.MethodGet:
			w.WriteHeader(http.StatusNotFound)
		case http.MethodPost:
			w.Header().Set("Location", r.URL.Path+"1")
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusCreated)
		}
	}))
	defer server.Close()
	d.file("alpha-1.0.0.tgz", string(sourcetest.Chart(t, "alpha", "1.0.0", "text")))
	a := d.types("push alpha-1.0.0.tgz none.tgz oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts --plain-http -o json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(a.out), &rows); a.code != exitError || err != nil || len(rows) != 1 || !strings.Contains(a.err, "none.tgz") {
		t.Errorf("exit code %d, %v\n%s%s", a.code, err, a.out, a.err)
	}
}

// A release that is uninstalled can't be upgraded, and -q is for names in every format.
func TestOutdatedReleases(t *testing.T) {
	d, server := atDesk(t), sourcetest.Serve(t, sourcetest.Options{})
	server.Publish(t, map[string][]string{"alpha": {"1.0.0", "1.1.0"}})
	d.must("repo add stable " + server.URL)
	d.must("install web stable/alpha --version 1.0.0")
	d.must("install gone stable/alpha --version 1.0.0")
	d.must("uninstall gone --keep-history")
	if a := d.must("list --outdated --plan"); strings.Contains(a.out, "gone") || strings.Contains(a.out, "error:") || !strings.Contains(a.out, "web") {
		t.Errorf("it lists\n%s", a.out)
	}
	if a := d.must("list --outdated -q -o json"); strings.TrimSpace(a.out) != `["web"]` {
		t.Errorf("it prints %s", a.out)
	}
}
