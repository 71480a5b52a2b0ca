package controller

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// server answers with a HelmRelease's resource version, and counts the requests.
type server struct {
	client.Reader
	version string
	asked   int
}

func (s *server) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.asked++
	into.SetResourceVersion(s.version)
	return nil
}

// A cached HelmRelease is acted on only if the API server has the same version; the server is
// asked once per pass.
func TestAnOldViewIsNotActedOn(t *testing.T) {
	s := &server{version: "7"}
	r := &reconciler{live: s}
	old := &view{object: &helmRelease{}, hr: &flux.HelmRelease{}}
	old.object.ResourceVersion = "6"
	if err := r.verify(t.Context(), old); !errors.Is(err, errBehind) || !old.behind {
		t.Errorf("%v, behind %v", err, old.behind)
	}
	same := &view{object: &helmRelease{}, hr: &flux.HelmRelease{}}
	same.object.ResourceVersion = "7"
	s.asked = 0
	for range 2 {
		if err := r.verify(t.Context(), same); err != nil || same.behind {
			t.Errorf("%v, behind %v", err, same.behind)
		}
	}
	if s.asked != 1 {
		t.Errorf("the API server is asked %d times", s.asked)
	}
}

// The cache is recent enough once it has what this process last wrote, or something newer.
func TestTheCacheHasToHaveOwnWrites(t *testing.T) {
	w := &writes{versions: map[client.ObjectKey]string{}}
	key := client.ObjectKey{Name: "web"}
	if !w.seen(key, "1") {
		t.Error("nothing was written")
	}
	for _, c := range []struct {
		wrote, cached string
		want          bool
	}{
		{"10", "9", false},
		{"10", "10", true},
		{"10", "11", true},
		{"opaque", "else", false},
		{"opaque", "opaque", true},
	} {
		w.note(key, c.wrote)
		if got := w.seen(key, c.cached); got != c.want {
			t.Errorf("written %s, cached %s: %v", c.wrote, c.cached, got)
		}
	}
}
