// Package retry says which errors of a request are transient, and retries requests that may
// be sent twice. Writes are retried by package apply, which counts, fences and reports
// every attempt.
package retry

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Bounds of a request that only reads: how often it is sent, and the first pause
// (each further one is three times as long, up to maxPause).
const (
	attempts   = 6
	firstPause = 100 * time.Millisecond
	maxPause   = 2 * time.Second
)

// MaxAfter is the longest Retry-After that requests which write nothing wait for.
const MaxAfter = 10 * time.Second

// Timeout is how long one attempt of any request may take, so a stalled proxy does
// not stall the run.
const Timeout = 60 * time.Second

// Stalls is how many attempts of a read may time out before it is given up: each takes a minute, in which
// nobody sees anything.
const Stalls = 3

// Read sends a request that changes nothing, and retries it while passes reports its
// error as transient; stalled is how many attempts have timed out. sleep waits, or
// returns why it did not. The error is that of the last attempt; send must bound the
// time of each attempt, as Attempt does.
func Read(ctx context.Context, sleep func(context.Context, time.Duration) error, passes func(err error, stalled int) bool, send func(context.Context) error) error {
	pause, stalled := firstPause, 0
	for attempt := 1; ; attempt++ {
		err := send(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			stalled++
		}
		if err == nil || ctx.Err() != nil || attempt == attempts || !passes(err, stalled) {
			return err
		}
		if sleep(ctx, Wait(err, pause, MaxAfter)) != nil {
			return err
		}
		pause = min(3*pause, maxPause)
	}
}

// Pause waits for d, or returns the cause of ctx if that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Attempt sends a request once, with Timeout as its deadline.
func Attempt(ctx context.Context, send func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return send(ctx)
}

// After returns the pause that an answer asks for with Retry-After, in seconds or until a date (RFC 9110,
// section 10.2.3); 0 if it asks for none. What a date means is reckoned from the answer's own Date
// (section 6.6.1): the clocks may differ.
func After(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(text)
	now, unknown := http.ParseTime(h.Get("Date"))
	if err != nil || unknown != nil {
		return 0
	}
	return max(0, until.Sub(now))
}

// Wait returns how long to wait before the next attempt: pause, or what the server asked
// for with Retry-After, up to atMost, if that is longer.
func Wait(err error, pause, atMost time.Duration) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return max(pause, min(time.Duration(seconds)*time.Second, atMost))
}

// Missing reports whether the API server says that something does not exist. It says so in a Status; any other 404
// comes from a proxy, or is about a path that the server does not know (client-go 0.36, rest/request.go,
// newUnstructuredResponseError).
func Missing(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// Passes reports whether an error is transient: the server is busy or restarting, something else answers in its
// place, the connection broke, or somebody else wrote at the same time.
func Passes(err error) bool {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return api.Status().Code >= 500 || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err) && plainConflict(err) ||
			apierrors.IsNotFound(err) && !Missing(err)
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// Unreached reports whether a request did not get through, for whatever reason: a name
// that does not resolve is worth another try if it did a moment ago.
func Unreached(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr)
}

// plainConflict reports whether a conflict is about the resourceVersion. One about the
// UID or another field manager is permanent. Only the message of the API server shows
// that a conflict is about the UID: "the UID in the precondition (…) does not match",
// "UID in precondition: …", "uid mismatch: …" (Kubernetes 1.36).
func plainConflict(err error) bool {
	text := strings.ToLower(err.Error())
	return !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) &&
		!strings.Contains(text, "uid in") && !strings.Contains(text, "uid mismatch")
}
