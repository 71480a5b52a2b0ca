package controller

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// An artifact that does not match its status is not used; a request is repeated if the
// server is busy, but not if it does not have the artifact.
func TestArtifacts(t *testing.T) {
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		switch {
		case r.URL.Path == "/gone":
			http.NotFound(w, r)
		case r.URL.Path == "/busy" && asked[r.URL.Path] == 1:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		default:
			_, _ = w.Write([]byte("chart"))
		}
	}))
	defer server.Close()
	taken := 0
	d := newDownloads(2, func(context.Context, *int64) (func(), error) {
		taken++
		return func() { taken-- }, nil
	})
	d.sleep = func(context.Context, time.Duration) error {
		if taken != 0 {
			t.Error("room is taken during the pause between two attempts")
		}
		return nil
	}
	sum, small := digest.FromString("chart").String(), int64(3)
	for _, c := range []struct {
		path, digest, want string
		size               *int64
		times              int
	}{
		{path: "/good", digest: sum, times: 1},
		{path: "/busy", digest: sum, times: 2},
		{path: "/gone", digest: sum, want: "gone", times: 1},
		{path: "/forged", digest: digest.FromString("other").String(), want: "its digest is " + sum, times: 1},
		{path: "/large", digest: sum, size: &small, want: "larger than 3 bytes", times: 3},
		{path: "/nodigest", want: "digest", times: 0},
	} {
		_, done, err := d.fetch(t.Context(), &flux.Artifact{URL: server.URL + c.path, Digest: c.digest, Size: c.size})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
		if err == nil {
			done()
		}
		if taken != 0 {
			t.Errorf("%s: room is still taken", c.path)
		}
		if asked[c.path] != c.times {
			t.Errorf("%s is asked for %d times, want %d", c.path, asked[c.path], c.times)
		}
	}
	if _, _, err := d.chart(t.Context(), &flux.Artifact{URL: server.URL + "/good", Digest: sum, Revision: "1.0.0"}); err == nil || taken != 0 {
		t.Errorf("what is no archive: error %v, room for %d is taken", err, taken)
	}
}
