package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

var widgets = manifest.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.example.com"}

// withCRD adds a CRD to the folder crds/ of the chart.
func (b *bench) withCRD() {
	b.chart.Files = append(b.chart.Files, &chart.File{Name: "crds/widgets.yaml", Data: []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true}]}
status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}
`)})
}

// An install that fails over a CRD leaves no record, as with helm-controller, and is an install again.
func TestAFailedCRDIsInstalledAgain(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "")
		b.r.Compatible = compatible
		b.withCRD()
		b.withHooks("pre-install", "first")
		b.cluster.Trouble = func(int) clusterfake.Trouble { return clusterfake.Trouble{Before: errors.New("no")} }
		if _, err := b.pass(); b.stored() != "" || b.condition("Ready") != "Ready False InstallFailed" {
			t.Errorf("compatible %t: records %s, %s, error %v", compatible, b.stored(), b.condition("Ready"), err)
		}
		b.cluster.Trouble = func(int) clusterfake.Trouble { return clusterfake.Trouble{} }
		var created []string
		b.creates = func(name string) { created = append(created, name) }
		b.mustPass()
		if b.stored() != "deployed" || !slices.Contains(created, "first") {
			t.Errorf("compatible %t: records %s, created %q, %s", compatible, b.stored(), created, b.condition("Ready"))
		}
	}
}

// A process that ends while it writes CRDs leaves nothing to be resumed, so the next one writes them.
func TestCRDsOfAnEndedPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		b.withCRD()
		ctx, end := context.WithCancel(t.Context())
		b.ctx = ctx
		b.cluster.Trouble = func(int) clusterfake.Trouble {
			b.cluster.Trouble = func(int) clusterfake.Trouble { return clusterfake.Trouble{} }
			end()
			synctest.Wait()
			return clusterfake.Trouble{Before: errors.New("the connection is gone")}
		}
		if _, err := b.pass(); err == nil || b.stored() != "" {
			t.Errorf("records %s, error %v", b.stored(), err)
		}
		b.ctx = t.Context()
		b.mustPass()
		if b.stored() != "deployed" || b.cluster.Objects[widgets] == nil {
			t.Errorf("records %s, objects %v", b.stored(), b.cluster.Objects)
		}
	})
}
