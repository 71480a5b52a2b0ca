package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxResumptions is how often one download is resumed.
const maxResumptions = 5

// resuming resumes responses that break off, with range requests for the rest (RFC 9110, 14). It
// does so only if a strong ETag says that both are parts of the same content: a chart must not be
// pieced together from two versions.
type resuming struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *resuming) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("ETag"), `"`) {
		return resp, err
	}
	resp.Body = &resumedBody{body: resp.Body, request: r, next: t.next, etag: resp.Header.Get("ETag"), whole: resp.Uncompressed, left: maxResumptions}
	return resp, nil
}

// resumedBody is a response body that may come from several responses.
type resumedBody struct {
	body    io.ReadCloser
	request *http.Request
	next    http.RoundTripper
	etag    string
	// whole is set if the server compressed the body: ranges would count compressed bytes, so the
	// whole body is requested again.
	whole bool
	// read is the number of bytes read so far, left how many resumptions remain.
	read int64
	left int
}

// Read implements io.Reader.
func (b *resumedBody) Read(p []byte) (int, error) {
	for {
		n, err := b.body.Read(p)
		b.read += int64(n)
		switch {
		case err == nil || errors.Is(err, io.EOF) || b.left == 0 || b.request.Context().Err() != nil || errors.Is(err, context.DeadlineExceeded):
			return n, err
		case n > 0:
			return n, nil // the next read returns the error again
		}
		b.left--
		if failed := b.resume(); failed != nil {
			b.left = 0
			// Only the first error is wrapped: the other one may be io.EOF, which means success.
			return 0, fmt.Errorf("it broke off after %d bytes: %w; the rest: %s", b.read, err, failed.Error())
		}
	}
}

// Close implements io.Closer.
func (b *resumedBody) Close() error { return b.body.Close() }

// resume requests the rest.
func (b *resumedBody) resume() error {
	r := b.request.Clone(b.request.Context())
	if !b.whole {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", b.read))
		r.Header.Set("If-Range", b.etag)
	}
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return err
	}
	partial := resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", b.read))
	switch {
	case !partial && resp.StatusCode != http.StatusOK:
		err = fmt.Errorf("%d %s", resp.StatusCode, strings.ToLower(http.StatusText(resp.StatusCode)))
	case resp.Header.Get("ETag") != b.etag:
		err = errors.New("the file has changed since")
	case !partial:
		_, err = io.CopyN(io.Discard, resp.Body, b.read)
	}
	if err != nil {
		_ = resp.Body.Close()
		return err
	}
	_ = b.body.Close()
	b.body = resp.Body
	return nil
}
