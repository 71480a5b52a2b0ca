package apply_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Discovery follows a new CRD a moment later, so the first misses of a kind are not reported; other
// errors, and misses that go on, are.
func TestFirstMissesOfAKindAreNotReported(t *testing.T) {
	miss := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "x.io", Kind: "Widget"}, SearchedVersions: []string{"v1"}}
	for _, c := range []struct{ misses, reported int }{{1, 0}, {3, 0}, {5, 2}} {
		w := installed(t)
		p := upgrade(t, w)
		w.Trouble = func(call int) clusterfake.Trouble {
			if call > 2 && call <= 2+c.misses {
				return clusterfake.Trouble{Before: miss}
			}
			return clusterfake.Trouble{}
		}
		env, reported := w.Env(), 0
		env.Observer = ear(func(e apply.Event) {
			if e.Type == apply.StepRetried {
				reported++
			}
		})
		if _, err := apply.Run(t.Context(), p, env); err != nil {
			t.Fatal(err)
		}
		if reported != c.reported {
			t.Errorf("%d misses: %d are reported, want %d", c.misses, reported, c.reported)
		}
	}
}

func dialed(err error) error { return &net.OpError{Op: "dial", Err: err} }

// proxied returns the error that client-go makes of a proxy's answer.
func proxied(code int) error {
	return apierrors.NewGenericServerResponse(code, "POST", schema.GroupResource{Resource: "configmaps"}, "", "no upstream", 0, true)
}

// While an API server or the way to it is away, writes wait for it longer than for one that answers with errors.
// One that takes a write and does not answer is asked less often: each attempt takes as long as it may. With a short
// timeout for requests it does not.
func TestWritesWaitForARestart(t *testing.T) {
	const firstWrite = 3 // after the pending record and a hook
	for _, c := range []struct {
		err      error
		took     time.Duration
		failures int
		fails    bool
	}{
		{dialed(syscall.ECONNREFUSED), 0, 9, false},
		{dialed(syscall.ECONNREFUSED), 0, 10, true},
		{dialed(syscall.ENETUNREACH), 0, 9, false},
		{dialed(syscall.ECONNRESET), 0, 9, false},
		{apierrors.NewServiceUnavailable("away"), 0, 9, false},
		{apierrors.NewServiceUnavailable("away"), 0, 10, true},
		{proxied(http.StatusGatewayTimeout), 0, 9, false},
		{context.DeadlineExceeded, time.Minute, 2, false},
		{context.DeadlineExceeded, time.Minute, 3, true},
		{context.DeadlineExceeded, 5 * time.Second, 9, false},
		{context.DeadlineExceeded, 5 * time.Second, 10, true},
		{apierrors.NewTimeoutError("request did not complete within requested timeout", 0), time.Minute, 2, false},
		{apierrors.NewTimeoutError("request did not complete within requested timeout", 0), time.Minute, 3, true},
		{apierrors.NewInternalError(errors.New("broken")), 0, 7, false},
		{apierrors.NewInternalError(errors.New("broken")), 0, 8, true},
	} {
		w := installed(t)
		p := upgrade(t, w)
		env, passed := w.Env(), atomic.Int64{}
		env.Now = func() time.Time { return time.Time{}.Add(time.Duration(passed.Load())) }
		w.Trouble = func(call int) clusterfake.Trouble {
			if call >= firstWrite && call < firstWrite+c.failures {
				passed.Add(int64(c.took))
				return clusterfake.Trouble{Before: c.err}
			}
			return clusterfake.Trouble{}
		}
		if _, err := apply.Run(t.Context(), p, env); (err != nil) != c.fails {
			t.Errorf("%d times %q after %v: %v", c.failures, c.err, c.took, err)
		}
	}
}

// Errors of each class have a limit of their own: after a restart that took some attempts, the API server may be busy,
// or not know yet what this run has written.
func TestErrorsOfEachClassAreCounted(t *testing.T) {
	away, busy := dialed(syscall.ECONNREFUSED), apierrors.NewTooManyRequests("busy", 1)
	for name, c := range map[string]struct {
		away, busy, lag int
		fails           bool
	}{
		"busy after a restart":   {9, 7, 0, false},
		"busy for too long":      {9, 8, 0, true},
		"behind after a restart": {9, 0, 5, false},
		"behind for too long":    {9, 0, 6, true},
		"all":                    {9, 7, 5, false},
	} {
		const pod = 3 // after the pending record and the class
		w := clusterfake.New()
		w.Trouble = func(call int) clusterfake.Trouble {
			switch {
			case call < pod || call >= pod+c.away+c.busy:
				return clusterfake.Trouble{}
			case call < pod+c.away:
				return clusterfake.Trouble{Before: away}
			}
			return clusterfake.Trouble{Before: busy}
		}
		env := w.Env()
		env.Cluster = &unaware{Cluster: w, refusals: c.lag, after: pod + c.away + c.busy - 1}
		if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, classAndPod)), env); (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
