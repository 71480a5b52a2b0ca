package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

const (
	// attempts is how often a request is sent at most.
	attempts = 4
	// longestWait is the longest Retry-After for which a request is sent again.
	longestWait    = time.Minute
	requestTimeout = 30 * time.Second
	maxAnswer      = 16 << 20
	maxPages       = 100
)

// client speaks JSON to one API.
type client struct {
	base   string
	header http.Header
	token  string
	sleep  func(context.Context, time.Duration) error
	// timeout limits one request, including the reading of its answer.
	timeout time.Duration
}

// StatusError is an answer whose status is not a success.
type StatusError struct {
	Method, Path string
	Code         int
	// Message is the API's own error message, without the token.
	Message string
	// after is the Retry-After of the answer, 0 if it has none.
	after time.Duration
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Code, strings.ToLower(http.StatusText(e.Code)))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// code returns the HTTP status of an error, 0 if it is not a StatusError.
func code(err error) int {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Code
	}
	return 0
}

// send sends a request, and retries it where that may help and cannot do harm. The answer is
// decoded into into, unless that is nil. next is the URL of the next page.
func (c *client) send(ctx context.Context, method, path string, body, into any) (next string, err error) {
	return c.sendRequest(ctx, request{method: method, path: path, body: body, into: into, harmless: method != http.MethodPost})
}

// query sends a GraphQL query: a POST that changes nothing.
func (c *client) query(ctx context.Context, path, text string, into any) error {
	_, err := c.sendRequest(ctx, request{method: http.MethodPost, path: path, body: map[string]string{"query": text}, into: into, harmless: true})
	return err
}

// request is a request to the API, with what its answer is decoded into.
type request struct {
	method, path string
	// body is sent as JSON; body and into may be nil.
	body, into any
	// harmless says that the request may reach the server twice.
	harmless bool
}

// sendRequest is send for any request.
func (c *client) sendRequest(ctx context.Context, r request) (next string, err error) {
	pause := time.Second
	for attempt := 1; ; attempt++ {
		next, err = c.once(ctx, r)
		wait, again := c.again(err, pause, r.harmless)
		if err == nil || !again || attempt == attempts || c.sleep(ctx, wait) != nil {
			return next, err
		}
		pause *= 2
	}
}

// again reports whether a request may be sent again, and after how long: a refused one when the
// server is rate limiting or at work on the same thing; after a server or network error, a harmless
// one.
func (c *client) again(err error, pause time.Duration, harmless bool) (time.Duration, bool) {
	status, answered := errors.AsType[*StatusError](err)
	_, page := errors.AsType[*retry.PageError](err)
	switch {
	case answered && status.Code == http.StatusConflict: // https://gitlab.com/gitlab-org/gitlab/-/merge_requests/208340
		return pause, true
	case answered && (status.Code == http.StatusTooManyRequests || status.Code == http.StatusForbidden):
		if status.after == 0 && status.Code == http.StatusTooManyRequests {
			return pause, true
		}
		return status.after, status.after > 0 && status.after <= longestWait
	case answered && status.Code < http.StatusInternalServerError, page, errors.Is(err, errElsewhere), errors.Is(err, context.Canceled):
		return 0, false
	}
	return pause, harmless
}

var errElsewhere = errors.New("it redirects to another server, to which the token is not sent")

// once sends a request a single time, to the API's own origin only.
func (c *client) once(ctx context.Context, r request) (next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	address := r.path
	if !strings.Contains(r.path, "://") {
		address = c.base + r.path
	}
	if !resolve.SameOrigin(c.base, address) {
		return "", fmt.Errorf("%s %s: %w", r.method, resolve.Public(address), errElsewhere)
	}
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return "", err
		}
		body = bytes.NewReader(data)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return "", err
	}
	sent.Header = c.header.Clone()
	sent.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{CheckRedirect: c.stays, Transport: retry.NoPages(http.DefaultTransport)}).Do(sent)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			failed.URL = resolve.Public(failed.URL)
		}
		return "", err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", r.method, sent.URL.Path, err)
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return "", &StatusError{Method: r.method, Path: sent.URL.Path, Code: answer.StatusCode, Message: c.message(data), after: retry.After(answer.Header)}
	}
	if r.into != nil {
		if err := json.Unmarshal(data, r.into); err != nil {
			return "", fmt.Errorf("%s %s: %w", r.method, sent.URL.Path, err)
		}
	}
	return nextPage(answer.Header), nil
}

// stays follows redirects only within the API's origin, and none that changes the method.
func (c *client) stays(r *http.Request, via []*http.Request) error {
	const most = 3
	if !resolve.SameOrigin(c.base, r.URL.String()) || len(via) > most || via[0].Method != r.Method {
		return errElsewhere
	}
	return nil
}

// message returns the error message of an API's answer, without the token.
func (c *client) message(data []byte) string {
	var said struct {
		Message any `json:"message"`
		// Error holds the message on Bitbucket.
		Error struct {
			Message any `json:"message"`
		} `json:"error"`
		Errors any `json:"errors"`
	}
	text := ""
	_ = json.Unmarshal(data, &said) // an answer of another form has no message
	said.Message = cmp.Or(said.Message, said.Error.Message)
	if said.Message != nil {
		if text = fmt.Sprint(said.Message); said.Errors != nil {
			text += fmt.Sprintf(" (%v)", said.Errors)
		}
	}
	const longest = 300
	text = strings.ReplaceAll(text, c.token, "***")
	return escape.Line(text[:min(len(text), longest)])
}

// nextPage returns the link to the next page (RFC 8288), <URL>; rel="next", or "".
func nextPage(h http.Header) string {
	for _, header := range h.Values("Link") {
		for link := range strings.SplitSeq(header, ",") {
			target, parameters, _ := strings.Cut(strings.TrimSpace(link), ";")
			if strings.Contains(parameters, `rel="next"`) {
				return strings.Trim(target, "<>")
			}
		}
	}
	return ""
}

// pages reads a paginated list.
func pages[T any](ctx context.Context, c *client, path string) ([]T, error) {
	var all []T
	for range maxPages {
		var page []T
		next, err := c.send(ctx, http.MethodGet, path, nil, &page)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); next == "" {
			break
		}
		path = next
	}
	return all, nil
}
