//go:build cluster

package controller_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

var digests = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// A plan waits until the annotation names its digest; nothing is written before, and an
// approval of another plan is none.
func TestApproval(t *testing.T) {
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	r.start()
	r.release("web", "")
	r.ready("web", "1.0.0")
	r.kubectl("annotate", "hr", "web", "kubectl-release.dev/plan=require-approval")
	r.publish("app", "1.1.0", settings(""))
	waiting := func(hr *flux.HelmRelease) bool {
		c := flux.Condition(hr.Status.Conditions, "Approved")
		return c != nil && c.Reason == "ApprovalRequired" && strings.Contains(c.Message, "app@1.1.0")
	}
	hr := r.until("web", "waiting for its approval", waiting)
	message := flux.Condition(hr.Status.Conditions, "Ready").Message
	if !strings.Contains(message, "upgrade to revision 2 with chart app@1.1.0 (patch ConfigMap/web-settings)") {
		t.Error(message)
	}
	if got := r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.version}"); got != "1.0.0" || hr.Status.History[0].Version != 1 {
		t.Errorf("it did not wait: %s, %+v", got, hr.Status.History)
	}
	r.kubectl("annotate", "hr", "web", "kubectl-release.dev/approve=sha256:"+strings.Repeat("0", 64))
	r.kubectl("annotate", "hr", "web", "--overwrite", "kubectl-release.dev/approve="+digests.FindString(message))
	hr = r.ready("web", "1.1.0")
	if flux.Condition(hr.Status.Conditions, "Approved") != nil || hr.Status.Failures != 0 {
		t.Errorf("%+v", hr.Status)
	}
}

// What a policy denies is not done, and the status says why.
func TestDenied(t *testing.T) {
	r := newRig(t)
	both := settings("")
	both["templates/more.yaml"] = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	r.publish("app", "1.0.0", both)
	r.start("--deny=data")
	r.release("web", "")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", settings(""))
	hr := r.until("web", "refused", func(hr *flux.HelmRelease) bool {
		c := flux.Condition(hr.Status.Conditions, "Ready")
		return c != nil && c.Reason == "PlanDenied" && strings.Contains(c.Message, "PersistentVolumeClaim")
	})
	if hr.Status.Failures != 0 || !flux.ConditionTrue(hr.Status.Conditions, "Released") {
		t.Errorf("it counts as a failure: %+v", hr.Status)
	}
	if got := r.kubectl("get", "pvc", "-o", "name"); got != "persistentvolumeclaim/data" {
		t.Error(got)
	}
}
