//go:build cluster

package controller_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/flux"
)

var digests = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// A plan waits until the annotation names its digest; nothing is written before, and an approval of
// another plan does not count.
func TestApproval(t *testing.T) {
	t.Parallel()
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
	digest := digests.FindString(message)
	if got := r.plannedDigest("web", "1.1.0", settings("")); got != digest {
		t.Errorf("plan many has digest %s, the controller %s", got, digest)
	}
	if c := flux.Condition(hr.Status.Conditions, "Planned"); c == nil || c.Reason != "Upgrade" || !strings.HasSuffix(c.Message, ": "+digest) {
		t.Errorf("%+v", c)
	}
	command := r.waiting()["web"]
	if !strings.HasSuffix(command, "kubectl-release.dev/approve="+digest) {
		t.Fatalf("approvals says %q", command)
	}
	r.kubectl(strings.Fields(command)[1:]...)
	hr = r.ready("web", "1.1.0")
	c := flux.Condition(hr.Status.Conditions, "Approved")
	if c == nil || c.Status != "True" || !strings.Contains(c.Message, digest) || hr.Status.Failures != 0 {
		t.Errorf("%+v", hr.Status)
	}
	if got := r.waiting(); len(got) != 0 {
		t.Errorf("these still wait: %v", got)
	}
}

// What was approved is not broken off for a plan that is not: the new one waits until the wait is over.
func TestAnApprovedWaitGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", slow("1s"))
	c := r.start()
	r.release("web", "")
	r.ready("web", "1.0.0")
	r.kubectl("annotate", "hr", "web", "kubectl-release.dev/plan=require-approval")
	r.publish("app", "1.1.0", slow("15s"))
	waiting := func(hr *flux.HelmRelease) bool {
		c := flux.Condition(hr.Status.Conditions, "Approved")
		return c != nil && c.Reason == "ApprovalRequired"
	}
	r.until("web", "waiting for its approval", waiting)
	r.kubectl(strings.Fields(r.waiting()["web"])[1:]...)
	r.underway("web", 2)
	r.release("web", "values: {note: other}")
	hr := r.until("web", "waiting again", waiting)
	if h := hr.Status.Snapshots(); h[0].Version != 2 || h[0].Status != "deployed" || strings.Contains(c.log.String(), "HealthCheckCanceled") {
		t.Errorf("what was approved was broken off: %+v", h)
	}
}

// plannedDigest returns the effect digest that plan many reports for a HelmRelease whose chart has the
// files.
func (r *rig) plannedDigest(name, version string, files map[string]string) string {
	r.Helper()
	dir := r.TempDir()
	declared, chart := filepath.Join(dir, "release.yaml"), filepath.Join(dir, "app.tgz")
	if err := errors.Join(os.WriteFile(declared, []byte(r.kubectl("get", "hr", name, "-o", "yaml")), 0o600), os.WriteFile(chart, archive(r.TB, "app", version, files), 0o600)); err != nil {
		r.Fatal(err)
	}
	out := r.program("plan", "many", declared, "--source", "HelmChart/"+r.namespace+"/app="+chart, "-o", "json")
	var planned struct {
		Releases []struct{ Plan struct{ EffectDigest string } }
	}
	if err := json.Unmarshal([]byte(out), &planned); err != nil || len(planned.Releases) != 1 {
		r.Fatalf("%v: %s", err, out)
	}
	return planned.Releases[0].Plan.EffectDigest
}

// waiting returns what the approvals command lists: the command that approves each HelmRelease, by its
// name.
func (r *rig) waiting() map[string]string {
	r.Helper()
	var listed []flux.Approval
	if err := json.Unmarshal([]byte(r.program("approvals", "-o", "json")), &listed); err != nil {
		r.Fatal(err)
	}
	out := map[string]string{}
	for _, a := range listed {
		out[a.Name] = a.Command
	}
	return out
}

// program runs kubectl-release in the rig's namespace.
func (r *rig) program(args ...string) string {
	r.Helper()
	got := cluster.Run(r.TB, clustertest.Program(r.TB), "", append(args, "-n", r.namespace)...)
	if got.ExitCode != 0 {
		r.Fatalf("kubectl-release %s: exit code %d\n%s%s", strings.Join(args, " "), got.ExitCode, got.Stdout, got.Stderr)
	}
	return got.Stdout
}

// What a policy denies is not done, and the status says why.
func TestDenied(t *testing.T) {
	t.Parallel()
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
