package releasestore

import (
	"context"
	"io"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// spoiled answers the first reads with an error.
type spoiled struct {
	backend
	err   error
	left  int
	reads int
}

func (s *spoiled) spoil() error {
	s.reads++
	if s.left--; s.left >= 0 {
		return s.err
	}
	return nil
}

func (s *spoiled) get(ctx context.Context, at location) (object, error) {
	if err := s.spoil(); err != nil {
		return object{}, err
	}
	return s.backend.get(ctx, at)
}

func (s *spoiled) list(ctx context.Context, namespace string, o listOptions) ([]object, string, error) {
	if err := s.spoil(); err != nil {
		return nil, "", err
	}
	return s.backend.list(ctx, namespace, o)
}

// quickClock makes all waits end immediately.
type quickClock struct{ stoppedClock }

func (quickClock) After(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

// One bad answer to a read must not end a rollback; a refusal, and an API server
// that stays away or stalls, are reported after a bounded number of reads.
func TestReadsAreRepeated(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, c := range map[string]struct {
		err         error
		spoil, want int // how many reads fail, and how many are sent
		ok          bool
	}{
		"500 once":          {apierrors.NewInternalError(io.EOF), 1, 2, true},
		"429 twice":         {apierrors.NewTooManyRequests("busy", 1), 2, 3, true},
		"504 once":          {apierrors.NewTimeoutError("slow", 0), 1, 2, true},
		"a proxy's 404":     {errStray, 1, 2, true},
		"reset once":        {io.ErrUnexpectedEOF, 1, 2, true},
		"503 for good":      {apierrors.NewServiceUnavailable("away"), 99, 6, false},
		"stalls for good":   {context.DeadlineExceeded, 99, 3, false},
		"403 is an answer":  {apierrors.NewForbidden(secrets, "", io.EOF), 1, 1, false},
		"other errors, too": {io.ErrClosedPipe, 1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			for read, send := range map[string]func(*Store) error{
				"history": func(s *Store) error { _, err := s.History(t.Context(), testKey(), nil); return err },
				"get":     func(s *Store) error { _, err := s.Get(t.Context(), testKey(), 1); return err },
			} {
				for _, storage := range []string{testKey().Namespace, "elsewhere"} {
					memory := newMemoryBackend()
					in := func(b backend) *Store { return open(b, quickClock{}).In(storage, testKey().Namespace) }
					must(t, in(memory).Create(t.Context(), testRevision(1, release.StatusDeployed)))
					b := &spoiled{backend: memory, err: c.err, left: c.spoil}
					err := send(in(b))
					if (err == nil) != c.ok || b.reads != c.want {
						t.Errorf("%s in %s: error %v after %d reads, want ok: %t after %d", read, storage, err, b.reads, c.ok, c.want)
					}
				}
			}
		})
	}
}
