package command

import (
	"strings"
	"testing"
)

// CRDs are written after the pending record, so an install that fails over one of them is recorded, and
// undone with --atomic.
func TestAFailedCRDIsRecorded(t *testing.T) {
	d := atDesk(t)
	d.file("web/crds/widgets.yaml", `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true}]}
`)
	d.failsNext()
	a := d.types("install web ./web")
	if a.code != exitError || !strings.Contains(a.err, "; revision 1 is recorded as failed\n") {
		t.Fatalf("exit code %d\n%s", a.code, a.err)
	}
	for _, hint := range a.hints() {
		if strings.HasPrefix(hint, "uninstall ") {
			d.must(hint)
		}
	}
	if a := d.types("status web"); a.code != exitError {
		t.Errorf("it is still there:\n%s", a.out)
	}
	d.failsNext()
	if a := d.types("install web ./web --atomic"); a.code != exitRolledBack {
		t.Errorf("atomic: exit code %d\n%s", a.code, a.err)
	}
}
