package plan

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// What a reviewer should see first is last: what data and traffic depend on, images,
// what programs are passed, what they may use, the rest, and labels and descriptions last.
func TestSeverityOfChanges(t *testing.T) {
	step := Step{Object: manifest.ID{Group: "apps", Kind: "StatefulSet", Name: "db"}}
	last := -1
	for _, c := range []Change{
		{Path: "spec.volumeClaimTemplates[data].spec.resources.requests.storage", From: "8Gi", To: "16Gi"},
		{Path: "spec.serviceName", From: "a", To: "b"},
		{Path: "spec.template.spec.containers[old]", From: map[string]any{}},
		{Path: "spec.template.spec.containers[description].image", From: "db:1", To: "db:2"}, // a name is no field
		{Path: "spec.template.spec.containers[db].env[PASSWORD]", From: "x"},
		{Path: "spec.template.spec.containers[db].resources.limits.memory", To: "192Mi"},
		{Path: "spec.template.spec.dnsPolicy", From: "Default", To: "None", Cause: CauseDrift},
		{Path: "spec.template.spec.tolerations", From: "x"},
		{Path: "spec.template.spec.containers[db].livenessProbe.exec.command[0]", From: "sh", To: "bash"},
		{Path: "data[new.conf]", To: "x"},
		{Path: "spec.strategy.rollingUpdate.maxSurge", From: "25%", Cause: CauseServer},
		{Path: "spec.template.metadata.annotations.checksum/config", From: "a", To: "b"},
		{Path: "spec.revisionHistoryLimit", To: int64(10)},
	} {
		severity := step.Severity(c)
		if severity <= last {
			t.Errorf("%s is not less severe than what is before it: %d after %d", c.Path, severity, last)
		}
		last = severity
	}
}
