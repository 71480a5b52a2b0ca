package apply

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Limits for retries of one request: the number of attempts that end with an error of one class, and of those
// that stall, the first pause of a class (each further one doubles, up to maxPause), and the longest Retry-After
// that is honoured.
const (
	maxAttempts   = 8
	maxStalls     = 3  // as for reads: each takes up to a minute
	maxAway       = 10 // half a minute, within which the lock expires, so that writes wait until it can be renewed
	firstPause    = 100 * time.Millisecond
	maxPause      = 10 * time.Second
	maxRetryAfter = time.Minute
)

// shortStall is how long an attempt may stall without being counted among maxStalls: with a --request-timeout of a few
// seconds it costs no more than one whose connection fails.
const shortStall = retry.Timeout / 2

// expectedMisses is how often a kind may be missing from discovery before that is reported: discovery
// follows a CRD that is established a moment later, so the first objects of a new kind often miss it.
const expectedMisses = 3

// lagAttempts is how often an object may be refused because the API server lags behind what this run has just
// written. It learns of that from a watch, usually within milliseconds; the pauses between so many attempts
// take 3 seconds.
const lagAttempts = 6

// try sends one write, and retries it while the error is transient. When ctx ends, a write under
// way is not cancelled but awaited. again is true from the second attempt on.
func (r *run) try(ctx context.Context, s *plan.Step, write func(ctx context.Context, again bool) error) error {
	failed, stalled := map[class]int{}, 0
	var last error
	for attempt := 1; ; attempt++ {
		var lost error // the lock may be lost while the write waits for its turn
		sent, began := false, time.Time{}
		err := r.writes.Do(ctx, func(ctx context.Context) (err error) {
			err, lost = r.whileHeld(ctx, func(ctx context.Context) error {
				sent, began = true, r.env.Now()
				return write(ctx, attempt > 1)
			})
			return err
		})
		switch {
		case err == nil || lost != nil:
			return err
		case !sent: // ctx has ended; what the last attempt did may not be known
			return errors.Join(last, err)
		}
		last = err
		if stalls(err) && r.env.Now().Sub(began) > shortStall {
			stalled++
		}
		refusals := failed[lag] + 1
		lags := r.outdated(s, refusals, err) || r.unnoticed(s, refusals, err)
		c := classOf(err, lags)
		failed[c]++
		if failed[c] >= limits[c] || stalled >= maxStalls || !lags && !Passes(err) {
			return err
		}
		wait := retry.Wait(err, min(firstPause<<(failed[c]-1), maxPause), maxRetryAfter)
		if !lags && (attempt > expectedMisses || !meta.IsNoMatchError(err)) {
			event := Event{Type: StepRetried}
			if s != nil {
				event = stepEvent(StepRetried, "", s)
			}
			event.Message = err.Error()
			r.observe(event)
		}
		if sleepErr := r.env.Sleep(ctx, wait); sleepErr != nil {
			return errors.Join(err, sleepErr)
		}
	}
}

// class is a kind of error of which the attempts are counted by themselves: after an outage, a server may still
// be busy, or lag behind.
type class int

const (
	transient class = iota
	unreached
	lag
)

var limits = map[class]int{transient: maxAttempts, unreached: maxAway, lag: maxAttempts}

func classOf(err error, lags bool) class {
	switch {
	case lags:
		return lag
	case away(err):
		return unreached
	}
	return transient
}

// stalls reports whether a request has had no answer in time, or the API server has given up on it. That is not
// its own 504 if a proxy says so: the API server may only be restarting.
func stalls(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) ||
		apierrors.IsTimeout(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// away reports whether a request has not reached the API server, as while that restarts, or while a network is down.
func away(err error) bool {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		code := api.Status().Code
		return code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout
	}
	return retry.Passes(err) || retry.Unreached(err)
}

// unnoticed reports whether a step's object may have been refused only because the API server has not noticed
// yet what this run has written before it, such as its PriorityClass (Kubernetes 1.36.3,
// plugin/pkg/admission/priority/admission.go, admitPod), or its controllers have not, as with a quota: then it is
// sent again. So is a Service whose node port or IP address has not been freed: one that waits for finalizers is gone
// before that (k8s.io/apiserver/pkg/registry/generic/registry/store.go, deleteWithoutFinalizers, and
// pkg/registry/core/service/storage/storage.go, afterDelete). refusals counts those for lag, with this one.
func (r *run) unnoticed(s *plan.Step, refusals int, err error) bool {
	switch {
	case s == nil || refusals >= lagAttempts:
		return false
	case apierrors.IsInvalid(err):
		return r.serviceGone.Load() && strings.Contains(err.Error(), "already allocated")
	case !apierrors.IsForbidden(err):
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.uids {
		if s.Heeds(id) {
			return true
		}
	}
	return false
}

// Passes reports whether a write that failed with err is worth a retry.
func Passes(err error) bool {
	return retry.Passes(err) || retry.Unreached(err) || errors.Is(err, errExpired) ||
		meta.IsNoMatchError(err) || apierrors.IsUnexpectedServerError(err) // a kind whose CRD was created a moment ago; the plan blocks on unknown ones
}
