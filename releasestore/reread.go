package releasestore

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Bounds of a read of records: how often it is sent, the first pause (each further
// one is three times as long, up to longReadPause), the longest Retry-After that is
// heeded, and how long one attempt may take.
const (
	readAttempts  = 6
	readPause     = 100 * time.Millisecond
	longReadPause = 2 * time.Second
	maxReadPause  = 10 * time.Second
	readTimeout   = 60 * time.Second
)

// rereading is a backend whose reads are sent again while the error is one that
// passes: a rollback must not end because its history could not be read at once.
// Writes are sent once; package apply repeats them.
type rereading struct {
	backend
	clock Clock
}

func (b rereading) get(ctx context.Context, at location) (found object, err error) {
	err = reread(ctx, b.clock, func(ctx context.Context) error {
		found, err = b.backend.get(ctx, at)
		return err
	})
	return found, err
}

func (b rereading) list(ctx context.Context, namespace string, o metav1.ListOptions) (found []object, next string, err error) {
	err = reread(ctx, b.clock, func(ctx context.Context) error {
		found, next, err = b.backend.list(ctx, namespace, o)
		return err
	})
	return found, next, err
}

// reread does what may be done twice, such as reading, and again while its error
// passes.
func reread(ctx context.Context, clock Clock, read func(context.Context) error) error {
	pause := readPause
	for attempt := 1; ; attempt++ {
		err := readOnce(ctx, read)
		if err == nil || ctx.Err() != nil || attempt == readAttempts || !readPasses(err) {
			return err
		}
		wait := pause
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			wait = min(max(wait, time.Duration(seconds)*time.Second), maxReadPause)
		}
		select {
		case <-ctx.Done():
			return err
		case <-clock.After(wait):
		}
		pause = min(3*pause, longReadPause)
	}
}

func readOnce(ctx context.Context, read func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return read(ctx)
}

// readPasses says whether a read may well succeed the next time.
func readPasses(err error) bool {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return api.Status().Code >= 500 || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err)
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err)
}
