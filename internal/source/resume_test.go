package source

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// large returns content that no server compresses to less.
func large() []byte {
	out := make([]byte, 300_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

// A download is resumed where it broke off, with the credentials that it began with, and
// no more than five times.
func TestResume(t *testing.T) {
	content := large()
	for name, tc := range map[string]struct {
		breaks func(q *http.Request, n int) int
		ranges []string
		err    string
	}{
		"once":           {func(_ *http.Request, n int) int { return []int{100_000, 0}[min(n, 1)] }, []string{"", "bytes=100000-"}, ""},
		"at once":        {func(_ *http.Request, n int) int { return []int{1, 0}[min(n, 1)] }, []string{"", "bytes=1-"}, ""},
		"again":          {func(_ *http.Request, n int) int { return []int{100_000, 50_000, 0}[min(n, 2)] }, []string{"", "bytes=100000-", "bytes=150000-"}, ""},
		"time and again": {func(*http.Request, int) int { return 10_000 }, []string{"", "bytes=10000-", "bytes=20000-", "bytes=30000-", "bytes=40000-", "bytes=50000-"}, "unexpected EOF"},
	} {
		server, s := sourcetest.Serve(t, sourcetest.Options{Breaks: tc.breaks, User: "u", Password: "p"}), ours(t)
		server.Put("/web-1.0.0.tgz", content)
		s.Access = Access{Username: "u", Password: "p"}
		got, err := fetch(t, s, resolve.Reference{Kind: resolve.Remote, URL: server.URL + "/web-1.0.0.tgz"})
		if tc.err == "" && (err != nil || !bytes.Equal(got.Data, content)) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: %v, %d bytes", name, err, len(got.Data))
		}
		var ranges []string
		for _, q := range server.Requests() {
			ranges = append(ranges, q.Header.Get("Range"))
		}
		if !slices.Equal(ranges, tc.ranges) {
			t.Errorf("%s: asked for %q, want %q", name, ranges, tc.ranges)
		}
	}
}

// A download is never put together from two files: the ETag has to show that it is one.
func TestResumeOnlyTheSame(t *testing.T) {
	content := large()
	other := slices.Clone(content)
	other[len(other)-1] ^= 1
	for name, tc := range map[string]struct {
		etags [2]string
		// The answer to the second request: a status, and what is sent.
		status  int
		from    int
		content []byte
		err     string
	}{
		"the rest":             {[2]string{`"a"`, `"a"`}, http.StatusPartialContent, 1000, content, ""},
		"all of it":            {[2]string{`"a"`, `"a"`}, http.StatusOK, 0, content, ""},
		"another file":         {[2]string{`"a"`, `"b"`}, http.StatusOK, 0, other, "the file has changed"},
		"a part of another":    {[2]string{`"a"`, `"b"`}, http.StatusPartialContent, 1000, other, "the file has changed"},
		"another part":         {[2]string{`"a"`, `"a"`}, http.StatusPartialContent, 999, content, "206 partial content"},
		"too little":           {[2]string{`"a"`, `"a"`}, http.StatusOK, 0, content[:500], "EOF"},
		"a refusal":            {[2]string{`"a"`, `"a"`}, http.StatusForbidden, 0, nil, "403 forbidden"},
		"no ETag":              {[2]string{"", ""}, 0, 0, nil, "unexpected EOF"},
		"an ETag that is weak": {[2]string{`W/"a"`, `W/"a"`}, 0, 0, nil, "unexpected EOF"},
	} {
		server, s := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n == 0 {
				w.Header().Set("ETag", tc.etags[0])
				w.Header().Set("Content-Length", "300000")
				_, _ = w.Write(content[:1000])
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("ETag", tc.etags[1])
			if tc.status == http.StatusPartialContent {
				w.Header().Set("Content-Range", map[int]string{1000: "bytes 1000-299999/300000", 999: "bytes 999-299999/300000"}[tc.from])
			}
			w.WriteHeader(tc.status)
			_, _ = w.Write(tc.content[tc.from:])
			return true
		}}), ours(t)
		got, err := fetch(t, s, resolve.Reference{Kind: resolve.Remote, URL: server.URL + "/web-1.0.0.tgz"})
		if tc.err == "" && (err != nil || !bytes.Equal(got.Data, content)) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
		if asked := len(server.Requests()); (tc.status == 0) != (asked == 1) {
			t.Errorf("%s: asked %d times", name, asked)
		}
	}
}
