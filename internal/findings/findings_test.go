package findings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

func deployment(name string) manifest.ID {
	return manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
}

func step(op plan.Op, id manifest.ID, line int, changes ...plan.Change) plan.Step {
	s := plan.Step{ID: "resources/" + id.Kind + "/" + id.Name, Op: op, Object: id, Changes: changes}
	if line > 0 {
		s.Place = plan.Place{File: "chart/templates/" + id.Name + ".yaml", Line: line}
	}
	return s
}

// everyRule returns a plan from which each kind of finding can be made.
func everyRule() *plan.Document {
	scaled := step(plan.OpPatch, deployment("web"), 2,
		plan.Change{Path: "metadata.labels.a", From: "1", To: "2", Cause: plan.CauseChart},
		plan.Change{Path: "spec.replicas", From: int64(3), To: int64(2), Cause: plan.CauseValues, Detail: "replicas"},
		plan.Change{Path: "spec.paused", From: true, To: false, Cause: plan.CauseDrift, Detail: "kubectl-edit 3h ago"})
	scaled.Risk = plan.RiskScaleDown
	gone := step(plan.OpDelete, manifest.ID{Kind: "Service", Namespace: "shop", Name: "old"}, 0)
	gone.Risk, gone.Why = plan.RiskDelete, "the chart no longer renders it"
	hook := step(plan.OpRun, manifest.ID{Group: "batch", Kind: "Job", Namespace: "shop", Name: "backup"}, 4)
	hook.Hook = &plan.HookRun{Event: "pre-upgrade", Since: plan.HookNew}
	same := step(plan.OpNone, manifest.ID{Kind: "ServiceAccount", Namespace: "shop", Name: "web"}, 1)
	fixed := step(plan.OpPatch, deployment("db"), 7)
	return &plan.Document{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, FromRevision: 1, ToRevision: 2,
		Cluster: plan.Cluster{UID: "u"}, Place: plan.Place{File: "chart/Chart.yaml", Line: 1},
		Values: []plan.Change{
			{Path: "replicas", From: int64(3), To: int64(2), Cause: plan.CauseValues, Place: plan.Place{File: "prod.yaml", Line: 12}},
			{Path: "old.enabled", From: true, To: false, Cause: plan.CauseValues, Place: plan.Place{File: "prod.yaml", Line: 3}},
			{Path: "tag", From: "1", To: "2", Cause: plan.CauseValues}, // from --set
		},
		Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{scaled, gone, hook, same, fixed}}}}},
		Problems: []plan.Problem{
			{Kind: plan.ProblemValues, What: "prod.yaml: line 9: key \"image\" is given twice; the last one counts", Place: plan.Place{File: "prod.yaml", Line: 9}},
			{Kind: plan.ProblemImmutable, Step: fixed.ID, Object: fixed.Object, Blocking: true, What: "spec.selector is immutable", Do: "keep the field as it is"},
			{Kind: plan.ProblemPolicy, Risk: plan.RiskDelete, Step: gone.ID, Object: gone.Object, Blocking: true, What: "it would be deleted, which --deny delete forbids"},
			{Kind: plan.ProblemPermission, Object: deployment("web"), Blocking: true, What: "no permission to patch deployments.apps"},
		},
		Summary: plan.Summary{Blocking: 3, Warnings: 1, Patch: 2, Delete: 1, Hooks: 1, Unchanged: 1, Risks: plan.RiskCounts{ScaleDown: 1, Delete: 1}},
	}
}

