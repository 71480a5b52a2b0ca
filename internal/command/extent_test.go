package command

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A run that fails before anything is written says so, and one that has created only the namespace names
// no release that could be removed.
func TestAFailureSaysWhatWasWritten(t *testing.T) {
	d := atDesk(t)
	d.file("releases.yaml", "version: 1\nreleases:\n- {name: web, namespace: shop, chart: ./web}\n")
	d.must("plan many releases.yaml --out plans")
	d.client.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "sh.helm.release.v1.web.v1", errors.New("a webhook"))
	})
	for line, says := range map[string]string{
		"install web ./web":                   "a webhook\nnothing was written\n",
		"apply web ./web --yes":               "a webhook\nnothing was written\n",
		"upgrade --install web ./web -o json": `a webhook\nnothing was written"`,
		"apply many plans":                    "a webhook\nshop/web  nothing was written\n",
	} {
		if a := d.types(line); a.code != exitError || !strings.Contains(a.out+a.err, says) {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
	}
	delete(d.Objects, plan.NamespaceID("shop"))
	a := d.types("install web ./web --create-namespace")
	if !strings.Contains(a.err, "\npart of the plan was applied: 1 of 2 changes were made\n") || strings.Contains(a.err, "uninstall") {
		t.Errorf("with a namespace: exit code %d\n%s", a.code, a.err)
	}
}

// A release of a set that fails halfway says how far it came, as one that is applied by itself.
func TestAFailureInASetSaysWhatWasWritten(t *testing.T) {
	d := atDesk(t)
	d.file("releases.yaml", "version: 1\nreleases:\n- {name: web, namespace: shop, chart: ./web}\n")
	d.must("plan many releases.yaml --out plans")
	d.failsNext()
	const says = "\nshop/web  no object of the release was changed; revision 1 is recorded as failed\n"
	if a := d.types("apply many plans"); a.code != exitError || !strings.Contains(a.err, says) {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// What a run has done in part is named: it has changed something.
func TestAFailureNamesWhatWasDoneInPart(t *testing.T) {
	begun := []string{"Pod/a was deleted and not created again", "ConfigMap/b: /data was emptied, but the rest of the change failed"}
	for want, outcome := range map[string]apply.Outcome{
		"no\nno object of the release was changed":                                {Planned: 2},
		"no\npart of the plan was applied: 1 of 2 changes were made":              {Planned: 2, Made: 1},
		"no\npart of the plan was applied: 0 of 1 changes were made; " + begun[0]: {Planned: 1, Begun: begun[:1]},
		"no\npart of the plan was applied: 1 of 3 changes were made; " + strings.Join(begun, "; ") + "; revision 2 is recorded as failed": {
			Planned: 3, Made: 1, Begun: begun, Recorded: true, Revision: &release.Revision{Version: 2, Info: release.Info{Status: release.StatusFailed}},
		},
	} {
		if err := (&unfinishedError{cause: errors.New("no"), outcome: outcome}); err.Error() != want {
			t.Errorf("it says %q, want %q", err.Error(), want)
		}
	}
}

// A signal while the API server is away does not hide that the first record may have been stored.
func TestASignalDoesNotHideALostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := atDesk(t)
		ctx, stop := context.WithCancel(t.Context())
		attempts := 0
		d.client.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
			if attempts++; attempts == 2 {
				stop()
			}
			return true, nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		})
		a := d.typesIn(ctx, "install web ./web")
		if a.code != exitError || !strings.Contains(a.err, "connection refused") || !strings.Contains(a.err, "\nas far as is known, nothing was written\n") {
			t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
		}
	})
}
