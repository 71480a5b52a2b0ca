package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// Drift is looked for once there is room for the manifest and the objects, and not if there never is.
func TestRoomToLookForDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "driftDetection: {mode: enabled}")
		b.mustPass()
		b.edit("by hand")
		full, asked := errors.New("no room"), 0
		b.in = func(in *reconcile.Sources) {
			in.Room = func(_ context.Context, manifest int) error {
				if asked++; manifest < len("apiVersion: v1") {
					t.Errorf("room is asked for a manifest of %d bytes", manifest)
				}
				return full
			}
		}
		if _, err := b.pass(); !errors.Is(err, full) || asked != 1 || b.text() != "by hand" {
			t.Errorf("%v, asked %d times, the text is %q", err, asked, b.text())
		}
		full = nil
		if b.mustPass(); b.text() != "one" {
			t.Errorf("the text is %q", b.text())
		}
	})
}
