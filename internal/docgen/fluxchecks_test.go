package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// fluxChecks lists the tests that show the checks of FLUX.md §12, of which 1 to 29 and 49 to 55 are about plans,
// the others about the controller: each test is named after its numbers, and a table's row begins with its number.
var fluxChecks = map[string][]string{
	"internal/flux/decode_test.go":                    {"TestCheck1ChartAndChartRef", "TestCheck54APIVersionsAndUnknownFields"},
	"internal/flux/names_test.go":                     {"TestCheck2And3NamesOfTheRelease"},
	"internal/flux/version_test.go":                   {"TestCheck18VersionOfAnOCIArtifact", "TestCheck9VersionOfAChartFromGit"},
	"internal/flux/fuzz_test.go":                      {"FuzzCheck55HelmRelease", "FuzzCheck55Kustomization", "FuzzCheck55Source"},
	"internal/flux/digest/values_test.go":             {"TestCheck4ConfigDigest"},
	"internal/flux/digest/trace_test.go":              {"TestCheck5SnapshotDigestsEqualTheTraces"},
	"internal/flux/composition/compose_test.go":       {"TestCheck11To13Composition", "TestCheck12And13WhatCanNotBeComposed", "TestCheck15UnknownSecrets"},
	"internal/flux/build/trace_test.go":               {"TestCheck19And20ManifestsEqualTheTraces"},
	"internal/flux/build/build_test.go":               {"TestCheck49OverlaysComponentsAndSpec", "TestCheck19And20OriginLabelsWinAndHooksStay"},
	"internal/flux/substitution/substitution_test.go": {"TestCheck50Operators", "TestCheck50ObjectsAndVariables", "FuzzCheck55Substitution"},
	"internal/flux/sourceignore/sourceignore_test.go": {"FuzzCheck55Rules"},
	"internal/flux/decision/checks_test.go": {
		"TestCheck8VersionNotBumped", "TestCheck17EqualConfigDigestIsEnough", "TestCheck21RecordWasEdited", "TestCheck22PendingIsUnlocked",
		"TestCheck23StalledAndResets", "TestCheck24Moves", "TestCheck25RemovedFromTheRepository", "TestCheck26Suspended",
		"TestCheck27WhatIsNotCompared", "TestCheck28PostRenderers", "TestCheck29Dependencies", "TestCheck34NoRollbackTarget",
	},
	"internal/command/fluxchecks_test.go": {
		"TestCheck6And7CRDs", "TestCheck10ValuesFiles", "TestCheck14ConfigMapOfValuesChanges", "TestCheck16WithoutASecretThatIsRequired",
		"TestCheck51CiphertextOfSOPSIsNoValue", "TestCheck52ATagOfManyReleases",
	},
	"internal/command/fluxsource_test.go":  {"TestCheck18VersionOfAnOCIRepository"},
	"internal/command/fluxlive_test.go":    {"TestCheck15MarkersAreNeverWritten", "TestCheck17ValuesAreUnchangedByTheDigest", "TestCheck29DependenciesInTheCluster"},
	"internal/reconcile/checks_test.go":    {"TestCheck30Drift", "TestCheck31DriftUnknown", "TestCheck36RenderError", "TestCheck37ForceAndReset", "TestCheck39ServiceAccount", "TestCheck40Kubeconfig", "TestCheck41CrossNamespace", "TestCheck42InSync", "TestCheck45Secrets", "TestCheck47HandOver"},
	"internal/reconcile/remedies_test.go":  {"TestCheck32Rollback", "TestCheck33Uninstall", "TestCheck34NoTarget", "TestCheck35RetriedInstall", "TestCheck38Tests"},
	"internal/reconcile/connector_test.go": {"TestCheck40KubeconfigsThatAreRefused"},
	"e2e/controller/sources_test.go":       {"TestCheck41CrossNamespace"},
	"e2e/controller/idle_test.go":          {"TestCheck42InSyncCostsNothing"},
	"e2e/controller/kills_test.go":         {"TestCheck43KilledAtEveryWrite"},
	"e2e/controller/leader_test.go":        {"TestCheck44StaleLeader", "TestCheck48RefusesBesideHelmController"},
	"e2e/controller/canary_test.go":        {"TestCheck45Canary"},
	"e2e/controller/lifecycle_test.go":     {"TestCheck36RenderErrorIsTriedAgain"},
	"e2e/controller/remote_test.go":        {"TestCheck40TwoClusters"},
	"e2e/controller/handover_test.go":      {"TestCheck47HandOverWithHelmController"},
	"e2e/controller/waits_test.go":         {"TestCheck46NewGenerationDuringAWait"},
	"e2e/flux/fleet_test.go":               {"TestCheck53PlanOfAFleetIsACommentWithWhatChangesFirst"},
}

var numbered = regexp.MustCompile(`Check(\d+)(And|To)?(\d*)`)

// Each check has a test that is named after it.
func TestEveryCheckOfFluxIsShown(t *testing.T) {
	shown := map[int]bool{}
	for file, names := range fluxChecks {
		for _, name := range names {
			if !holds(t, file, "func "+name+"(") {
				t.Errorf("there is no %s in %s", name, file)
			}
			m := numbered.FindStringSubmatch(name)
			first, _ := strconv.Atoi(m[1])
			last, err := strconv.Atoi(m[3])
			if err != nil {
				last = first
			}
			for n := first; n <= last; n++ {
				shown[n] = true
			}
		}
	}
	for n := 1; n <= 55; n++ {
		if !shown[n] {
			t.Errorf("no test is named after check %d", n)
		}
	}
}

// The whole program also says what a change does: rows of that test begin with their check.
func TestSayingsOfFluxAreRows(t *testing.T) {
	var missing []string
	for _, n := range []int{8, 9, 11, 21, 23, 24, 25, 26, 27, 28, 34, 54} {
		if !holds(t, "internal/command/fluxsayings_test.go", fmt.Sprintf("{\"%d: ", n)) {
			missing = append(missing, strconv.Itoa(n))
		}
	}
	if len(missing) > 0 {
		t.Errorf("no row is of check %s", strings.Join(missing, ", "))
	}
}
