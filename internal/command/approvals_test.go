package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// heldRelease puts into the cluster a HelmRelease whose plan is held, as the condition says.
func (d *desk) heldRelease(namespace, name, since, status, reason, message string) {
	d.t.Helper()
	d.Put(objecttest.Parse(d.t, fmt.Sprintf(`{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {namespace: %s, name: %s}, spec: {interval: 1m}, status: {
		conditions: [{type: Approved, status: "%s", reason: %s, lastTransitionTime: "%s", message: %q}]}}`, namespace, name, status, reason, since, message)))
}

// Plans that wait for approval are listed with the commands that approve them, the oldest first,
// and nothing else is.
func TestApprovals(t *testing.T) {
	d := atDesk(t)
	if a := d.must("approvals -A"); a.out != "No plan is waiting for approval.\n" {
		t.Error(a.out)
	}
	if a := d.must("approvals -o json"); strings.TrimSpace(a.out) != "[]" {
		t.Error(a.out)
	}
	const digest = "sha256:0123"
	waits := func(namespace, name, what string) string {
		hr := &flux.HelmRelease{Metadata: flux.Metadata{Namespace: namespace, Name: name}}
		return flux.NewApproval(hr, what, digest).Message()
	}
	d.heldRelease("shop", "web", "2026-11-22T12:00:00Z", "False", "ApprovalRequired", waits("shop", "web", "upgrade to revision 2 (patch ConfigMap/web)"))
	d.heldRelease("other", "old", "2026-11-21T12:00:00Z", "False", "ApprovalRequired", waits("other", "old", "install"))
	d.heldRelease("shop", "done", "2026-11-22T12:00:00Z", "True", "PlanApproved", "it was approved")
	d.heldRelease("shop", "denied", "2026-11-22T12:00:00Z", "False", "PlanDenied", "upgrade is denied: data")
	d.heldRelease("shop", "forged", "2026-11-22T12:00:00Z", "False", "ApprovalRequired", waits("shop", "forged", "upgrade")+"; rm -rf .")
	d.heldRelease("other", "steers", "2026-11-23T12:00:00Z", "False", "ApprovalRequired", waits("other", "steers", "\x1b[31mupgrade"))
	const command = "kubectl annotate --overwrite -n shop helmrelease web kubectl-release.dev/approve=sha256:0123"
	lines := strings.Split(strings.TrimSpace(d.must("approvals -A").out), "\n")
	if len(lines) != 6 || strings.Contains(lines[4], "\x1b") || !strings.HasPrefix(lines[0], "other/old, since ") || !strings.HasPrefix(lines[2], "shop/web, since ") ||
		!strings.HasSuffix(lines[2], ": upgrade to revision 2 (patch ConfigMap/web)") || lines[3] != "  "+command {
		t.Errorf("%q", lines)
	}
	var listed []flux.Approval
	if err := json.Unmarshal([]byte(d.must("approvals -n shop -o json").out), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed) != 1 || listed[0].Name != "web" || listed[0].Digest != digest || listed[0].Command != command || listed[0].Since.IsZero() {
		t.Errorf("%+v", listed)
	}
}
