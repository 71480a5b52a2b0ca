package source

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answering is a transport that answers the nth request, counted from 0.
type answering func(r *http.Request, n int) (*http.Response, error)

// asked returns what a client gets with a GET, how long that takes, and how often the transport was asked.
func (a answering) asked(t *testing.T) (body string, code int, took time.Duration, times int, err error) {
	began := time.Now()
	client := patientClient(roundTrip(func(r *http.Request) (*http.Response, error) {
		times++
		return a(r, times-1)
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://charts.example.com/web-1.0.0.tgz", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(r)
	if err == nil {
		var data []byte
		data, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		body, code = string(data), resp.StatusCode
	}
	return body, code, time.Since(began), times, err
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(code int, body io.Reader, header http.Header) *http.Response {
	return &http.Response{StatusCode: code, Body: io.NopCloser(body), Header: header}
}

// hanging is a body that never ends.
type hanging struct{ ctx context.Context }

func (h hanging) Read([]byte) (int, error) {
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

// The time that a request may take does not include the pauses that the server asks for.
func TestPausesDoNotCount(t *testing.T) {
	for busy, want := range map[int]int{2: http.StatusOK, 5: http.StatusOK, 6: http.StatusTooManyRequests} {
		synctest.Test(t, func(t *testing.T) {
			_, code, took, times, err := answering(func(_ *http.Request, n int) (*http.Response, error) {
				if n < busy {
					return response(http.StatusTooManyRequests, http.NoBody, http.Header{"Retry-After": {"60"}}), nil
				}
				return response(http.StatusOK, strings.NewReader("chart"), http.Header{}), nil
			}).asked(t)
			if pauses := min(busy, 5); err != nil || code != want || times != pauses+1 || took != time.Duration(pauses)*time.Minute {
				t.Errorf("busy %d times: %d after %s and %d requests, %v", busy, code, took, times, err)
			}
		})
	}
}

// Each attempt is bounded, with its body, and one that has taken too long is neither repeated nor resumed.
func TestEachAttemptIsBounded(t *testing.T) {
	etag := http.Header{"Etag": {`"a"`}}
	for name, hangs := range map[string]func(r *http.Request) (*http.Response, error){
		"before the answer": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"in the body": func(r *http.Request) (*http.Response, error) {
			return response(http.StatusOK, io.MultiReader(strings.NewReader("cha"), hanging{r.Context()}), etag), nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, _, took, times, err := answering(func(r *http.Request, n int) (*http.Response, error) {
				if n == 0 {
					return response(http.StatusServiceUnavailable, http.NoBody, http.Header{"Retry-After": {"60"}}), nil
				}
				return hangs(r)
			}).asked(t)
			if !errors.Is(err, context.DeadlineExceeded) || times != 2 || took != time.Minute+requestTimeout {
				t.Errorf("%s: after %s and %d requests, %v", name, took, times, err)
			}
		})
	}
}

// TestWaiting: a server of charts that does not answer is named.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		s := &Sources{Waiting: func(text string) { said = append(said, text) }}
		client := patientClient(s.heard(roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		}), "https://charts.example"))
		resp, err := client.Get("https://charts.example/index.yaml")
		if err == nil {
			resp.Body.Close()
		}
		synctest.Wait()
		if err == nil || len(said) < 3 || said[0] != "waiting for https://charts.example: no answer for 10s" {
			t.Errorf("error %v, said %q", err, said)
		}
	})
}
