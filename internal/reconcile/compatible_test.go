package reconcile_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// What a dry run refuses is not sent: there is no record, and nothing to remediate. If the
// reconciler is Compatible, as with helm-controller, it is sent, recorded as failed and rolled back.
func TestCompatibleRefusal(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "upgrade: {remediation: {retries: 1}}")
		b.r.Compatible = compatible
		b.mustPass()
		b.cluster.Refuse = map[manifest.ID]*plan.Refusal{configMap: {Reason: "Invalid", Message: "no"}}
		b.apply(base + "upgrade: {remediation: {retries: 1}}\nvalues: {text: bad}")
		_, err := b.pass()
		want, records := "Ready False UpgradeFailed", "deployed"
		if compatible {
			want, records = "Ready False RollbackSucceeded", "superseded failed deployed"
		}
		if got := b.condition("Ready"); got != want || b.stored() != records || compatible != (err == nil) {
			t.Errorf("compatible %t: %s, records %s, %v", compatible, got, b.stored(), err)
		}
	}
}

// A missing namespace is reported by the plan or, as with helm-controller, by the record of a
// failed install.
func TestCompatibleMissingNamespace(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "targetNamespace: missing\nstorageNamespace: shop")
		b.r.Compatible = compatible
		_, err := b.pass()
		if got := b.stored(); compatible && (got != "failed" || err != nil) || !compatible && (got != "" || err == nil) {
			t.Errorf("compatible %t: records %q, %v", compatible, got, err)
		}
	}
}

// A failed revision stays failed when a later one is deployed; if Compatible, as in Helm, an
// upgrade that repeats it supersedes it.
func TestCompatibleSuperseded(t *testing.T) {
	for compatible, want := range map[bool]string{false: "failed deployed", true: "superseded deployed"} {
		b := newBench(t, "values: {text: bad}\ninstall: {remediation: {retries: 0}}")
		b.r.Compatible = compatible
		b.mustPass()
		b.apply(base)
		if b.mustPass(); b.stored() != want {
			t.Errorf("compatible %t: records %q", compatible, b.stored())
		}
	}
}

// When a release moves to another namespace, the old objects are deleted or, as with
// helm-controller, left behind. What already exists under their names is not deleted in either case.
func TestCompatibleMove(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "")
		b.r.Compatible = compatible
		b.mustPass()
		moved := configMap
		moved.Namespace = "other"
		foreign := b.cluster.Put(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "other"}, "data": map[string]any{"own": "1"},
		}})
		b.apply(base + "targetNamespace: other\nreleaseName: web")
		for range 2 {
			b.mustPass()
		}
		if o := b.cluster.Objects[moved]; o == nil || o.GetUID() != foreign.GetUID() {
			t.Errorf("compatible %t: %v", compatible, o)
		}
		if left := b.text() != ""; left != compatible || b.condition("Ready") != "Ready True InstallSucceeded" {
			t.Errorf("compatible %t: left behind %t, %s", compatible, left, b.condition("Ready"))
		}
	}
}

// The status of a Compatible reconciler has no condition of our own.
func TestCompatibleConditions(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "")
		b.r.Compatible = compatible
		if b.mustPass(); (flux.Condition(b.hr.Status.Conditions, "Planned") == nil) != compatible {
			t.Errorf("compatible %t: %+v", compatible, b.hr.Status.Conditions)
		}
	}
}
