package retry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestPasses(t *testing.T) {
	things := schema.GroupResource{Resource: "things"}
	conflict := func(text string) error { return apierrors.NewConflict(things, "x", errors.New(text)) }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"429":                     {apierrors.NewTooManyRequests("busy", 1), true},
		"500":                     {apierrors.NewInternalError(io.EOF), true},
		"503, wrapped":            {fmt.Errorf("read: %w", apierrors.NewServiceUnavailable("away")), true},
		"504":                     {apierrors.NewTimeoutError("slow", 0), true},
		"somebody else wrote":     {conflict("the object has been modified; please apply your changes to the latest version"), true},
		"another object":          {conflict("Precondition failed: UID in precondition: 1, UID in object meta: 2"), false},
		"an apply to another one": {conflict("uid mismatch: the provided object specified uid 1, and no existing object was found"), false},
		"another field manager": {apierrors.NewApplyConflict([]metav1.StatusCause{
			{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.replicas"},
		}, "Apply failed"), false},
		"403":                    {apierrors.NewForbidden(things, "x", io.EOF), false},
		"404":                    {apierrors.NewNotFound(things, "x"), false},
		"a proxy's 404":          {apierrors.NewGenericServerResponse(404, "GET", things, "x", "no upstream", 0, true), true},
		"no answer in time":      {context.DeadlineExceeded, true},
		"called off":             {context.Canceled, false},
		"closed half-way":        {io.ErrUnexpectedEOF, true},
		"a name without address": {&net.DNSError{Err: "no such host"}, false},
	} {
		if got := Passes(c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !Unreached(fmt.Errorf("get: %w", &net.DNSError{Err: "no such host"})) {
		t.Error("a name without address was reached")
	}
}

// A read pauses longer each time, or as long as the server asks, and ends with its
// last error.
func TestReadPauses(t *testing.T) {
	var pauses []time.Duration
	sleep := func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
	answers := []error{io.EOF, io.EOF, apierrors.NewTooManyRequests("busy", 5), apierrors.NewTooManyRequests("busy", 3600), io.EOF, io.ErrUnexpectedEOF}
	sent := 0
	passes := func(err error, _ int) bool { return Passes(err) }
	err := Read(t.Context(), sleep, passes, func(context.Context) error { sent++; return answers[sent-1] })
	if !errors.Is(err, io.ErrUnexpectedEOF) || sent != len(answers) {
		t.Errorf("%v after %d", err, sent)
	}
	want := fmt.Sprint([]time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 5 * time.Second, 10 * time.Second, 2 * time.Second})
	if fmt.Sprint(pauses) != want {
		t.Errorf("pauses %v, want %s", pauses, want)
	}
}

func TestReadEndsWhenCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sent := 0
	passes := func(err error, _ int) bool { return Passes(err) }
	err := Read(ctx, func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }, passes, func(context.Context) error { sent++; return io.EOF })
	if !errors.Is(err, io.EOF) || sent != 1 {
		t.Errorf("%v after %d", err, sent)
	}
}
