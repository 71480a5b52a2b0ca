package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reconciled says for each check of the specification of HelmReleases (FLUX.md §12, 30 to 48)
// which files show it, by tests that are named after its number.
var reconciled = map[int][]string{
	30: {"internal/reconcile/checks_test.go: TestCheck30Drift"},
	31: {"internal/reconcile/checks_test.go: TestCheck31DriftUnknown"},
	32: {"internal/reconcile/remedies_test.go: TestCheck32Rollback"},
	33: {"internal/reconcile/remedies_test.go: TestCheck33Uninstall"},
	34: {"internal/reconcile/remedies_test.go: TestCheck34NoTarget", "internal/flux/decision/checks_test.go: TestCheck34NoRollbackTarget"},
	35: {"internal/reconcile/remedies_test.go: TestCheck35RetriedInstall"},
	36: {"internal/reconcile/checks_test.go: TestCheck36RenderError"},
	37: {"internal/reconcile/checks_test.go: TestCheck37ForceAndReset"},
	38: {"internal/reconcile/remedies_test.go: TestCheck38Tests"},
	39: {"internal/reconcile/checks_test.go: TestCheck39ServiceAccount"},
	40: {"internal/reconcile/checks_test.go: TestCheck40Kubeconfig", "internal/reconcile/connector_test.go: TestCheck40KubeconfigsThatAreRefused"},
	41: {"internal/reconcile/checks_test.go: TestCheck41CrossNamespace", "e2e/controller/sources_test.go: TestCheck41CrossNamespace"},
	42: {"internal/reconcile/checks_test.go: TestCheck42InSync", "e2e/controller/idle_test.go: TestCheck42InSyncCostsNothing"},
	43: {"e2e/controller/kills_test.go: TestCheck43KilledAtEveryWrite"},
	44: {"e2e/controller/leader_test.go: TestCheck44StaleLeader"},
	45: {"internal/reconcile/checks_test.go: TestCheck45Secrets", "e2e/controller/canary_test.go: TestCheck45Canary"},
	46: {"e2e/controller/waits_test.go: TestCheck46NewGenerationDuringAWait"},
	47: {"internal/reconcile/checks_test.go: TestCheck47HandOver"},
	48: {"e2e/controller/leader_test.go: TestCheck48RefusesBesideHelmController"},
}

// No check of the controller's has lost what shows it.
func TestEveryCheckOfTheControllerIsShown(t *testing.T) {
	for check := 30; check <= 48; check++ {
		if len(reconciled[check]) == 0 {
			t.Errorf("nothing shows check %d", check)
		}
		for _, shown := range reconciled[check] {
			file, name, _ := strings.Cut(shown, ": ")
			data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
			if err != nil {
				t.Error(err)
			}
			if !strings.Contains(string(data), "func "+name+"(t *testing.T)") {
				t.Errorf("check %d: %s has no %s", check, file, name)
			}
		}
	}
}
