package forge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// TestPage: a page on which to log in, which a proxy sends in the forge's place, is no answer, and the request is not
// sent again.
func TestPage(t *testing.T) {
	sent := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sent++
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Sign in</html>")
	}))
	defer proxy.Close()
	c := &client{base: proxy.URL, header: http.Header{}, token: secret, timeout: requestTimeout, sleep: func(context.Context, time.Duration) error { return nil }}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		_, err := c.send(t.Context(), method, "/user", nil, nil)
		if _, page := errors.AsType[*retry.PageError](err); !page {
			t.Errorf("%s: error %v", method, err)
		}
	}
	if sent != 2 {
		t.Errorf("%d requests, want 2", sent)
	}
}
