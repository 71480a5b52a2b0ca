package retry

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
)

// PageError says that a web page came where an API, an index or a file was asked for: one that a proxy, or a
// network that wants a login first, sends in the server's place with status 200.
type PageError struct{}

func (*PageError) Error() string {
	return "a web page came instead of its answer, such as that of a proxy that wants a login"
}

// NoPages returns a transport whose requests fail with a *PageError if the answer is a web page. Others stay as they
// are: a server may call an index HTML, so its beginning counts, too, where there is a body.
func NoPages(next http.RoundTripper) http.RoundTripper { return noPages{next} }

type noPages struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (n noPages) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := n.next.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	if kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err != nil || kind != "text/html" {
		return answer, nil
	}
	const preface = 512 // white space and a byte order mark
	body := bufio.NewReaderSize(answer.Body, preface)
	begins := []byte("<")
	if r.Method != http.MethodHead {
		begins, _ = body.Peek(preface) // an error comes again when the body is read
		begins = bytes.TrimLeft(begins, "\ufeff \t\r\n")
	}
	if bytes.HasPrefix(begins, []byte("<")) {
		_ = answer.Body.Close()
		return nil, &PageError{}
	}
	answer.Body = peeked{body, answer.Body}
	return answer, nil
}

// WrappedRoundTripper is that of heard.
func (n noPages) WrappedRoundTripper() http.RoundTripper { return n.next }

// peeked is a body of which the beginning has been looked at.
type peeked struct {
	io.Reader
	io.Closer
}