// Each finding points to the line that causes it: the value, the template, the value that
// switched an object off, the release for what is not a line of the chart.
func TestFindings(t *testing.T) {
	var got []string
	for _, f := range Of(everyRule()) {
		got = append(got, strings.Join([]string{string(f.Level), f.Rule, f.Place.File + ":" + string(rune('0'+f.Place.Line/10)) + string(rune('0'+f.Place.Line%10)), f.Text()}, " | "))
	}
	want := []string{
		"error | blocked/immutable | chart/templates/db.yaml:07 | Deployment/db: spec.selector is immutable → keep the field as it is",
		"error | blocked/permission | chart/Chart.yaml:01 | Deployment/web: no permission to patch deployments.apps",
		"error | policy/delete | prod.yaml:03 | Service/old: it would be deleted, which --deny delete forbids",
		"warning | risk/delete | prod.yaml:03 | Service/old: delete, because the chart no longer renders it",
		"note | warning/values | prod.yaml:09 | prod.yaml: line 9: key \"image\" is given twice; the last one counts",
		"note | risk/scale-down | prod.yaml:12 | Deployment/web: scale down: spec.replicas 3 → 2",
		"note | drift/overwritten | chart/Chart.yaml:01 | Deployment/web: takes back spec.paused true → false (kubectl-edit 3h ago)",
		"note | hook/changed | chart/templates/backup.yaml:04 | Job/backup: pre-upgrade hook is new",
		"note | values/changed | prod.yaml:12 | replicas 3 → 2: changes 1 field in 1 object",
		"note | values/changed | prod.yaml:03 | old.enabled true → false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A finding points to the line of its own field, not to that of another one that changes as well:
// an immutable field, and the risk that is denied.
func TestFindingsStandAtTheirField(t *testing.T) {
	changed := func(path, value string) plan.Change {
		return plan.Change{Path: path, From: int64(2), To: int64(1), Cause: plan.CauseValues, Detail: value}
	}
	db := step(plan.OpPatch, deployment("db"), 7, changed("spec.paused", "paused"), changed("spec.replicas", "replicas"), changed("spec.selector.matchLabels", "app"))
	db.Risk = plan.RiskScaleDown
	p := &plan.Document{
		Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{db}}}}},
		Problems: []plan.Problem{
			{Kind: plan.ProblemImmutable, Step: db.ID, Object: db.Object, Fields: []string{"spec.selector"}, Blocking: true, What: "a field is immutable"},
			{Kind: plan.ProblemPolicy, Risk: plan.RiskScaleDown, Step: db.ID, Object: db.Object, Blocking: true, What: "it would be scaled down, which is denied"},
			{Kind: plan.ProblemInvalid, Step: db.ID, Object: db.Object, Blocking: true, What: "a webhook does not want it"},
		},
	}
	for i, name := range []string{"paused", "replicas", "app"} {
		p.Values = append(p.Values, plan.Change{Path: name, Cause: plan.CauseValues, Place: plan.Place{File: name, Line: i + 1}})
	}
	got := map[string]string{}
	for _, f := range Of(p) {
		got[f.Rule] = f.Place.File
	}
	want := map[string]string{"blocked/immutable": "app", "policy/scale-down": "replicas", "blocked/invalid": "paused", "risk/scale-down": "replicas"}
	for rule, file := range want {
		if got[rule] != file {
			t.Errorf("%s is at %q, want %q", rule, got[rule], file)
		}
	}
}

// A deletion is not blamed on a value if the chart may have dropped the object itself, or if several
// values were switched off, one of which may be in no file.
func TestADeletionHasNoWrongCause(t *testing.T) {
	for name, change := range map[string]func(p *plan.Document){
		"another version of the chart": func(p *plan.Document) { p.ChartFrom.Version, p.ChartTo.Version = "1.0.0", "1.1.0" },
		"edited files of the chart":    func(p *plan.Document) { p.ChartFrom.Digest, p.ChartTo.Digest = "a", "b" },
		"a flag":                       func(p *plan.Document) { p.Values[2].From, p.Values[2].To = true, nil },
	} {
		p := everyRule()
		change(p)
		for _, f := range Of(p) {
			if f.Rule == "risk/delete" && f.Place != p.Place {
				t.Errorf("%s: the deletion is at %v", name, f.Place)
			}
		}
	}
}

// What only values cause whose lines are not known is at the release, not at the template, which
// has not changed.
func TestValuesWithoutALine(t *testing.T) {
	p := everyRule()
	p.Values[0].Place = plan.Place{}
	at := func() plan.Place {
		for _, f := range Of(p) {
			if f.Rule == "risk/scale-down" {
				return f.Place
			}
		}
		return plan.Place{}
	}
	if got := at(); got != p.Place {
		t.Errorf("it is at %v", got)
	}
	web := &p.Stages[0].Waves[0].Steps[0]
	web.Changes[1].Cause = plan.CauseChart
	if got := at(); got != web.Place {
		t.Errorf("what the chart changes is at %v", got)
	}
}

// GitHub takes no result without a file; what stands for one is not read back.
func TestEveryResultHasAFile(t *testing.T) {
	p := everyRule()
	p.Place = plan.Place{}
	p.Steps(func(_ plan.StageName, s *plan.Step) { s.Place = plan.Place{} })
	var out bytes.Buffer
	if err := SARIF(&out, Subject{Name: "shop/web"}, p); err != nil {
		t.Fatal(err)
	}
	var log Log
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs[0].Results) != len(Of(p)) {
		t.Errorf("%d results of %d", len(log.Runs[0].Results), len(Of(p)))
	}
	read, err := ReadSARIF(out.Bytes())
	if err != nil || len(read.Findings) != len(Of(p)) {
		t.Fatal(err, len(read.Findings))
	}
	for i, f := range Of(p) {
		if read.Findings[i].Place != f.Place {
			t.Errorf("%s: %v is read, the finding is at %v", f.Rule, read.Findings[i].Place, f.Place)
		}
	}
	for _, r := range log.Runs[0].Results {
		if at := r.Locations[0].PhysicalLocation; at == nil || at.ArtifactLocation.URI == "" || at.Region.StartLine < 1 {
			t.Errorf("%s: %+v", r.RuleID, at)
		}
	}
}

