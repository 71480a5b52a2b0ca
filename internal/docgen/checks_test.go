package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked says for each check of the specification of plans in pull requests (PULLREQUESTS.md
// §8) which file shows it, and by which words that is found there: a test, or a part of a script.
var checked = [45][2]string{
	{"internal/command/testdata/offline/many.txtar", "# Checks 1, 2 and 14"},
	{"internal/command/testdata/offline/many.txtar", "# Checks 1, 2 and 14"},
	{"internal/command/testdata/offline/manyhelmfile.txtar", "# Check 3 "},
	{"internal/command/testdata/offline/manyhelmfile.txtar", "# Check 4:"},
	{"internal/command/testdata/offline/manyhelmfile.txtar", "# Check 5:"},
	{"internal/command/testdata/offline/manyhelmfile.txtar", "# Check 6:"},
	{"internal/command/testdata/offline/flux.txtar", "exits 0 kubectl-release plan many --flux clusters/prod --base-dir ../base --offline -o json"},
	{"internal/command/testdata/offline/manygit.txtar", "# Check 8 "},
	{"internal/command/testdata/offline/many.txtar", "# Check 9:"},
	{"internal/command/testdata/offline/manybig.txtar", "# Checks 10 and 11 "},
	{"internal/command/testdata/offline/manybig.txtar", "# Checks 10 and 11 "},
	{"internal/command/testdata/offline/many.txtar", "# Check 12:"},
	{"internal/command/testdata/offline/many.txtar", "Check 13:"},
	{"internal/command/testdata/offline/many.txtar", "# Checks 1, 2 and 14"},
	{"internal/command/testdata/offline/many.txtar", "# Check 15:"},
	{"e2e/testdata/script/many.txtar", "checks 16 and 17 "},
	{"e2e/approval_test.go", "func TestApplyManyStaleWritesNothing("},
	{"e2e/testdata/script/manydeferred.txtar", "# Check 18 "},
	{"internal/forge/forge_test.go", "func TestComment("},
	{"internal/forge/forge_test.go", "func TestCommentNeverPutsTheTokenOnACommandLine("},
	{"internal/command/action_test.go", "func TestActionRunsEveryStep("},
	{"Makefile", "actionlint"},
	{"internal/command/action_test.go", "func TestActionsAreSafe("},
	{"internal/command/action_test.go", "func TestActionsAreSafe("},
	{"internal/findings/findings_test.go", "func TestFormatsFitTheirSchemas("},
	{"internal/findings/findings_test.go", "func TestFormatsFitTheirSchemas("},
	{"internal/findings/findings_test.go", "func TestFormatsFitTheirSchemas("},
	{"internal/findings/findings_test.go", "func TestFingerprintsStay("},
	{"internal/findings/findings_test.go", "func TestAnnotationsSayWhatIsLeftOut("},
	{"internal/findings/findings_test.go", "func TestWorkflowCommandEscapes("},
	{"internal/command/testdata/offline/findings.txtar", "line=3,title=shop/web risk/scale-down"},
	{"internal/redact/outputs_test.go", "func TestNoOutputShowsASecret("},
	{"e2e/approval_test.go", `"--expect-digest", "sha256:"`},
	{"internal/redact/effect_test.go", "func TestEffectDigestIsOfWhatIsDoneAlone("},
	{"internal/command/testdata/offline/approval.txtar", "ssh-keygen -Y verify -f signers -I ci@shop -n kubectl-release-plan"},
	{"internal/command/testdata/offline/approval.txtar", "apply changed --allowed-signers others"},
	{"e2e/approval_test.go", "func TestPlannerPolicyLetsDryRunsThroughAndNothingElse("},
	{"e2e/approval_test.go", "func TestPlanCheckReadsOnly("},
	{"packaging/dist.sh", "goreleaser"}, // which checks its own file
	{"packaging/dist_test.go", "func TestKrewManifestIsNamedLikeItsPluginAndHasNoZeroSums("},
	{"packaging/dist_test.go", "func TestArchivesAreReproducible("},
	{"packaging/dist_test.go", "len(about.Commit) != 40"},
	{"packaging/dist_test.go", "func TestHelmInstallsTheTarball("},
	{"packaging/helm_test.go", "func TestHelmInstallsFromAFolderWithTheHook("},
	{"internal/command/action_test.go", "func TestEveryFlagOfTheActionIsDocumented("},
}

// flows are tests named after the flows of §5.
var flows = []string{"TestFlowA", "TestFlowB", "TestFlowC", "TestFlowD", "TestFlowE"}

// holds says whether a file of the project has a text.
func holds(t *testing.T, file, text string) bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
	if err != nil {
		t.Error(err)
	}
	return strings.Contains(string(data), text)
}

// No check of the specification has lost what shows it.
func TestEveryCheckOfPullRequestsIsShown(t *testing.T) {
	for i, c := range checked {
		if !holds(t, c[0], c[1]) {
			t.Errorf("check %d: %q is not in %s", i+1, c[1], c[0])
		}
	}
	for _, name := range flows {
		if !holds(t, "e2e/flows_test.go", "func "+name) {
			t.Errorf("no test is named %s…", name)
		}
	}
}
