package apply

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Retries of one request: how often at most, how long the first pause is (each
// further one doubles, up to maxPause), and how long one attempt may take.
const (
	maxAttempts    = 8
	firstPause     = 100 * time.Millisecond
	maxPause       = 10 * time.Second
	attemptTimeout = 60 * time.Second
	// maxRetryAfter bounds what a server may ask for with Retry-After.
	maxRetryAfter = time.Minute
)

// try sends one write, and again while the error is one that passes. The write
// is not cut off when ctx ends: it is under way and is joined. again is true
// from the second attempt on.
func (r *run) try(ctx context.Context, s *plan.Step, write func(ctx context.Context, again bool) error) error {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		if err := r.fenced(); err != nil {
			return err
		}
		err := r.attempt(ctx, attempt > 1, write)
		if err == nil || attempt == maxAttempts || !passes(err) {
			return err
		}
		wait := pause
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			wait = max(wait, min(time.Duration(seconds)*time.Second, maxRetryAfter))
		}
		pause = min(2*pause, maxPause)
		event := Event{Type: StepRetried, Message: err.Error()}
		if s != nil {
			event.Step, event.Object = s.ID, s.Object
		}
		r.observe(event)
		if sleepErr := r.env.Sleep(ctx, wait); sleepErr != nil {
			return errors.Join(err, sleepErr)
		}
	}
}

// attempt is cut off when the lock is lost: a write that hangs on the way must
// not arrive behind those of the next holder.
func (r *run) attempt(ctx context.Context, again bool, write func(ctx context.Context, again bool) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	defer cancel()
	defer r.whenLost(cancel)()
	return write(ctx, again)
}

// passes says whether an error is worth another try: the server is busy or
// restarting, the connection broke, or somebody else wrote at the same moment.
func passes(err error) bool {
	switch {
	case apierrors.IsTooManyRequests(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err),
		apierrors.IsServiceUnavailable(err), apierrors.IsInternalError(err), apierrors.IsUnexpectedServerError(err):
		return true
	case apierrors.IsConflict(err):
		return plainConflict(err)
	case meta.IsNoMatchError(err):
		return true // a kind whose CRD was created a moment ago; the plan blocks on unknown ones
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNREFUSED):
		return true
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code >= 500
	}
	var netErr net.Error
	return errors.As(err, &netErr) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// plainConflict is a conflict about the resourceVersion. One about the UID, or
// about another field manager, stays. The API server tells a conflict about the
// UID by its words only: "the UID in the precondition (…) does not match", "UID
// in precondition: …", "uid mismatch: …" (Kubernetes 1.36).
func plainConflict(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		if d := status.Status().Details; d != nil {
			for _, c := range d.Causes {
				if c.Type == "FieldManagerConflict" {
					return false
				}
			}
		}
	}
	text := strings.ToLower(err.Error())
	return !strings.Contains(text, "uid in") && !strings.Contains(text, "uid mismatch")
}