// GitHub shows 5,000 results, and takes 10 MB after compression: what does not fit is counted, and a plan
// that is blocked stays so.
func TestSARIFHasTheSizeThatGitHubTakes(t *testing.T) {
	for name, tc := range map[string]struct {
		findings, results int
		text              func(i int) string
	}{
		"text that repeats":   {5000, 5000, func(int) string { return strings.Repeat("no room left on this node. ", 50) }},
		"text that does not":  {5000, 2500, func(i int) string { return noise(i, 4000) }},
		"more than are shown": {5007, 5000, func(int) string { return "no" }},
	} {
		p := &plan.Document{Release: release.Key{Namespace: "shop", Name: "web"}}
		for i := range tc.findings {
			p.Problems = append(p.Problems, plan.Problem{Blocking: true, Kind: plan.ProblemInvalid, What: tc.text(i)})
		}
		var out bytes.Buffer
		if err := SARIF(&out, Subject{Name: "shop/web"}, p); err != nil {
			t.Fatal(err)
		}
		read, err := ReadSARIF(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if size := gzipped(out.Bytes()); size > 10_000_000 || len(read.Findings) != tc.results || read.Omitted != tc.findings-tc.results || !read.Blocked {
			t.Errorf("%s: %d bytes, %d results, %d omitted, blocked %t", name, size, len(read.Findings), read.Omitted, read.Blocked)
		}
	}
}

// noise returns text that can hardly be compressed: 4 bits a character.
func noise(seed, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", seed, i))
		b.WriteString(hex.EncodeToString(sum[:]))
	}
	return b.String()
}

// The same finding in the next plan has the same fingerprint, whatever its line, its words or its
// position among others; no two findings of a plan share one.
func TestFingerprintsStay(t *testing.T) {
	first, next := Of(everyRule()), everyRule()
	next.Values[0].Place.Line = 40
	next.Problems[0].What = strings.Replace(next.Problems[0].What, "line 9", "line 44", 1)
	next.Problems[1].What = "other words"
	next.Stages[0].Waves[0].Steps[0].Changes[1].To = int64(1)
	next.FromRevision, next.ToRevision = 7, 8
	again := Of(next)
	if len(first) != len(again) {
		t.Fatalf("%d and %d findings", len(first), len(again))
	}
	seen := map[string]bool{}
	for i := range first {
		if first[i].Fingerprint != again[i].Fingerprint {
			t.Errorf("%s: %s has another fingerprint", again[i].Rule, again[i].Text())
		}
		if seen[first[i].Fingerprint] {
			t.Errorf("%s shares its fingerprint", first[i].Text())
		}
		seen[first[i].Fingerprint] = true
	}
	other := everyRule()
	other.Cluster.UID = "another"
	if Of(other)[0].Fingerprint == first[0].Fingerprint {
		t.Error("two clusters share a fingerprint")
	}
}

// In a set, each finding says which release it is about, and in which cluster; it keeps the
// fingerprint that it has for the cluster alone.
func TestFindingsOfASetSayTheirRelease(t *testing.T) {
	alone := everyRule()
	alone.Cluster = plan.Cluster{Context: "eu"}
	eu, us := alone.Entry("eu", plan.Place{}), alone.Entry("us", plan.Place{})
	if one, other := Of(alone)[0], Of(eu)[0]; one.Fingerprint != other.Fingerprint || other.Text() != "shop/web@eu: "+one.Text() {
		t.Errorf("%+v\n%+v", one, other)
	}
	for _, format := range []string{"sarif", "rdjson", "gitlab", "junit", "annotations"} {
		var out bytes.Buffer
		if err := Print(&out, format, Subject{Name: "set"}, eu, us); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"shop/web@eu", "shop/web@us"} {
			if !strings.Contains(out.String(), name) {
				t.Errorf("%s does not tell of %s", format, name)
			}
		}
	}
}

