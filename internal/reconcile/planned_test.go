package reconcile_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

var plannedMessage = regexp.MustCompile(`^(.*): sha256:[0-9a-f]{64}$`)

// Before anything of a plan is written, the status says what it does, and its digest: for installs,
// upgrades, rollbacks, uninstalls, drift corrections and plans that are held. A pass that finds
// everything in sync leaves that as it is.
func TestPlansAreInTheStatus(t *testing.T) {
	b := newBench(t, "upgrade: {remediation: {retries: 1}}\ndriftDetection: {mode: enabled}")
	spec := base + "upgrade: {remediation: {retries: 1}}\ndriftDetection: {mode: enabled}\n"
	told := func(want ...string) {
		t.Helper()
		var got []string
		reports := b.reports
		if b.hr.Metadata.DeletionTimestamp == nil {
			reports = append(reports, b.hr.Status)
		}
		for _, s := range reports {
			c := flux.Condition(s.Conditions, "Planned")
			if c == nil {
				continue
			}
			m := plannedMessage.FindStringSubmatch(c.Message)
			if m == nil {
				t.Fatal(c.Message)
			}
			if text := c.Reason + ": " + m[1]; len(got) == 0 || got[len(got)-1] != text {
				got = append(got, text)
			}
		}
		b.reports = nil
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	written := map[string]string{}
	b.reported = func(s flux.HelmReleaseStatus) {
		c := flux.Condition(s.Conditions, "Planned")
		if c == nil {
			return
		}
		if _, told := written[c.Reason]; !told {
			written[c.Reason] = strings.TrimSpace(b.stored() + " " + b.text())
		}
	}
	b.mustPass()
	told("Install: install to revision 1 with chart app@1.0.0 (create ConfigMap/web)")
	if first := flux.Condition(b.hr.Status.Conditions, "Planned"); first.Status != metav1.ConditionTrue {
		t.Errorf("%+v", first)
	}
	b.mustPass()
	told("Install: install to revision 1 with chart app@1.0.0 (create ConfigMap/web)")

	b.apply(spec + "values: {text: bad}")
	b.mustPass()
	told("Upgrade: upgrade to revision 2 with chart app@1.0.0 (patch ConfigMap/web)",
		"Rollback: rollback to revision 1 as revision 3 (no object changes)")

	delete(b.cluster.Objects, configMap)
	b.apply(spec)
	b.mustPass()
	told("CorrectDrift: correction of drift from revision 3 (create ConfigMap/web)")

	b.holding(&reconcile.Held{Message: "upgrade waits"})
	b.apply(spec + "values: {text: two}")
	b.mustPass()
	told("Upgrade: upgrade to revision 4 with chart app@1.0.0 (patch ConfigMap/web)")

	b.hr.Metadata.DeletionTimestamp = &metav1.Time{}
	b.mustPass()
	told("Uninstall: uninstall of release shop/web (delete ConfigMap/web)")

	// What existed when each was reported.
	want := map[string]string{
		"Install": "", "Upgrade": "deployed one", "Rollback": "deployed failed one", "CorrectDrift": "superseded failed deployed", "Uninstall": "superseded failed deployed one",
	}
	if diff := cmp.Diff(want, written); diff != "" {
		t.Error(diff)
	}
}
