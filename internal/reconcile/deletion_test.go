package reconcile_test

import (
	"context"
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

// A HelmRelease that is deleted before a dead process's first install is continued, or reported, leaves
// nothing behind, although its history is empty.
func TestDeletionBeforeTheFirstOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, records := range []string{"pending-install", "deployed"} {
			b := newBench(t, "")
			b.withHooks("post-install", "first")
			ctx, end := context.WithCancel(t.Context())
			b.ctx, b.creates = ctx, func(string) {
				if records == "pending-install" {
					end()
					synctest.Wait()
				}
			}
			if _, err := b.pass(); (err == nil) == (records == "pending-install") || b.stored() != records || b.text() != "one" {
				t.Fatalf("%v, records %s", err, b.stored())
			}
			end()
			b.ctx, b.creates = t.Context(), func(string) {}
			b.hr.Status = b.reports[0]
			b.hr.Metadata.DeletionTimestamp = &metav1.Time{}
			if out := b.mustPass(); !out.Released || b.text() != "" || b.stored() != "" {
				t.Errorf("%s: %+v, text %q, records %q", records, out, b.text(), b.stored())
			}
		}
	})
}