// What the consumers require, see testdata/schemas.
func TestFormatsFitTheirSchemas(t *testing.T) {
	for _, format := range []string{"sarif", "rdjson", "gitlab"} {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "testdata", "schemas", format+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for name, plans := range map[string][]*plan.Document{"every rule": {everyRule()}, "two": {everyRule(), everyRule()}, "nothing": {{}}} {
			var out bytes.Buffer
			if err := Print(&out, format, Subject{Name: "shop/web"}, plans...); err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(&out)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); err != nil {
				t.Errorf("%s of %s: %v", format, name, err)
			}
		}
	}
}

// However long a text is that changes, a line of a case stays short.
func TestJUnitHasNoLongLines(t *testing.T) {
	p := everyRule()
	text := strings.Repeat("a line of text\n", 400)
	changes := &p.Stages[0].Waves[0].Steps[0].Changes
	*changes = append(*changes, plan.Change{Path: "data.text", From: text, To: text + "one more"}, plan.Change{Path: "data.new", To: text})
	var b bytes.Buffer
	if err := JUnit(&b, p); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(b.String(), "&#xA;") {
		line, _, _ = strings.Cut(line, "</system-out>")
		if line = line[strings.LastIndex(line, ">")+1:]; len(line) > 200 {
			t.Errorf("%d bytes: %.300s…", len(line), line)
		}
	}
	if !strings.Contains(b.String(), "data.text text, +1 −0 lines") || !strings.Contains(b.String(), "data.new ") {
		t.Error("the changes are not there")
	}
}

// A suite's counts match its cases.
func TestJUnitCounts(t *testing.T) {
	var out bytes.Buffer
	if err := Print(&out, "junit", Subject{}, everyRule()); err != nil {
		t.Fatal(err)
	}
	var read suites
	if err := xml.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	s := read.Suites[0]
	if s.Tests != 5 || len(s.Cases) != 5 || s.Failures != 3 || s.Skipped != 1 {
		t.Errorf("%d tests in %d cases, %d failures, %d skipped", s.Tests, len(s.Cases), s.Failures, s.Skipped)
	}
	for _, c := range s.Cases {
		if c.Name == "resources/Deployment/web" && !strings.Contains(c.Out, "spec.replicas 3 → 2") {
			t.Errorf("the case does not tell of its fields: %q", c.Out)
		}
	}
}

// Check 30: no text of a chart can end or begin a workflow command.
func TestWorkflowCommandEscapes(t *testing.T) {
	p := everyRule()
	p.Release.Name = "a,b:c%\r\nd"
	p.Problems = []plan.Problem{{
		Blocking: true, Kind: plan.ProblemInvalid, What: "100%\r\n::error::forged\n::add-mask::x",
		Place: plan.Place{File: "a,b:c%.yaml", Line: 3},
	}}
	p.Values, p.Stages = nil, nil
	var out bytes.Buffer
	if err := Print(&out, "annotations", Subject{}, p); err != nil {
		t.Fatal(err)
	}
	want := `::error file=a%2Cb%3Ac%25.yaml,line=3,title=shop/a%2Cb%3Ac%25\r\nd blocked/invalid::100%25 ::error::forged ::add-mask::x` + "\n"
	if out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
	if got := data("a%\r\nb") + property(":,"); got != "a%25%0D%0Ab%3A%2C" {
		t.Error(got)
	}
	p.Problems[0].Place.File = "a;b]c%.yaml"
	out.Reset()
	if err := AzureAnnotations(&out, p); err != nil {
		t.Fatal(err)
	}
	want = `##vso[task.logissue type=error;sourcepath=a%3Bb%5Dc%AZP25.yaml;linenumber=3]shop/a,b:c%AZP25\r\nd blocked/invalid: 100%AZP25 ::error::forged ::add-mask::x` + "\n"
	if out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
	if got := azureData.Replace("a%\r\nb") + azureProperty.Replace("\r\n;]"); got != "a%AZP25%0D%0Ab%0D%0A%3B%5D" {
		t.Error(got)
	}
}

// Azure Pipelines has errors and warnings, also ten of each.
func TestAzureAnnotations(t *testing.T) {
	p := everyRule()
	for range 25 {
		p.Problems = append(p.Problems, plan.Problem{Blocking: true, Kind: plan.ProblemInvalid, What: "no"})
	}
	var out bytes.Buffer
	if err := AzureAnnotations(&out, p); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Count(text, "##vso[task.logissue type=error") != 10 || strings.Count(text, "\n") != 11 ||
		!strings.Contains(text, "##vso[task.logissue type=error]kubectl release: 19 more like this; the job summary lists them\n") ||
		!strings.Contains(text, "##vso[task.logissue type=warning;sourcepath=prod.yaml;linenumber=3]shop/web risk/delete: Service/old: delete, because") {
		t.Error(text)
	}
}

