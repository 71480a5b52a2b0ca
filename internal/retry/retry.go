// Package retry says which errors of a request pass, and sends again what may be
// sent twice. Writes are repeated by package apply, which counts, fences and tells
// of every attempt.
package retry

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Bounds of a request that only reads: how often it is sent, the first pause
// (each further one is three times as long, up to maxPause).
const (
	attempts   = 6
	firstPause = 100 * time.Millisecond
	maxPause   = 2 * time.Second
)

// MaxAfter is the longest Retry-After that is heeded where nothing is written.
const MaxAfter = 10 * time.Second

// Timeout is how long one attempt of any request may take, so that a proxy that
// stalls does not stall the run.
const Timeout = 60 * time.Second

// Read sends a request that changes nothing, and again while passes says that its
// error may be gone the next time. sleep waits, or says why it did not. The error
// is that of the last attempt; send bounds each of them, as Attempt does.
func Read(ctx context.Context, sleep func(context.Context, time.Duration) error, passes func(error) bool, send func(context.Context) error) error {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := send(ctx)
		if err == nil || ctx.Err() != nil || attempt == attempts || !passes(err) {
			return err
		}
		if sleep(ctx, Wait(err, pause, MaxAfter)) != nil {
			return err
		}
		pause = min(3*pause, maxPause)
	}
}

// Pause waits for d, or gives the cause why ctx has ended before.
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

// Attempt sends a request once, and gives it Timeout.
func Attempt(ctx context.Context, send func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return send(ctx)
}

// Wait is the pause before the next attempt, or what the server asked for with
// Retry-After, up to atMost, where that is longer.
func Wait(err error, pause, atMost time.Duration) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return max(pause, min(time.Duration(seconds)*time.Second, atMost))
}

// Passes says whether an error may be gone the next time: the server is busy or
// restarting, the connection broke, or somebody else wrote at the same moment.
func Passes(err error) bool {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return api.Status().Code >= 500 || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err) && plainConflict(err)
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// Unreached says whether a request did not get through, for whatever reason: a name
// that does not resolve is worth another try where it did a moment ago.
func Unreached(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr)
}

// plainConflict is a conflict about the resourceVersion. One about the UID, or
// about another field manager, stays. The API server tells a conflict about the
// UID by its words only: "the UID in the precondition (…) does not match", "UID
// in precondition: …", "uid mismatch: …" (Kubernetes 1.36).
func plainConflict(err error) bool {
	text := strings.ToLower(err.Error())
	return !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) &&
		!strings.Contains(text, "uid in") && !strings.Contains(text, "uid mismatch")
}
