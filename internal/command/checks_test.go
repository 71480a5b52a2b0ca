package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// said runs the program without a cluster and returns what it prints; it must exit with 0.
func said(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	p := newProgram(Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "kubectl release")
	if code := p.main(t.Context(), nil, append([]string{"kubectl-release"}, args...)); code != exitDone {
		t.Fatalf("%v: exit code %d\n%s", args, code, errs.String())
	}
	return out.String()
}

// inShop changes to a folder that holds nothing but the chart shop, in the folder chart.
func inShop(t *testing.T) {
	t.Helper()
	shop, err := filepath.Abs(filepath.Join("..", "..", "testdata", "charts", "shop"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "none")
	if err := os.CopyFS("chart", os.DirFS(shop)); err != nil {
		t.Fatal(err)
	}
}

// What the program prints for an install, and for an upgrade with a deletion and a warning.
// Check 25: SARIF matches its schema. Check 26: rdjson does. Check 27: GitLab's does, and each
// finding has what GitLab requires. Check 28: the same plan has the same fingerprints.
func TestChecks25To28FindingsFitWhoReadsThem(t *testing.T) {
	schemas, err := filepath.Abs(filepath.Join("..", "..", "testdata", "schemas"))
	if err != nil {
		t.Fatal(err)
	}
	inShop(t)
	put(t, "values.yaml", "replicas: 1\nlegacyAccount: false\nreplicsa: 3\n")
	for _, against := range [][]string{{os.DevNull}, {"chart", "--against-values", os.DevNull}} {
		printed := func(format string) string {
			return said(t, append([]string{"plan", "web", "chart", "-f", "values.yaml", "--offline", "-o", format, "--against"}, against...)...)
		}
		for _, format := range []string{"sarif", "rdjson", "gitlab"} {
			schema, err := jsonschema.NewCompiler().Compile(filepath.Join(schemas, format+".json"))
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(printed(format)))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); err != nil {
				t.Errorf("%s against %s: %v", format, against[0], err)
			}
		}
		var quality []map[string]any
		if err := json.Unmarshal([]byte(printed("gitlab")), &quality); err != nil || len(quality) == 0 {
			t.Errorf("%d findings, %v", len(quality), err)
		}
		for _, q := range quality {
			for _, name := range []string{"description", "fingerprint", "severity", "location"} {
				if q[name] == nil {
					t.Errorf("%v has no %s", q, name)
				}
			}
		}
		prints := regexp.MustCompile(`"kubectlReleaseStep/v1": "[0-9a-f]{64}"`)
		first := prints.FindAllString(printed("sarif"), -1)
		if again := prints.FindAllString(printed("sarif"), -1); len(first) == 0 || !slices.Equal(first, again) {
			t.Errorf("fingerprints of the same plan are %v, then %v", first, again)
		}
	}
}

// Check 31: a finding points to the line of the values file that causes it.
func TestCheck31AFindingIsAtTheLineOfItsValue(t *testing.T) {
	inShop(t)
	put(t, ".git/HEAD", "") // the root of the repository
	put(t, "values/base.yaml", "replicas: 2\n")
	put(t, "values/prod.yaml", "# production\n\nreplicas: 1\n")
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	printed := said(t, "plan", "web", "chart", "-f", "values/prod.yaml", "--offline", "--against", "chart", "--against-values", "values/base.yaml", "-o", "sarif")
	if err := json.Unmarshal([]byte(printed), &log); err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, r := range log.Runs[0].Results {
		if place := r.Locations[0].PhysicalLocation; place.ArtifactLocation.URI == "values/prod.yaml" && place.Region.StartLine == 3 {
			at = append(at, r.RuleID)
		}
	}
	if !slices.Equal(at, []string{"risk/scale-down", "values/changed"}) {
		t.Errorf("at line 3 of values/prod.yaml are %v:\n%s", at, printed)
	}
}

// Check 32: no output format of the program shows what a Secret holds, in plain text or in base64,
// for one release or for a set.
func TestCheck32NoOutputOfTheProgramShowsASecret(t *testing.T) {
	inShop(t)
	put(t, "values.yaml", "database: {password: hunter2}\n")
	put(t, "releases.yaml", "version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: web, chart: chart, values: [values.yaml]}\n")
	secret := regexp.MustCompile(`hunter2|aHVudGVyMg`)
	formats := func(all []string, args ...string) {
		for _, format := range all {
			if format == "text" {
				if shown := said(t, append(args, "--show-secrets", "-o", format)...); !secret.MatchString(shown) {
					t.Fatalf("%v: --show-secrets does not show it: this test could not fail", args)
				}
			}
			if shown := said(t, append(args, "-o", format)...); secret.MatchString(shown) {
				t.Errorf("%v -o %s shows it:\n%s", args, format, shown)
			}
		}
	}
	if len(planOutputs) < 12 || len(setOutputs) < 12 {
		t.Fatalf("formats are %v and %v", planOutputs, setOutputs)
	}
	formats(planOutputs, "plan", "web", "chart", "-f", "values.yaml", "--offline", "--against", os.DevNull, "--full")
	formats(setOutputs, "plan", "many", "releases.yaml", "--offline", "--base-dir", os.DevNull, "--full")
}

// Check 45: the GitLab component's inputs and outputs have the same names as the action's, and the
// page names the formats of its reports.
func TestCheck45TheGitLabComponentAgreesWithActionAndPage(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	component, action, page := read("templates/plan.yml"), read("action.yml"), read("docs/pull-requests.md")
	inputs := regexp.MustCompile(`(?m)^    (\w+): \{description`).FindAllStringSubmatch(component, -1)
	own := []string{"job", "stage", "image"} // every GitLab job has them
	for _, m := range inputs {
		if !slices.Contains(own, m[1]) && !strings.Contains(action, "\n  "+m[1]+": {description") {
			t.Errorf("the action has no input %s", m[1])
		}
		if !strings.Contains(page, "`"+m[1]+"`") {
			t.Errorf("the page says nothing of the input %s", m[1])
		}
	}
	reports := regexp.MustCompile(`--report (\w+)=(\S+)`).FindAllStringSubmatch(component, -1)
	for _, m := range reports {
		if m[1] != "markdown" && !strings.Contains(page, "\n| `"+m[1]+"` |") {
			t.Errorf("the page has no row for the format %s", m[1])
		}
		if !strings.Contains(component, ": "+m[2]+"\n") && !strings.Contains(component, "paths: ["+m[2]) {
			t.Errorf("%s is no artifact", m[2])
		}
	}
	if len(inputs) < 7 || len(reports) < 4 {
		t.Errorf("%d inputs, %d reports", len(inputs), len(reports))
	}
}