// GitHub shows ten of each level; the last one says how many more there are.
func TestAnnotationsSayWhatIsLeftOut(t *testing.T) {
	p := &plan.Document{Release: release.Key{Namespace: "shop", Name: "web"}}
	for range 25 {
		p.Problems = append(p.Problems, plan.Problem{Blocking: true, Kind: plan.ProblemInvalid, What: "no"}, plan.Problem{Kind: plan.ProblemChart, What: "odd"})
	}
	var out bytes.Buffer
	if err := Print(&out, "annotations", Subject{}, p); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "::error "); n != 10 || strings.Count(out.String(), "16 more like this") != 2 {
		t.Errorf("%d errors:\n%s", n, out.String())
	}
}

// A verdict is one short line, and says "fail" if and only if something is blocked.
func TestVerdict(t *testing.T) {
	blocked, fine := everyRule(), everyRule()
	fine.Problems, fine.Summary.Blocking = nil, 0
	failover, quiet := *fine, *fine
	failover.Release.Name = "failover"
	quiet.Release.Name, quiet.Summary = "failover", plan.Summary{Unchanged: 3}
	for _, tc := range []struct {
		name  string
		plans []*plan.Document
		fails bool
		want  string
	}{
		{"blocked", []*plan.Document{blocked}, true, "shop/web would fail: blocked by 3 problems. Plan:"},
		{"fine", []*plan.Document{fine}, false, "shop/web: Plan: 1 to delete"},
		{"an unlucky name", []*plan.Document{&failover}, false, "Plan: 1 to delete"},
		{"an unlucky name in the sentence", []*plan.Document{&quiet}, false, "changes"},
		{"one of several", []*plan.Document{fine, blocked}, true, "1 release would fail: blocked by 3 problems. 2 releases, 2 with changes. Risks: 2 deletions"},
	} {
		got := Verdict(tc.plans...)
		if fails := strings.Contains(strings.ToLower(got), "fail"); fails != tc.fails || !strings.Contains(got, tc.want) || len([]rune(got)) > 140 || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", tc.name, got)
		}
	}
}

// A plan's results are lines that a job can take as its outputs, whatever the release is called.
func TestDotenv(t *testing.T) {
	var out bytes.Buffer
	p := everyRule()
	if err := Print(&out, "dotenv", Subject{Name: "shop/web", Digest: "sha256:01", Effect: "sha256:02"}, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"blocked=true\n", "digest=sha256:01\neffect_digest=sha256:02\n", "verdict=" + Verdict(p) + "\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	for line := range strings.Lines(out.String()) {
		if !regexp.MustCompile(`^[a-z_]+=.*\n$`).MatchString(line) {
			t.Errorf("%q is no KEY=VALUE", line)
		}
	}
}

// check reads what SARIF has printed.
func TestReadSARIF(t *testing.T) {
	p := everyRule()
	p.Place.File = "a chart/100%.yaml"
	var out bytes.Buffer
	if err := SARIF(&out, Subject{Name: "shop/web", Digest: "sha256:0123"}, p); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSARIF(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got.Set != "shop/web" || got.Digest != "sha256:0123" || !got.Blocked || got.Verdict != Verdict(p) {
		t.Errorf("%+v", got)
	}
	want := Of(p)
	for i := range want {
		want[i].Message, want[i].Title, want[i].Do, want[i].Release, want[i].Step = want[i].Text(), "", "", "", ""
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Error(diff)
	}
	for _, other := range []string{"", "[]", `{"runs":[]}`, `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"other"}}}]}`} {
		if _, err := ReadSARIF([]byte(other)); err == nil {
			t.Errorf("%q is read", other)
		}
	}
}

// Every rule is described in words; one that this version does not know, by its identifier.
func TestEveryRuleHasAText(t *testing.T) {
	for _, rule := range []string{"risk/new", "blocked/new", "new"} {
		if got := ruleText(rule); got != rule {
			t.Errorf("%s is described as %q", rule, got)
		}
	}
	known := []string{"policy/expression", "policy/new", "warning/plan", "drift/overwritten", "hook/changed", "values/changed"}
	for _, r := range plan.Risks() {
		known = append(known, "risk/"+string(r), "policy/"+string(r))
	}
	for _, k := range []plan.ProblemKind{plan.ProblemImmutable, plan.ProblemPermission, plan.ProblemQuota, plan.ProblemInvalid, plan.ProblemConflict, plan.ProblemLocked} {
		known = append(known, "blocked/"+string(k))
	}
	for _, rule := range known {
		if got := ruleText(rule); got == rule || got == "" {
			t.Errorf("%s is described as %q", rule, got)
		}
	}
}
