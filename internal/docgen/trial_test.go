package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown is where something is shown: a file, and words in it.
type shown struct{ file, words string }

const (
	differences = "docs/helm-differences.md"
	habits      = "e2e/testdata/script/habits.txtar"
	mistakes    = "e2e/testdata/script/flags.txtar"
	statusShown = "e2e/testdata/script/status.txtar"
)

// tried lists for each line of the trial by new users (TRIAL.md) what shows that it has been dealt with:
// a test, a part of a script, or the line of docs/helm-differences.md that says why not. (a) are
// its bugs, the smaller ones by their first words; (b) and (c) the rows of its tables, by
// their first cells; (e) what is excellent, and has to stay.
var tried = map[string][]shown{
	"A1":  {{"plan/testdata/crds-differ.txtar", "A1:"}, {"plan/testdata/crds-updated.txtar", "A1:"}, {"e2e/firstlines_test.go", "! 9 CRDs in crds/ differ from the base's"}, {"e2e/testdata/script/updatecrds.txtar", "CRD in crds/ differs"}},
	"A2":  {{"internal/redact/notes_test.go", "// A2:"}, {"internal/redact/notes_test.go", "func TestSecretsInNotesAreMaskedWhereTheyAreWords("}},
	"A3":  {{"plan/testdata/hooks-compared.txtar", "A3:"}, {"e2e/firstlines_test.go", "2 hooks change, 10 hooks as before"}},
	"A4":  {{"plan/testdata/claims-stay.txtar", "A4:"}, {"plan/testdata/claims-scaled-down.txtar", "A4:"}},
	"A5":  {{"plan/testdata/stateful.txtar", "A5:"}, {"plan/testdata/stateful-severity.txtar", "A5:"}, {"plan/testdata/stateful-restart.txtar", "A5:"}, {"plan/testdata/scale-down-stateful.txtar", "A5:"}},
	"A6":  {{"internal/command/hints_test.go", "func TestHintsCanBePasted("}},
	"A7":  {{"e2e/testdata/script/interrupt.txtar", "# A7:"}},
	"A8":  {{"e2e/testdata/script/interrupt.txtar", "# A8:"}},
	"A9":  {{"plan/testdata/namespace-terminating.txtar", "A9:"}, {"plan/remedy_test.go", "// A9:"}},
	"A10": {{"e2e/testdata/script/impact.txtar", "# A10:"}, {"internal/command/runs_test.go", "Release shop/web has no tests."}},
	"A11": {{"e2e/completion_test.go", "func TestTabCompletesInRealShells("}, {"internal/command/completion_test.go", "func TestEveryCommandIsCompletedWithoutAWordOfItsOwn("}},
	"A12": {{"apply/reasons_test.go", "func TestTroubleIsToldWithinFiveSeconds("}, {"apply/reasons_test.go", "func TestAnInterruptedWaitSaysWhy("}},
	"A13": {{"internal/fielddiff/testdata/diff/aligned.txtar", "A13:"}},
	"A14": {{"internal/report/inside_test.go", "// A14:"}},
	"A15": {{"plan/testdata/estimate-defaults.txtar", "A15:"}},
	"A16": {{"internal/command/testdata/offline/lookup.txtar", "# A16:"}},

	"smaller: unlock </dev/null":          {{"internal/command/hints_test.go", "func TestUnlockAsks("}},
	"smaller: values replicas 2 → 2":      {{"internal/engine/valueschanges_test.go", "func TestValuesThatAreTheDefaultHaveNotChanged("}},
	"smaller: --full/--only":              {{"internal/report/testdata/only.txtar", "the counts stay those of the whole plan"}},
	"smaller: --timeout 60":               {{mistakes, "the unit is missing, as in 60s"}},
	"smaller: silly suggestions":          {{mistakes, "# What is suggested is near:"}, {"internal/spelling/spelling_test.go", "func TestNearest("}},
	"smaller: --debug":                    {{mistakes, "! stderr 'Feature gate'"}},
	"smaller: stat bitnami/nginx":         {{"e2e/sources/repositories_test.go", "what the operating system says is no advice"}},
	"smaller: x509 errors and list -A":    {{mistakes, "name a namespace that you may read"}, {mistakes, "name the server as its certificate does"}, {"e2e/sources/repositories_test.go", "func TestTheServerOfAChartIsNotTrusted("}},
	"smaller: wrapped piped output":       {{"internal/terminal/output_test.go", "func TestWidthBehindAPager("}},
	"b: chart by repo/name":               {{"e2e/sources/repositories_test.go", "func TestCheck12RepoFlag("}, {"internal/command/helmflags_test.go", "func TestEveryFlagOfHelmIsTaken("}},
	"b: pull push repo search":            {{"e2e/sources/search_test.go", "func TestCheck53SearchIsHelms("}, {"e2e/sources/create_test.go", "func TestCheck51Create("}, {differences, "The command that is Helm's alone is `plugin`"}},
	"b: --dependency-update":              {{"e2e/sources/dependency_test.go", `"template", "web", "um", "--dependency-update"`}},
	"b: --disable-openapi-validation":     {{habits, "# A flag that does something in Helm and nothing here is told of"}, {differences, "| `--disable-openapi-validation` |"}, {differences, "| `--burst-limit` |"}, {differences, "| `--hide-secret` |"}},
	"b: --colour":                         {{habits, "history web --colour never"}, {differences, "| `--color`, `--colour` |"}},
	"b: template: --wait":                 {{habits, "# One list of flags for install and template:"}},
	"b: list: -f":                         {{habits, "list -f '^w' --time-format 2006-01 -o json"}},
	"b: list default":                     {{habits, "what is uninstalled is listed"}},
	"b: list text":                        {{differences, "| `list`, `history` as text |"}},
	"b: history: rollback_revision":       {{habits, "history web --show-rollback-revision"}},
	"b: history text UPDATED":             {{differences, "times are `2026-11-21 21:55:27 +0000 UTC`"}},
	"b: status text":                      {{statusShown, "stdout '^RESOURCES: 4 of 5 are ready$'"}, {statusShown, "Job/web-smoke: Succeeded"}},
	"b: status -o json":                   {{statusShown, "json ours.json info.resources"}, {statusShown, `! grep '"chart":' ours.json`}},
	"b: get metadata":                     {{habits, "APPLY_METHOD: server-side apply"}, {differences, "| `get metadata` |"}},
	"b: get all --template":               {{habits, "get all web --template"}, {habits, "version --template"}},
	"b: get all text":                     {{differences, "| `get all` as text |"}},
	"b: install -o json":                  {{habits, "^Note, once: -o json prints one event per line"}, {differences, "- **`-o json`** of install"}},
	"b: --dry-run":                        {{habits, "# --dry-run=client asks no cluster"}, {differences, "| `install --dry-run=client` |"}},
	"b: template text":                    {{"e2e/testdata/script/templatebytes.txtar", "# template prints what Helm 4.3.1 prints, to the byte"}},
	"b: lint text":                        {{"e2e/testdata/script/lint.txtar", `chart\(s\) linted, 0 chart\(s\) failed`}, {differences, "| `lint` as text |"}},
	"b: release: not found":               {{habits, `# "not found", as it is looked for.`}},
	"b: install/upgrade text":             {{differences, "| install and upgrade as text |"}},
	"c: the plan is stale":                {{"plan/difference_test.go", "was changed since the plan was made (kubectl 40s ago): spec.replicas 1 → 3"}},
	"c: the release was at revision 1":    {{"plan/saved_test.go", "was interrupted: what it did is kept"}},
	"c: Go on? Only yes":                  {{"internal/command/hints_test.go", "func TestTheQuestionNamesReleaseAndCluster("}},
	"c: header cluster":                   {{"internal/command/hints_test.go", `"    context dev (prod.example:6443), Kubernetes 1.36.3\n"`}},
	"c: pending-upgrade, by another tool": {{"plan/testdata/pending-helms.txtar", "Helm leaves this when"}},
	"c: unlock":                           {{statusShown, "stdout '^Go on:   kubectl release upgrade web CHART$'"}},
	"c: status":                           {{statusShown, "the run that wrote this revision was interrupted"}, {statusShown, "^Go back: kubectl release rollback web 3$"}},
	"c: LOCKED BY":                        {{"releasestore/identity_test.go", "process 7, for 23s (renewed 2s ago)"}, {"e2e/testdata/script/lifecycle.txtar", "stdout '^LOCKED BY: somebody else'"}},
	"c: set to X":                         {{"plan/testdata/stateful-severity.txtar", "added: a "}},
	"c: change of what holds data":        {{"e2e/firstlines_test.go", "StatefulSet/r-postgresql: has volumes and changes:"}},
	"c: adopt":                            {{"plan/testdata/take-ownership.txtar", "adopt (belongs to no release)"}},
	"c: 11 objects also get":              {{"internal/report/testdata/upgrade.txtar", "16 objects: label helm.sh/chart web-1.4.2 → 1.5.0\n3  wait"}},
	"c: 65 in labels only":                {{"plan/testdata/stateful.txtar", "1 with only label changes"}},
	"c: paths cut at 60 columns":          {{"internal/report/inside_test.go", "func TestPathsAreWhole("}},
	"c: pod-template labels":              {{"internal/report/inside_test.go", "func TestLabelsAndChecksumsOfPodsAreOneLine("}},
	"c: • resources":                      {{"internal/progress/region_test.go", "1/115"}, {"internal/progress/progress_test.go", "3 done in 1s"}},
	"c: the same FailedScheduling":        {{"apply/reasons_test.go", "3 pods: FailedScheduling: 0/3 nodes"}, {"internal/progress/progress_test.go", "func TestProgressTellsACauseOnce("}},
	"c: against the chart, twice":         {{"plan/testdata/against-immutable.txtar", "compared with web 1.4.2 (base)"}},
	"c: Warning and !":                    {{"internal/terminal/output_test.go", "func TestWarningsAreReadOnce("}, {"internal/command/warn_test.go", "func TestAPlanAndItsWarningsInOneLog("}, {differences, "| `plan`'s warnings |"}},
	"c: JSON summary.patch":               {{"plan/summary_test.go", "labelsOnly"}},
	"c: 18 lines of connection flags":     {{"e2e/testdata/script/help.txtar", "lists the flags for the connection"}},
	"c: -h, --help":                       {{"e2e/testdata/script/help.txtar", "stdout '^  -h, --help +show this help$'"}},

	"e: the plan itself":           {{"internal/report/testdata/upgrade.txtar", "values auth.password"}, {"e2e/firstlines_test.go", "func TestTheFirstLinesTellWhatMatters("}},
	"e: blocking problems":         {{"e2e/testdata/script/badinput.txtar", "not even the first object is written (S26)"}, {"e2e/testdata/script/rights.txtar", "kubectl create role NAME"}},
	"e: failure at the end":        {{"e2e/recording_test.go", "func TestRecordingOfAnAtomicFailure("}},
	"e: --atomic and Ctrl-C":       {{"e2e/testdata/script/interrupt.txtar", "all changes of the plan were made: 2; revision 2 is recorded as failed"}, {"internal/engine/operations_test.go", "func TestAtomicFailureGoesBack("}},
	"e: kill -9":                   {{"apply/run_test.go", "func TestAKilledRunConverges("}, {"e2e/kill_test.go", "func TestKilledWhileItWaits("}},
	"e: taking over":               {{"plan/testdata/pending-taken-over.txtar", "With --take-over it is gone on from"}, {"e2e/testdata/script/handover.txtar", "helm4"}},
	"e: exit codes":                {{"e2e/testdata/script/exitcodes.txtar", "with --detailed-exitcode 2 means changes"}, {"e2e/readmepage_test.go", "func TestReadme("}},
	"e: speed":                     {{"e2e/latency_test.go", "func Test"}, {"e2e/conformance/cmd/bench/main.go", "goal"}},
	"e: byte for byte, and plugin": {{"e2e/testdata/script/show.txtar", "byte for byte"}, {"e2e/testdata/script/plugins.txtar", "helm4 release"}},
	"e: secrets":                   {{"internal/redact/outputs_test.go", "func TestNoOutputShowsASecret("}, {"e2e/testdata/script/savedplan.txtar", "0600"}},
	"e: HTML and Markdown":         {{"internal/report/browser_test.go", "func TestPageInBrowser("}, {"internal/report/report_test.go", "func TestMarkdownKeepsItsBudget("}},
}

// Every line of the trial still has what shows that it has been dealt with.
func TestEveryLineOfTheTrialIsShown(t *testing.T) {
	if want := 16 + 9 + 22 + 22 + 11; len(tried) != want {
		t.Errorf("the trial has %d lines, and %d are here", want, len(tried))
	}
	for line, where := range tried {
		for _, s := range where {
			data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(s.file)))
			if err != nil {
				t.Errorf("%s: %v", line, err)
			} else if !strings.Contains(string(data), s.words) {
				t.Errorf("%s: %q is not in %s", line, s.words, s.file)
			}
		}
	}
}
