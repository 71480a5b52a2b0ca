package reconcile_test

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// Nothing supersedes the uninstall of a HelmRelease that is deleted or moves: its worker is given back,
// but it does not report that it waits, which is when others ask whether to go on.
func TestNothingSupersedesAnUninstall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, moves := range []bool{false, true} {
			b := newBench(t, "")
			b.mustPass()
			if b.apply(base + "releaseName: other"); !moves {
				b.hr.Metadata.DeletionTimestamp = &metav1.Time{}
			}
			left, waits := 0, 0
			b.in = func(in *reconcile.Sources) { in.Hook, in.Waiting = func() { left++ }, func() { waits++ } }
			if b.mustPass(); left == 0 || waits != 0 || b.text() != "" {
				t.Errorf("moves %t: it leaves its worker %d times, waits %d times, text %q", moves, left, waits, b.text())
			}
		}
	})
}
